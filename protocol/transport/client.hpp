#pragma once

#include "protocol/transport/http.hpp"
#include "protocol/transport/websocket.hpp"

#include <boost/asio/io_context.hpp>

#include <optional>

namespace ahpd::transport {

/// Where a client connects: TCP, TLS over TCP, or a Unix socket.
struct target {
  std::string host;
  std::uint16_t port = 80;
  bool tls = false;      ///< certificate checked against the system's roots and `host`
  std::string unix_path; ///< not empty: that socket instead; `host` is then only the Host field
  std::string tls_roots; ///< not empty: a PEM file of roots instead of the system's
  std::string tls_certificate; ///< not empty: a PEM file that proves who we are, with `tls_key`
  std::string tls_key;
};

/// How a request failed before an answer was there.
struct failure {
  std::string text;       ///< "connect to /var/run/docker.sock: no such file or directory"
  bool connected = false; ///< false: nothing was sent, so asking again is safe
};

/// The end of an exchange: an answer or a failure.
struct http_result {
  std::optional<http_response> response;
  failure failed;
};

struct request_options {
  std::chrono::milliseconds limit{30'000}; ///< whole exchange; 0: none, for streams
  std::size_t body_bytes =
    32u << 20; ///< a larger answer is a failure; for streams it bounds nothing
};

/// Stops an exchange or a stream: the socket is closed and no callback follows. Dropping it does
/// the same.
class exchange {
public:
  virtual ~exchange() = default;
  virtual void cancel() = 0;
};

/// A raw two-way byte stream, as the Engine API's attach and exec give after an upgrade. Dropping
/// it ends nothing: it tells what comes until the peer ends it or `close` is called.
class byte_stream {
public:
  virtual ~byte_stream() = default;
  virtual void write(std::string bytes) = 0; ///< any thread; queued
  virtual void close_write() = 0;            ///< half close, after what is queued
  virtual void pause() = 0; ///< read no further until `resume`; the peer is held back by the kernel
  virtual void resume() = 0;
  virtual void close() = 0; ///< ends it; no callback follows
  virtual std::size_t queued_bytes() const = 0;
};

/// What a streamed answer tells. `on_data` may be called many times; exactly one `on_end` is last.
struct stream_events {
  std::function<void(std::string_view)> on_data;
  std::function<void(std::optional<failure>)> on_end; ///< nothing: the peer ended it
};

/// Keeps a few idle connections to one target and reuses them; dropping it ends those, not what
/// runs. Every member may be called from any thread; callbacks come on a thread of `io`, never
/// inside the call.
class http_client {
public:
  virtual ~http_client() = default;

  /// One request, one whole answer. A connection of the pool that the peer had closed is tried
  /// again on a fresh one when nothing was answered.
  virtual std::shared_ptr<exchange> send(http_request what, request_options how,
                                         std::function<void(http_result)> done) = 0;

  /// A request whose answer's body is handed on as it comes (events, pull progress, an archive).
  /// When the status is not 2xx the whole body is read and given to `refused` instead.
  virtual std::shared_ptr<exchange> stream(http_request what, request_options how,
                                           std::function<void(http_response)> refused,
                                           stream_events events) = 0;

  /// A request that turns the connection into raw bytes (status 101, or 200 as old engines answer).
  /// `opened` gets the stream before any byte of it is read; exactly one of `opened` and `refused`
  /// is called. `Connection: Upgrade` and `Upgrade: tcp` are added when they are not among the
  /// headers. A failure to connect comes as status 0 with the sentence in the body.
  virtual std::shared_ptr<exchange>
  hijack(http_request what, std::function<stream_events(std::shared_ptr<byte_stream>)> opened,
         std::function<void(http_response)> refused) = 0;
};

std::shared_ptr<http_client> make_http_client(boost::asio::io_context& io, target where,
                                              std::size_t idle_connections = 4);

/// Dials a WebSocket. `opened` gets the socket and answers with what to hear; or `refused` gets the
/// status and body of a refusal, status 0 and a sentence when nothing answered.
void dial_websocket(boost::asio::io_context& io, target where, http_request upgrade,
                    websocket_limits bounds,
                    std::function<websocket_events(std::shared_ptr<websocket>)> opened,
                    std::function<void(http_response)> refused);

} // namespace ahpd::transport
