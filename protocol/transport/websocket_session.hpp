#pragma once

#include "protocol/transport/pipe.hpp"
#include "protocol/transport/websocket.hpp"

namespace ahpd::transport {

/// Answers an upgrade request with 101 and opens the socket. On the pipe's strand; bytes that came
/// after the request were given back by `unread`. `ticket` is held until the socket has ended.
std::shared_ptr<websocket>
accept_websocket(boost::asio::io_context& io, std::shared_ptr<pipe> over,
                 const http_request& upgrade, const websocket_limits& bounds,
                 std::function<websocket_events(std::shared_ptr<websocket>)> opened,
                 std::shared_ptr<void> ticket);

} // namespace ahpd::transport
