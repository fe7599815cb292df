#pragma once

#include "protocol/json.hpp"

#include <string>
#include <string_view>
#include <variant>

/// JSON-RPC 2.0 as the Agent Host Protocol uses it: one message per frame, no batches.
namespace ahpd::jsonrpc {

inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal_error = -32603;

/// What goes back instead of a result.
struct error {
  int code = internal_error;
  std::string message;
  json::value data; ///< null: the member is left out
};

struct request {
  json::value id; ///< a string or a number, echoed as it came
  std::string method;
  json::object params;
};

struct notification {
  std::string method;
  json::object params;
};

struct response {
  json::value id;
  std::variant<json::value, error> outcome;
};

/// A frame that is no message. Answer it with `error_frame(id, why)`. `id` is the request's where
/// it could be told; it is null for a malformed response, whose id counts in our space and not the
/// peer's.
struct malformed {
  json::value id;
  error why;
};

using message = std::variant<request, notification, response, malformed>;

/// Bounds of one inbound frame. Past either the frame is `malformed`.
struct limits {
  std::size_t bytes = 16u << 20;
  std::size_t depth = 64;
};

/// Longest string id and longest method name that a message may have.
inline constexpr std::size_t max_name_bytes = 256;

/// Reads one frame. Never throws. Text that is not UTF-8 or JSON gives -32700; an array (batch), a
/// missing "jsonrpc": "2.0", an id that is neither string nor number, params that are no object, a
/// response without exactly one of result and error, and frames past a limit give -32600. Each
/// sentence names the member and what was expected. Absent params are an empty object; a null error
/// beside a result, or a null result beside an error, is taken as absent.
message parse(std::string_view frame, const limits& bounds = {});

/// Whole frames: serialised straight into the string that goes out. Params and results are not
/// copied.
std::string request_frame(const json::value& id, std::string_view method,
                          const json::value& params);
std::string notification_frame(std::string_view method, const json::value& params);
std::string result_frame(const json::value& id, const json::value& result);
std::string error_frame(const json::value& id, const error& why);

/// Appends the text of `v` to `out` without an intermediate string.
void append(std::string& out, const json::value& v);

/// Appends `text` as a JSON string.
void append_quoted(std::string& out, std::string_view text);

} // namespace ahpd::jsonrpc
