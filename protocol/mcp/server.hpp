#pragma once

#include "protocol/json.hpp"

#include <string>
#include <string_view>
#include <variant>

/// The serving side of the Model Context Protocol over Streamable HTTP, as far as a server of tools
/// needs it: one JSON-RPC message a POST, and a GET that hears of changes. Nothing is kept between
/// two requests, so there are no session ids.
namespace ahpd::mcp {

/// The one revision that is spoken. Whatever a client offers, this is what it is answered.
inline constexpr std::string_view revision = "2025-06-18";

/// What goes back over HTTP: `body` is one JSON-RPC frame, or empty.
struct answer {
  unsigned status = 200;
  std::string body;
};

/// `tools/list`.
struct list_tools {
  json::value id;
};

/// `tools/call`.
struct call_tool {
  json::value id;
  std::string name;
  json::object arguments;
};

/// `notifications/cancelled`: the client gave up on a request. Answered 202.
struct cancel_request {
  json::value id; ///< of that request
};

/// A GET that takes an event stream: it wants to hear when the list changes.
struct listen {};

/// An HTTP request as it came; header fields that were absent are empty.
struct http_words {
  std::string_view method;
  std::string_view accept;           ///< field Accept
  std::string_view protocol_version; ///< field MCP-Protocol-Version
  std::string_view body;
};

/// What a request asks for. All that needs no tools is answered here: `initialize`, `ping`,
/// notifications (202), what is no message (400, -32700 or -32600), a revision that is not spoken
/// (400, -32600), another HTTP method (405, -32000), and methods that are not served (-32601).
using request = std::variant<answer, list_tools, call_tool, cancel_request, listen>;
request read(const http_words& what, std::string_view server_version);

/// Refusals that come before method and body are looked at: 404 and 401, both -32001.
answer no_server(std::string_view path);
answer wrong_token();

/// Of `tools/list`: `tools` are Tool objects.
answer listed(const json::value& id, json::array tools);

/// Of `tools/call`: a CallToolResult, or the refusal -32602 of a name that is not listed.
answer called(const json::value& id, const json::object& result);
answer no_tool(const json::value& id, std::string_view name);

/// `notifications/tools/list_changed` as one event of a stream.
std::string list_changed_event();

} // namespace ahpd::mcp
