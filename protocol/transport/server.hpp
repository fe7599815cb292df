#pragma once

#include "protocol/transport/http.hpp"
#include "protocol/transport/websocket.hpp"

#include <boost/asio/io_context.hpp>

#include <optional>
#include <variant>

namespace ahpd::transport {

/// Where a server listens.
struct endpoint {
  std::string host =
    "127.0.0.1"; ///< an address, or a name that is resolved once; ignored for a Unix socket
  std::uint16_t port = 0; ///< 0: the system chooses
  std::string unix_path;  ///< not empty: a Unix socket there, made 0600 and removed at the end
};

struct server_limits {
  std::size_t header_bytes = 16u << 10;
  std::size_t body_bytes = 1u << 20;     ///< larger: 413
  std::chrono::seconds request_time{15}; ///< to send a request's header and body: 408, then closed
  std::chrono::seconds keep_alive{60};
  std::size_t stream_bytes = 1u << 20; ///< of a `body_stream`, queued and not taken by the kernel
  std::size_t connections = 10'000;    ///< more: accepted and closed at once
  websocket_limits websocket;
};

/// What the owner makes of an upgrade request: a refusal, or a function that is given the open
/// socket before any message is read and answers with what it wants to hear.
using upgrade_answer =
  std::variant<http_response, std::function<websocket_events(std::shared_ptr<websocket>)>>;

/// Takes the body of a request piece by piece, for what is too large to hold. Called on the
/// connection's strand.
struct body_taker {
  /// One piece of up to 256 KiB; the next one is read once `more` was called, from any thread.
  /// Dropping `more` uncalled gives the rest up.
  std::function<void(std::string piece, std::function<void()> more)> take;
  /// The last call: whether the body is whole. False: the peer went, or an answer was given before.
  std::function<void(bool whole)> end;
};

/// Where the answer to one request goes: called exactly once, from any thread; dropping it uncalled
/// answers 500.
using reply_function = std::function<void(http_response)>;

/// What serves requests. Called on the io thread of the connection; must not block.
struct server_handlers {
  /// A plain request.
  std::function<void(http_request, reply_function reply)> on_request;
  /// A request whose header has come and whose body has not: gives what takes the body, which then
  /// has no bound but the taker's own, or nothing for a request that is to be held whole. `reply`
  /// is only used with a taker; an answer before the end of the body is the connection's last.
  std::function<std::optional<body_taker>(const http_request&, reply_function reply)> on_body;
  /// A WebSocket upgrade, before it is answered.
  std::function<upgrade_answer(const http_request&)> on_upgrade;
};

/// A listening socket and the connections it accepted. Dropping it closes it.
class server {
public:
  virtual ~server() = default;

  /// The port that was bound.
  virtual std::uint16_t port() const = 0;

  /// Stops accepting. Open connections go on.
  virtual void stop_accepting() = 0;

  /// Stops accepting and closes every connection; WebSockets with 1001 and `why`.
  virtual void close(std::string_view why) = 0;
};

/// Binds and starts to accept on `io`. On failure gives null and says why, naming the address, in
/// `error`. A second process on the port is "address already in use".
std::shared_ptr<server> listen(boost::asio::io_context& io, const endpoint& where,
                               server_handlers handlers, const server_limits& bounds,
                               std::string& error);

} // namespace ahpd::transport
