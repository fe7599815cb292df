#include "tests/programs/acp_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace ahpd::tests {

namespace {

constexpr std::chrono::seconds patience{60};

/// The library is found from where the agent's file is, so it gets a file beside node_modules.
std::string linked(const std::string& folder, const std::string& sdk, const std::string& agent) {
  namespace fs = std::filesystem;
  fs::copy(fixture(agent), folder);
  fs::create_symlink(sdk + "/node_modules", folder + "/node_modules");
  return folder + "/" + agent;
}

std::map<std::string, std::string> with_state(std::map<std::string, std::string> env,
                                              const std::string& folder) {
  env["ACP_STATE"] = folder;
  return env;
}

peer_options patient(const std::string& client) {
  peer_options how;
  how.client_id = client;
  how.limit = patience;
  return how;
}

} // namespace

std::string fixture(const std::string& name) {
  return std::string(AHPD_SOURCE_DIR) + "/tests/programs/fixtures/" + name;
}

bool has_node() {
  static const bool there =
    run_program({{"/usr/bin/env", "node", "--version"}, {}, {}}).exit_code == 0;
  return there;
}

std::optional<std::string> npm_package(const std::string& name, const std::string& version) {
  const auto script = std::string(AHPD_SOURCE_DIR) + "/tests/support/npm-package";
  const auto ran = run_program({{script, name, version}, {}, {}}, std::chrono::seconds(240));
  if (ran.exit_code != 0)
    return std::nullopt;
  return ran.output.substr(0, ran.output.find('\n'));
}

std::optional<std::string> acp_sdk() {
  static const auto folder = npm_package("@agentclientprotocol/sdk", "2.4.0");
  return folder;
}

std::string node_record(const std::string& id, std::vector<std::string> args,
                        std::map<std::string, std::string> env, json::object more) {
  more["command"] = "node";
  more["args"] = json::value_from(args);
  more["env"] = json::value_from(env);
  return json::serialize(json::object{{"id", id},
                                      {"engine", "acp"},
                                      {"owner", "host"},
                                      {"name", "Test ACP"},
                                      {"config", std::move(more)}});
}

hub_options acp_options(const std::map<std::string, std::string>& records) {
  hub_options how;
  how.config = R"({"plugins": ["@ahpd/agent-acp"]})";
  for (const auto& [id, text] : records)
    how.files["agents/" + id + ".json"] = text;
  return how;
}

acp_hub::acp_hub(const std::string& sdk, std::map<std::string, std::string> env, json::object more,
                 const std::string& agent)
    : marked(acp_options(
        {{"acp", node_record("acp", {linked(state.path(), sdk, agent)},
                             with_state(std::move(env), state.path()), std::move(more))}})) {}

acp_peer::acp_peer(const hub_process& hub, const std::string& client)
    : ahp_peer(hub.url(), patient(client)) {
  initialize();
}

std::string answer_of(ahp_peer& peer, const std::string& chat, const std::string& id) {
  const auto state = peer.subscribe(chat);
  std::string out;
  for (const auto& turn : state.at("turns").as_array())
    if (turn.at("id") == json::value(id))
      for (const auto& part : turn.at("responseParts").as_array())
        if (json::string_member(part, "kind") == "markdown")
          out += json::string_member(part, "content").value_or("");
  return out;
}

std::string failure_of(const json::value& envelope) {
  REQUIRE_MESSAGE(type_of(envelope) == "chat/error", json::serialize(envelope));
  const auto& error = envelope.at("action").at("part").at("error");
  return std::string(error.at("errorType").as_string()) + ": " +
         std::string(error.at("message").as_string());
}

std::string say(ahp_peer& peer, const shell_session& in, const std::string& id,
                const std::string& prompt) {
  const auto ended = run_turn(peer, in.chat, id, prompt);
  REQUIRE_MESSAGE(type_of(ended) == "chat/turnComplete", json::serialize(ended));
  return answer_of(peer, in.chat, id);
}

std::string failure(ahp_peer& peer, const shell_session& in, const std::string& id,
                    const std::string& prompt) {
  return failure_of(run_turn(peer, in.chat, id, prompt));
}

} // namespace ahpd::tests
