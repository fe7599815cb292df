#pragma once

#include "runtimes/docker/engine.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ahpd::runtimes {

/// An answer of one JSON document a line, as it comes. Used by one coroutine on the engine's
/// strand; dropping it ends the request.
class line_stream {
public:
  /// Starts the request. The engine is `ready`.
  line_stream(docker_engine& from, const engine_request& what);
  ~line_stream();
  line_stream(const line_stream&) = delete;
  line_stream& operator=(const line_stream&) = delete;

  /// The lines that came since, at least one; nothing once the stream has ended.
  boost::asio::awaitable<std::optional<std::vector<std::string>>> next();

  /// After the end: the refusal that came in place of lines, if one did.
  const std::optional<transport::http_response>& refused() const;

  /// After the end: why the connection broke; empty when the engine ended it.
  const std::string& broken() const;

private:
  struct state;

  std::shared_ptr<state> state_;
  std::shared_ptr<transport::exchange> exchange_;
};

} // namespace ahpd::runtimes
