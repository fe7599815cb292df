#include "protocol/acp/handshake.hpp"

#include "protocol/ahp/find.hpp"

#include <algorithm>

namespace ahpd::acp {

namespace {

/// A capability is given as `true` or, for the ones that may grow, as an object.
bool has(const json::value* in, std::string_view key) {
  const auto* found = in ? json::member(*in, key) : nullptr;
  return found && (found->is_object() || (found->is_bool() && found->get_bool()));
}

} // namespace

json::object initialize_params(std::string_view version, const client_facts& can) {
  return {{"protocolVersion", stable_version},
          {"clientInfo", {{"name", "ahpd"}, {"version", version}}},
          {"clientCapabilities",
           {{"fs", {{"readTextFile", can.files}, {"writeTextFile", can.files}}},
            {"terminal", can.terminals},
            {"session", {{"configOptions", {{"boolean", json::object{}}}}}}}}};
}

json::object initialize_draft_params(std::string_view version) {
  return {{"protocolVersion", draft_version},
          {"info", {{"name", "ahpd"}, {"version", version}}},
          {"capabilities", json::object{}}};
}

bool wants_draft(const jsonrpc::error& why) {
  constexpr int unsupported_version = -32022;
  const auto* supported =
    why.code == unsupported_version ? json::member(why.data, "supported") : nullptr;
  const auto* list = supported ? supported->if_array() : nullptr;
  return list && std::find(list->begin(), list->end(), json::value(draft_version)) != list->end();
}

agent_facts read_initialize(const json::value& result, std::string& problem) {
  agent_facts out;
  const auto version = ahp::integer_member(result, "protocolVersion");
  if (!version) {
    problem = "its answer to initialize has no whole number protocolVersion";
    return out;
  }
  if (*version != stable_version && *version != draft_version) {
    problem =
      "it speaks version " + std::to_string(*version) + " of ACP, and this host speaks 1 and 2";
    return out;
  }
  out.version = *version;
  const bool draft = *version == draft_version;
  const auto* can = json::member(result, draft ? "capabilities" : "agentCapabilities");
  const auto* session =
    can ? json::member(*can, draft ? "session" : "sessionCapabilities") : nullptr;
  out.load_session = draft ? session != nullptr : has(can, "loadSession");
  out.close_session = draft || has(session, "close");
  const auto* holder = draft ? session : can;
  const auto* prompt =
    holder ? json::member(*holder, draft ? "prompt" : "promptCapabilities") : nullptr;
  out.image = has(prompt, "image");
  out.audio = has(prompt, "audio");
  out.embedded = has(prompt, "embeddedContext");
  const auto* servers = holder ? json::member(*holder, draft ? "mcp" : "mcpCapabilities") : nullptr;
  out.mcp_http = has(servers, "http");
  const auto* methods = json::member(result, "authMethods");
  if (methods && methods->is_array())
    for (const auto& method : methods->get_array())
      if (const auto id = json::string_member(method, draft ? "methodId" : "id"))
        out.auth_methods.emplace_back(*id);
  return out;
}

json::object http_server(std::string_view name, std::string_view url, std::string_view token) {
  json::object header{{"name", "authorization"}, {"value", "Bearer " + std::string(token)}};
  return {
    {"type", "http"}, {"name", name}, {"url", url}, {"headers", json::array{std::move(header)}}};
}

json::object session_params(std::string_view directory, json::array mcp_servers,
                            std::string_view session) {
  json::object out{{"cwd", directory}, {"mcpServers", std::move(mcp_servers)}};
  if (!session.empty())
    out["sessionId"] = session;
  return out;
}

} // namespace ahpd::acp
