#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace ahpd::transport {

/// A frame that many sockets may send: one buffer, never copied per subscriber.
using frame = std::shared_ptr<const std::string>;

/// Bounds and times of one WebSocket.
struct websocket_limits {
  std::size_t inbound_bytes = 16u << 20; ///< a longer message closes with 1009
  std::size_t outbound_bytes =
    32u << 20; ///< queued and not yet taken by the kernel; past it the peer is dropped
  std::chrono::seconds ping_every{20}; ///< 0: no pings
  std::chrono::seconds idle{
    60}; ///< nothing heard for so long, pongs included: the peer is gone; 0: no bound
  std::size_t credits = 16; ///< messages read ahead of `websocket::grant`
};

/// Why a socket ended.
struct close_reason {
  std::uint16_t code = 1006; ///< 1006: no closing handshake
  std::string text;
};

enum class message_kind : std::uint8_t { text, binary };

/// One open WebSocket, server or client side. Every member may be called from any thread and
/// returns at once; after the socket ended, calls do nothing.
class websocket {
public:
  virtual ~websocket() = default;

  /// Queues one frame; a text is valid UTF-8. Frames queued in one go leave in as few writes as
  /// possible. Past `websocket_limits::outbound_bytes` the socket ends with code 1013 and its queue
  /// is freed.
  virtual void send(frame payload, message_kind as = message_kind::text) = 0;

  /// Calls `due` once, on the socket's strand, when the kernel has taken all that was queued till
  /// now. Not called when the socket has ended by then.
  virtual void when_taken(std::function<void()> due) = 0;

  /// Lets the socket read `n` more messages.
  virtual void grant(std::size_t n) = 0;

  /// Sends what is queued, then starts the closing handshake, bounded to a few seconds.
  virtual void close(std::uint16_t code, std::string_view why) = 0;

  /// Bytes queued and not yet taken by the kernel.
  virtual std::size_t queued_bytes() const = 0;
};

/// What a socket tells its owner. Called on the socket's own strand, one at a time.
struct websocket_events {
  std::function<void(std::string)> on_text; ///< one complete text message, valid UTF-8
  /// One complete binary message. Empty: a binary message ends the socket with 1003.
  std::function<void(std::string)> on_binary;
  std::function<void(close_reason)>
    on_closed; ///< once, last; the socket holds no callback after it
};

} // namespace ahpd::transport
