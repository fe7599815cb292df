#pragma once

#include "actors/sandbox/call.hpp"

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace ahpd::sandbox {

/// What serves one route: exactly one of the three, by what the route takes and gives.
struct handler {
  std::string_view operation;
  void (*serve)(const call_ptr&) = nullptr;
  /// For a body that is streamed: takes it.
  transport::body_taker (*take)(const call_ptr&) = nullptr;
  /// For a WebSocket. The call is never answered; a refusal is.
  transport::upgrade_answer (*open)(const call_ptr&) = nullptr;
};

/// Everything that is served. A part of the daemon has its own list, beside its messages.
const std::vector<handler>& handlers();

/// The way of every request: the key, the table of routes, the checks, then whoever answers. What
/// it gives is for the listening socket.
transport::server_handlers front(services_ptr host);

} // namespace ahpd::sandbox
