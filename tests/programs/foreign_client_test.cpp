// The hub as programs see it that share no code with it: on npm's `ws`.

#include "tests/programs/acp_support.hpp"

#include <doctest/doctest.h>

using namespace ahpd;
using namespace ahpd::tests;

namespace {

/// npm's `ws`, and the environment that lets a script of no folder of its own find it.
std::optional<std::map<std::string, std::string>> with_ws() {
  if (!has_node())
    return std::nullopt;
  const auto folder = npm_package("ws", "8.18.3");
  if (!folder)
    return std::nullopt;
  return std::map<std::string, std::string>{{"NODE_PATH", *folder + "/node_modules"}};
}

} // namespace

TEST_CASE("a client on another library is cut off in a turn, comes back and missed nothing") {
  const auto env = with_ws();
  if (!env)
    return skip("node with npm's ws");
  hub_process hub;
  const auto ran = run_program(
    {{"/usr/bin/env", "node", fixture("foreign-client.js"), hub.url(), hub.folder()}, *env, {}});
  REQUIRE_MESSAGE(ran.exit_code == 0, ran.errors);
  CHECK(json::parse(ran.output).at("output") == "one\ntwo\nthree\n");
}

TEST_CASE(
  "the bot of the examples answers with what its prompt wrote and leaves no session behind") {
  const auto env = with_ws();
  if (!env)
    return skip("node with npm's ws");
  hub_process hub;
  const auto bot = [&](const std::string& prompt) {
    return run_program(
      {{"/usr/bin/env", "node", AHPD_SOURCE_DIR "/examples/bot/bot.js", hub.url(), prompt},
       *env,
       {}});
  };
  const auto said = bot("echo hello; echo there");
  CHECK_MESSAGE(said.exit_code == 0, said.errors);
  CHECK(said.output == "hello\nthere\n");
  ahp_peer peer(hub.url());
  peer.initialize();
  CHECK(peer.request("listSessions").at("items").as_array().empty());
}
