#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// HTTP and WebSocket behind plain interfaces. Nothing here shows Beast.
namespace ahpd::transport {

struct case_blind_less {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const;
};

/// Header fields; names compare without case, the first of repeated fields is kept.
using fields = std::map<std::string, std::string, case_blind_less>;

struct http_request {
  std::string method = "GET";
  std::string target = "/";
  fields headers;
  std::string body;
  std::string peer; ///< address of the other side, "127.0.0.1:5123"; empty on a Unix socket
};

/// The body of an answer that goes on until one side ends it. Any thread; after the body ended,
/// calls do nothing. Dropping it ends the body.
class body_stream {
public:
  virtual ~body_stream() = default;

  /// Queues bytes. A peer that leaves `server_limits::stream_bytes` of them lying is dropped.
  virtual void send(std::string bytes) = 0;
};

struct http_response {
  unsigned status = 200;
  fields headers;
  std::string body;
  /// For a server's answer whose body goes on: called once, on the connection's strand, with what
  /// writes the rest behind `body`. Gives what is to be called when the peer is gone.
  std::function<std::function<void()>(std::unique_ptr<body_stream>)> goes_on = {};
};

} // namespace ahpd::transport
