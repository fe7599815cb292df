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

struct http_response {
  unsigned status = 200;
  fields headers;
  std::string body;
};

} // namespace ahpd::transport
