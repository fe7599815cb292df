#include "protocol/mcp/server.hpp"

#include "protocol/jsonrpc/message.hpp"

#include <algorithm>
#include <cctype>

namespace ahpd::mcp {

namespace {

constexpr int refused = -32001;
constexpr int wrong_method = -32000;
constexpr std::string_view event_stream = "text/event-stream";

answer refuse(unsigned status, int code, std::string why) {
  return {status, jsonrpc::error_frame(nullptr, {code, std::move(why), nullptr})};
}

answer fail(const json::value& id, int code, std::string why) {
  return {200, jsonrpc::error_frame(id, {code, std::move(why), nullptr})};
}

bool takes_events(std::string_view accept) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::search(accept.begin(), accept.end(), event_stream.begin(), event_stream.end(),
                     same) != accept.end();
}

answer initialized(const json::value& id, std::string_view server_version) {
  return {200, jsonrpc::result_frame(
                 id, {{"protocolVersion", revision},
                      {"capabilities", {{"tools", {{"listChanged", true}}}}},
                      {"serverInfo", {{"name", "ahpd"}, {"version", server_version}}}})};
}

request read_call(const jsonrpc::request& what) {
  const json::value params(what.params);
  const auto name = json::string_member(params, "name");
  if (!name)
    return fail(what.id, jsonrpc::invalid_params, "params.name must be the name of a tool");
  const auto* arguments = json::member(params, "arguments");
  if (arguments && !arguments->is_object())
    return fail(what.id, jsonrpc::invalid_params, "params.arguments must be an object");
  return call_tool{what.id, std::string(*name),
                   arguments ? arguments->get_object() : json::object{}};
}

request read_request(const jsonrpc::request& what, std::string_view server_version) {
  if (what.method == "initialize")
    return initialized(what.id, server_version);
  if (what.method == "ping")
    return answer{200, jsonrpc::result_frame(what.id, json::object{})};
  if (what.method == "tools/list")
    return list_tools{what.id};
  if (what.method == "tools/call")
    return read_call(what);
  return fail(what.id, jsonrpc::method_not_found, "This tools server serves no " + what.method);
}

request read_word(const jsonrpc::notification& what) {
  const auto* id = what.params.if_contains("requestId");
  if (what.method == "notifications/cancelled" && id)
    return cancel_request{*id};
  return answer{202, {}};
}

/// The handshake settles the revision, so its own field counts for nothing.
bool is_handshake(const jsonrpc::message& what) {
  const auto* asked = std::get_if<jsonrpc::request>(&what);
  return asked && asked->method == "initialize";
}

} // namespace

request read(const http_words& what, std::string_view server_version) {
  const bool listens = what.method == "GET" && takes_events(what.accept);
  if (!listens && what.method != "POST")
    return refuse(405, wrong_method,
                  "A tools server takes POST, and GET for " + std::string(event_stream));
  const auto message =
    listens ? jsonrpc::message(jsonrpc::notification{}) : jsonrpc::parse(what.body);
  if (const auto* bad = std::get_if<jsonrpc::malformed>(&message))
    return answer{400, jsonrpc::error_frame(bad->id, bad->why)};
  if (!what.protocol_version.empty() && what.protocol_version != revision && !is_handshake(message))
    return refuse(400, jsonrpc::invalid_request,
                  "MCP-Protocol-Version must be " + std::string(revision));
  if (listens)
    return listen{};
  if (const auto* asked = std::get_if<jsonrpc::request>(&message))
    return read_request(*asked, server_version);
  if (const auto* word = std::get_if<jsonrpc::notification>(&message))
    return read_word(*word);
  return answer{202, {}}; // an answer, and nothing was asked
}

answer no_server(std::string_view path) {
  return refuse(404, refused, "No tools server at " + std::string(path));
}

answer wrong_token() {
  return refuse(401, refused, "This tools server answers only its own session's token");
}

answer listed(const json::value& id, json::array tools) {
  return {200, jsonrpc::result_frame(id, {{"tools", std::move(tools)}})};
}

answer called(const json::value& id, const json::object& result) {
  return {200, jsonrpc::result_frame(id, result)};
}

answer no_tool(const json::value& id, std::string_view name) {
  return fail(id, jsonrpc::invalid_params, "No tool named " + std::string(name));
}

std::string list_changed_event() {
  return "event: message\ndata: " +
         jsonrpc::notification_frame("notifications/tools/list_changed", json::object{}) + "\n\n";
}

} // namespace ahpd::mcp
