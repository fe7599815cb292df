#include "actors/hub/progress.hpp"

#include "protocol/ahp/uris.hpp"
#include "protocol/jsonrpc/message.hpp"

#include <algorithm>

namespace ahpd::hub {

progress_sink sink_for(const std::shared_ptr<core::outbox>& box, const json::object& params) {
  const auto* token = params.if_contains("progressToken");
  if (!token || token->is_null())
    return {};
  return {box, std::make_shared<const json::value>(*token)};
}

std::function<void(runtimes::progress)> progress_to(const progress_sink& sink) {
  if (!sink.token || !sink.box)
    return {};
  return [sink, last = std::make_shared<std::uint64_t>(0)](const runtimes::progress& p) {
    *last = std::max(*last, p.current);
    json::object params{{"channel", ahp::root_uri},
                        {"progressToken", *sink.token},
                        {"progress", *last},
                        {"message", p.message}};
    if (p.total > 0)
      params["total"] = std::max(p.total, *last);
    sink.box->push(
      std::make_shared<const std::string>(jsonrpc::notification_frame("root/progress", params)));
  };
}

} // namespace ahpd::hub
