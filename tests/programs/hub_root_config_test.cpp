// The configuration in the root state of the real hub: each client's own.

#include "tests/programs/hub_support.hpp"
#include "tests/programs/terminal_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace ahpd;
using namespace ahpd::tests;

namespace {

const std::string root = "ahp-root://";

hub_options with_sh() {
  hub_options how;
  how.env["SHELL"] = "/bin/sh";
  return how;
}

peer_options named(std::string client, std::string version = "1.0.0") {
  peer_options how;
  how.client_id = std::move(client);
  how.versions = {std::move(version)};
  return how;
}

json::object shell_change(json::value shell) {
  return {{"type", "root/configChanged"}, {"config", {{"defaultShell", std::move(shell)}}}};
}

json::value values_of(const json::value& root_state) {
  return root_state.at("config").at("values");
}

/// A copy of the system's shell, so that terminals can be told apart.
std::string own_shell(const hub_process& hub) {
  const auto path = hub.folder() + "/own-shell";
  std::filesystem::copy_file("/bin/sh", path);
  return path;
}

/// What a new terminal of the peer runs.
void check_runs(ahp_peer& peer, const std::string& client, const std::string& uri,
                const std::string& shell, json::object claim = {}) {
  if (claim.empty())
    claim = {{"kind", "client"}, {"clientId", client}};
  terminal_reader terminal(peer, uri);
  terminal.open(std::move(claim));
  terminal.type("echo \"is $0.\"\r");
  terminal.wait("is " + shell + ".");
}

} // namespace

TEST_CASE("a client's terminals start the shell that it set, and nobody else's do") {
  marked_hub marked(with_sh());
  auto& hub = marked.hub;
  const auto shell = own_shell(hub);
  ahp_peer one(hub.url(), named("one"));
  ahp_peer other(hub.url(), named("other"));
  const auto state = one.initialize({root}).at("snapshots").at(0).at("state");
  other.initialize({root});
  const auto& property = state.at("config").at("schema").at("properties").at("defaultShell");
  CHECK(property.at("type") == "string");
  CHECK(property.at("default") == "/bin/sh");
  CHECK(values_of(state) == json::object{});

  // At once: the terminal that is asked for behind the change has it.
  one.dispatch(root, shell_change(json::value(shell)));
  check_runs(one, "one", "ahp-terminal:/one", shell);
  const auto echoes = one.actions("root/configChanged", root);
  REQUIRE(echoes.size() == 1);
  CHECK(echoes[0].at("origin").at("clientId") == "one");
  CHECK_FALSE(echoes[0].as_object().contains("rejectionReason"));
  CHECK(values_of(one.subscribe(root)) == json::value{{"defaultShell", shell}});

  check_runs(other, "other", "ahp-terminal:/other", "/bin/sh");
  CHECK(other.actions("root/configChanged").empty());
  CHECK(values_of(other.subscribe(root)) == json::object{});

  const auto session = open_session(one, "ahp-session:/s");
  check_runs(one, "one", "ahp-terminal:/session", shell,
             {{"kind", "session"}, {"session", session.uri}, {"chat", session.chat}});

  one.dispatch(root,
               {{"type", "root/configChanged"}, {"config", json::object{}}, {"replace", true}});
  check_runs(one, "one", "ahp-terminal:/again", "/bin/sh");
  CHECK(values_of(one.subscribe(root)) == json::object{});
}

TEST_CASE("a client that comes back has its shell, and is told of its own changes alone") {
  marked_hub marked(with_sh());
  auto& hub = marked.hub;
  const auto shell = own_shell(hub);
  std::int64_t seen = 0;
  {
    ahp_peer one(hub.url(), named("one"));
    ahp_peer other(hub.url(), named("other"));
    seen = one.initialize({root}).at("serverSeq").to_number<std::int64_t>();
    other.initialize({root});
    other.dispatch(root, shell_change("/bin/cat"));
    other.request("ping");
    other.wait_action("root/configChanged", root);
    one.dispatch(root, shell_change(json::value(shell)));
    one.request("ping");
    one.wait_action("root/configChanged", root);
  }
  SUBCASE("with reconnect as the first message") {
    ahp_peer one(hub.url(), named("one"));
    const auto back = one.reconnect(seen, {root});
    REQUIRE(back.at("type") == "replay");
    std::vector<std::string> shells;
    for (const auto& envelope : back.at("actions").as_array())
      if (type_of(envelope) == "root/configChanged")
        shells.emplace_back(envelope.at("action").at("config").at("defaultShell").as_string());
    CHECK(shells == std::vector<std::string>{shell});
    check_runs(one, "one", "ahp-terminal:/one", shell);
  }
  SUBCASE("with reconnect behind initialize") {
    ahp_peer one(hub.url(), named("one"));
    one.initialize();
    one.reconnect(seen, {root});
    check_runs(one, "one", "ahp-terminal:/one", shell);
  }
  SUBCASE("with initialize alone it begins anew") {
    ahp_peer one(hub.url(), named("one", "0.6.0"));
    CHECK(values_of(one.initialize({root}).at("snapshots").at(0).at("state")) == json::object{});
    check_runs(one, "one", "ahp-terminal:/one", "/bin/sh");
  }
}

TEST_CASE("what is no shell of this host, or no setting, is refused by name and changes nothing") {
  marked_hub marked(with_sh());
  ahp_peer peer(marked.hub.url(), named("one"));
  peer.initialize({root});
  const auto refusal = [&](const json::object& action) {
    peer.dispatch(root, action);
    peer.request("ping");
    const auto echo = peer.wait_action("root/configChanged", root);
    return std::string(echo.at("rejectionReason").as_string());
  };
  const std::string needed = "config.defaultShell must be the absolute path of a program";
  for (const json::value& wrong :
       {json::value(7), json::value(""), json::value("sh"), json::value("bin/sh"),
        json::value(std::string("/bin/sh\0x", 9))})
    CHECK(refusal(shell_change(wrong)) == needed);
  for (const char* wrong : {"/no/such/shell", "/etc/passwd", "/bin", "/proc/self/mem"})
    CHECK(refusal(shell_change(wrong)) == needed + " on this host, and no such program can be run");
  CHECK(refusal({{"type", "root/configChanged"},
                 {"config", {{"defaultShell", "/bin/sh"}, {"colour", "red"}}}}) ==
        "config.colour is not a setting of this host");
  CHECK(refusal({{"type", "root/configChanged"}, {"config", 7}}).find("config") !=
        std::string::npos);
  CHECK(values_of(peer.subscribe(root)) == json::object{});
  check_runs(peer, "one", "ahp-terminal:/one", "/bin/sh");
}
