#include "protocol/acp/handshake.hpp"

#include "protocol/ahp/find.hpp"

namespace ahpd::acp {

namespace {

/// A capability is given as `true` or, for the ones that may grow, as an object.
bool has(const json::value* in, std::string_view key) {
  const auto* found = in ? json::member(*in, key) : nullptr;
  return found && (found->is_object() || (found->is_bool() && found->get_bool()));
}

} // namespace

json::object initialize_params(std::string_view version, const client_facts& can) {
  return {{"protocolVersion", protocol_version},
          {"clientInfo", {{"name", "ahpd"}, {"version", version}}},
          {"clientCapabilities",
           {{"fs", {{"readTextFile", can.files}, {"writeTextFile", can.files}}},
            {"terminal", can.terminals},
            {"session", {{"configOptions", {{"boolean", json::object{}}}}}}}}};
}

agent_facts read_initialize(const json::value& result, std::string& problem) {
  agent_facts out;
  const auto version = ahp::integer_member(result, "protocolVersion");
  if (!version) {
    problem = "its answer to initialize has no whole number protocolVersion";
    return out;
  }
  if (*version != protocol_version) {
    problem = "it speaks version " + std::to_string(*version) + " of ACP, and this host speaks " +
              std::to_string(protocol_version);
    return out;
  }
  const auto* can = json::member(result, "agentCapabilities");
  out.load_session = has(can, "loadSession");
  const auto* prompt = can ? json::member(*can, "promptCapabilities") : nullptr;
  out.image = has(prompt, "image");
  out.audio = has(prompt, "audio");
  out.embedded = has(prompt, "embeddedContext");
  out.close_session = has(can ? json::member(*can, "sessionCapabilities") : nullptr, "close");
  const auto* methods = json::member(result, "authMethods");
  if (methods && methods->is_array())
    for (const auto& method : methods->get_array())
      if (const auto id = json::string_member(method, "id"))
        out.auth_methods.emplace_back(*id);
  return out;
}

json::object session_params(std::string_view directory, std::string_view session) {
  json::object out{{"cwd", directory}, {"mcpServers", json::array{}}};
  if (!session.empty())
    out["sessionId"] = session;
  return out;
}

} // namespace ahpd::acp
