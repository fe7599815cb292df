#include "tests/programs/acp_support.hpp"
#include "tests/programs/computer_support.hpp"

#include <doctest/doctest.h>

using namespace ahpd;
using namespace ahpd::tests;

namespace {

/// A hub with both plugins, as a checkout's configuration names them, and the agent of the fixture.
hub_options machine_options(std::map<std::string, std::string> env = {}) {
  auto how = acp_options({{"acp", node_record("acp", {"/srv/acp.mjs"}, std::move(env),
                                              {{"machine", {{"env", {{"INSIDE", "yes"}}}}}})}});
  how.config = R"({"host": "127.0.0.1", "withoutConnectionToken": true, "plugins": [
    {"name": "./packages/computer/src/index.ts", "options": {"image": "node:22", "bodyMounts": true}},
    {"name": "./packages/agent-acp/src/index.ts"}]})";
  return how;
}

struct machine_hub {
  explicit machine_hub(hub_options how = machine_options())
      : marked(std::move(how)),
        left("ahpd.host=" + read_text_file(marked.hub.config_directory() + "/host-id")) {}

  static std::string read_text_file(const std::string& path) {
    auto text = read_file(path);
    return text.substr(0, text.find('\n'));
  }

  marked_hub marked;
  label_guard left;
};

/// The manifest of a checkout's trial, with the library beside the agent.
json::object manifest(const std::string& sdk) {
  return {
    {"mounts",
     {fixture("acp-agent.mjs") + ":/srv/acp.mjs:ro", sdk + "/node_modules:/srv/node_modules:ro"}},
    {"workdir", "/srv"}};
}

shell_session session_in(ahp_peer& peer, const std::string& machine) {
  return open_session(peer, "ahp-session:/" + unique_name("s"),
                      {{"provider", "acp"}, {"config", {{"computer", "computer://" + machine}}}});
}

} // namespace

TEST_CASE("an acp agent answers in a machine that a client made, and nothing of it is left") {
  if (!node_image())
    return skip("a Docker Engine with node:22");
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  machine_hub it;
  auto peer = acp_peer(it.marked.hub);
  const auto machine = make_machine(peer, "acp", manifest(*sdk));
  const auto in = session_in(peer, machine);
  CHECK(say(peer, in, "t1", "say hello") == "hello");
  CHECK(say(peer, in, "t2", "where").rfind("/srv ", 0) == 0);
  CHECK(say(peer, in, "t3", "env INSIDE") == "yes");
  CHECK(say(peer, in, "t4", "env HUB_UNDER_TEST") ==
        "undefined"); // nothing of the daemon's crosses
  CHECK(say(peer, in, "t5", "write /tmp/x/a.txt inside") == "written");
  CHECK(docker({"exec", it.left.containers().at(0), "cat", "/tmp/x/a.txt"}) == "inside");
  // what it edits is known by where it is inside, and only in the session's folder
  CHECK(say(peer, in, "edit", "write /srv/b.txt 1") == "written");
  const auto changes = peer.subscribe(in.uri + "/changeset/session").at("files");
  REQUIRE(changes.as_array().size() == 1);
  CHECK(changes.at(0).at("id") == json::value("file:///srv/b.txt"));
  CHECK(say(peer, in, "t6", "read /tmp/x/a.txt") == R"(read "inside")");
  CHECK(say(peer, in, "t6b", "run cat /tmp/x/a.txt; pwd") == R"([0,0,"inside/srv\n",false])");

  peer.dispatch(in.chat, turn_started("t7", "wait"));
  peer.wait_action("chat/delta", in.chat, [](const json::value& e) {
    return e.at("action").at("turnId") == json::value("t7");
  });
  peer.dispatch(in.chat, {{"type", "chat/turnCancelled"}, {"turnId", "t7"}, {"duration", 1}});
  wait_turn_end(peer, in.chat, "t7");
  CHECK(say(peer, in, "t8", "count") == "count 10");

  peer.request("resourceDelete", {{"uri", "computer://" + machine}});
  CHECK(it.left.containers().empty());
}

TEST_CASE("the folder of a session is where its acp agent works in a machine that mounts it") {
  if (!node_image())
    return skip("a Docker Engine with node:22");
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  machine_hub it;
  auto peer = acp_peer(it.marked.hub);
  auto body = manifest(*sdk);
  body["mounts"].as_array().push_back(json::value(it.marked.hub.folder() + ":/workspaces/app"));
  const auto in = session_in(peer, make_machine(peer, "map", body));
  CHECK(say(peer, in, "t1", "where").rfind("/workspaces/app ", 0) == 0);
}

TEST_CASE("a machine that stops under an acp agent ends the turn, and the session goes on after") {
  if (!node_image())
    return skip("a Docker Engine with node:22");
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  machine_hub it(machine_options({{"ACP_STATE", "/srv"}}));
  auto peer = acp_peer(it.marked.hub);
  const auto machine = make_machine(peer, "stop", manifest(*sdk));
  const auto in = session_in(peer, machine);
  peer.dispatch(in.chat, turn_started("t1", "wait"));
  peer.wait_action("chat/delta", in.chat);
  peer.request("resourceWrite", write_params("computer://" + machine + "/state", "stopped"));
  CHECK(failure_of(wait_turn_end(peer, in.chat, "t1")).find("stopped while it ran") !=
        std::string::npos);
  peer.request("resourceWrite", write_params("computer://" + machine + "/state", "running"));
  CHECK(say(peer, in, "t2", "count") == "count 2");
}

TEST_CASE(
  "after a hub was killed an acp agent in a machine is swept and goes on with its session") {
  if (!node_image())
    return skip("a Docker Engine with node:22");
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  machine_hub it;
  shell_session in;
  {
    auto peer = acp_peer(it.marked.hub);
    in = session_in(peer, make_machine(peer, "kill", manifest(*sdk)));
    CHECK(say(peer, in, "t1", "count") == "count 1");
  }
  it.marked.hub.kill();
  it.marked.hub.start();
  auto peer = acp_peer(it.marked.hub);
  peer.subscribe(in.chat);
  CHECK(say(peer, in, "t2", "count") == "count 2");
}

TEST_CASE("an acp session is refused where it cannot run, and never falls back to this host") {
  if (!engine_answers())
    return skip("a Docker Engine");
  machine_hub it;
  auto peer = acp_peer(it.marked.hub);
  const auto refusal = [&](const std::string& where) {
    return refused(
      peer, "createSession",
      {{"channel", "ahp-session:/x"}, {"provider", "acp"}, {"config", {{"computer", where}}}});
  };
  CHECK(refusal("box") == "-32602 box is not a computer URI; a session runs in computer://<id>");
  CHECK(refusal("computer://no-such-box") == "-32602 There is no computer called no-such-box");
}

TEST_CASE("a machine is kept to the agents it was prepared for") {
  if (!engine_answers())
    return skip("a Docker Engine");
  computer_hub it;
  const auto name = unique_name("kept");
  docker({"run", "-d", "--name", name, "--label", "ahpd.computer=1", "--label",
          "ahpd.host=" + it.host_id(), "--label", "ahpd.agents=codex,claude",
          "debian:bookworm-slim", "sleep", "600"});
  auto peer = it.peer();
  peer.initialize();
  CHECK(
    refused(peer, "createSession",
            {{"channel", "ahp-session:/x"},
             {"provider", "shell"},
             {"config", {{"computer", "computer://" + name}}}}) ==
    "-32009 computer://" + name +
      " was prepared for codex,claude, and this session runs shell; make a machine prepared for "
      "shell or run this session on the host");
  const auto rows = [&](json::object params) {
    params["property"] = "computer";
    return json::serialize(peer.request("sessionConfigCompletions", std::move(params)));
  };
  CHECK(rows({}).find(name) != std::string::npos);
  CHECK(rows({{"provider", "codex"}}).find(name) != std::string::npos);
  CHECK(rows({{"provider", "shell"}}).find(name) == std::string::npos);
}
