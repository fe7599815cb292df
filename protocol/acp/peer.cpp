#include "protocol/acp/peer.hpp"

#include "protocol/acp/lines.hpp"

#include <utility>

namespace ahpd::acp {

namespace {

constexpr std::size_t deepest = 128;

} // namespace

std::string peer::ask(std::string_view method, const json::value& params,
                      std::function<void(outcome)> done) {
  const auto id = ++last_id_;
  asked_.emplace(id, std::move(done));
  return jsonrpc::request_frame(id, method, params);
}

std::string peer::tell(std::string_view method, const json::value& params) {
  return jsonrpc::notification_frame(method, params);
}

peer::event peer::take(std::string_view line) {
  auto message = jsonrpc::parse(line, {longest_line, deepest});
  if (auto* request = std::get_if<jsonrpc::request>(&message))
    return take_request(*request);
  if (auto* note = std::get_if<jsonrpc::notification>(&message))
    return word{std::move(note->method), std::move(note->params)};
  if (auto* response = std::get_if<jsonrpc::response>(&message))
    return take_response(*response);
  auto& bad = std::get<jsonrpc::malformed>(message);
  fault out{bad.why.message, {}, bad.why.code == jsonrpc::parse_error};
  if (!bad.id.is_null())
    out.reply = jsonrpc::error_frame(bad.id, bad.why);
  return out;
}

peer::event peer::take_request(jsonrpc::request& what) {
  const auto id = json::serialize(what.id);
  const auto no = [&](std::string why) -> event {
    auto reply = jsonrpc::error_frame(what.id, {jsonrpc::invalid_request, why, nullptr});
    return fault{std::move(why), std::move(reply), false};
  };
  if (open_.count(id))
    return no("request " + id + " has not been answered yet, and its id is used again");
  if (open_.size() >= most_open)
    return no(std::to_string(most_open) + " requests wait already, which is the most");
  open_.insert(id);
  return call{std::move(what.id), std::move(what.method), std::move(what.params)};
}

peer::event peer::take_response(jsonrpc::response& what) {
  const auto found = what.id.is_int64() ? asked_.find(what.id.get_int64()) : asked_.end();
  if (found == asked_.end())
    return fault{
      "an answer came to " + json::serialize(what.id) + ", which is no open request", {}, false};
  const auto done = std::move(found->second);
  asked_.erase(found);
  if (auto* error = std::get_if<jsonrpc::error>(&what.outcome))
    done(std::move(*error));
  else
    done(std::move(std::get<json::value>(what.outcome)));
  return answered{};
}

std::string peer::answer(const json::value& id, const json::value& result) {
  return open_.erase(json::serialize(id)) ? jsonrpc::result_frame(id, result) : std::string();
}

std::string peer::refuse(const json::value& id, const jsonrpc::error& why) {
  return open_.erase(json::serialize(id)) ? jsonrpc::error_frame(id, why) : std::string();
}

} // namespace ahpd::acp
