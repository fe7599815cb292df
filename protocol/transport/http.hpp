#pragma once

#include <cstdint>
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

/// The body of an answer that goes on until its owner ends it. Any thread; after the body ended,
/// calls do nothing. Dropping it ends the body; the connection is then used again where the peer
/// speaks HTTP/1.1.
class body_stream {
public:
  virtual ~body_stream() = default;

  /// Queues bytes. A peer that leaves `server_limits::stream_bytes` of them lying is dropped.
  virtual void send(std::string bytes) = 0;

  /// Calls `due` once, on the connection's strand, when the kernel has taken all that was sent till
  /// now: an owner that waits for it before it sends more is never dropped for a slow peer. Not
  /// called when the body has ended by then.
  virtual void when_taken(std::function<void()> due) = 0;

  /// Breaks the connection off, so that the peer knows that the body is not whole.
  virtual void cut() = 0;
};

/// A body that goes from a file to the peer without passing through this program.
struct file_body {
  int descriptor = -1;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  /// Asked before every piece; false breaks the connection off, and so does a file that has become
  /// shorter. Empty: always true.
  std::function<bool()> unchanged;
  std::shared_ptr<void> held; ///< what keeps the descriptor open
};

struct http_response {
  unsigned status = 200;
  fields headers;
  std::string body;
  /// For a server's answer whose body goes on: called once, on the connection's strand, with what
  /// writes the rest behind `body`. Gives what is to be called when the peer is gone.
  std::function<std::function<void()>(std::unique_ptr<body_stream>)> goes_on = {};
  /// For a server's answer whose body is in a file: it takes the place of `body`.
  std::shared_ptr<const file_body> file = {};
};

} // namespace ahpd::transport
