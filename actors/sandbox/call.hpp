#pragma once

#include "actors/sandbox/services.hpp"
#include "protocol/aio/envelope.hpp"
#include "protocol/aio/routes.hpp"
#include "protocol/aio/trace_context.hpp"
#include "protocol/json.hpp"
#include "protocol/transport/server.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ahpd::sandbox {

/// One request on its way to whoever answers it. It may be answered from any thread, once; one that
/// is dropped without an answer is answered with 500. What is common to all answers is added here:
/// the request's id, CORS, the line in the log, the counters.
class call {
public:
  call(services_ptr host, transport::http_request request, transport::reply_function reply);
  ~call();
  call(const call&) = delete;
  call& operator=(const call&) = delete;

  const services_ptr host;
  const aio::route* route = nullptr; ///< null: nothing is served there
  aio::path_values path;
  json::object query; ///< checked by the route's table, defaults filled in
  json::object body;  ///< the same
  transport::http_request request;

  const std::string& id() const { return id_; }

  /// The texts of a checked member; "" when it is absent.
  std::string text(std::string_view name) const;

  void succeed(json::value data, std::string_view message = aio::fine);
  void fail(unsigned status, std::string_view message, json::value data = nullptr,
            json::value hint = nullptr);
  void answer(unsigned status, const json::object& whole);
  void send(transport::http_response what);

private:
  void log(unsigned status, const transport::http_response& what, metrics::duration took) const;

  transport::reply_function reply_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  const std::string id_;
  std::atomic<bool> answered_ = false;
};
using call_ptr = std::shared_ptr<call>;

/// A call for the actor that answers it. No answer.
struct serve {
  call_ptr what;
};

} // namespace ahpd::sandbox

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::sandbox::serve)
