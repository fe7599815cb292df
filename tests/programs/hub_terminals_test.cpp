// Terminals of the real hub on this host.

#include "tests/programs/hub_support.hpp"
#include "tests/programs/terminal_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace ahpd;

namespace {

const std::string term = "ahp-terminal:/t";
const json::object own{{"kind", "client"}, {"clientId", "peer"}};

std::size_t descriptors_of(pid_t pid) {
  const std::filesystem::directory_iterator all("/proc/" + std::to_string(pid) + "/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

tests::hub_options with_sh(tests::hub_options how = {}) {
  how.env["SHELL"] = "/bin/sh";
  return how;
}

} // namespace

TEST_CASE("a terminal starts in the hub's folder or in the one it names, in the account's shell") {
  tests::marked_hub marked(with_sh());
  tests::ahp_peer peer(marked.hub.url());
  const auto hello = peer.initialize();
  CHECK(hello.at("terminalCommandPrefix") == "!");
  tests::terminal_reader here(peer, term);
  here.open(own);
  here.type("echo \"$0 in $PWD.\"\r");
  here.wait("/bin/sh in " + marked.hub.folder() + ".");
  tests::terminal_reader there(peer, term + "2");
  there.open(own, {{"cwd", "file:///usr/bin"}, {"name", "second"}});
  there.type("echo \"now in $PWD.\"\r");
  there.wait("now in /usr/bin.");
  const auto list = peer.subscribe("ahp-root://").at("terminals").as_array();
  REQUIRE(list.size() == 2);
  CHECK(list[0].at("title") == "sh");
  CHECK(list[1].at("title") == "second");
}

TEST_CASE("what a killed hub's terminals ran is gone after the next start") {
  tests::marked_hub marked(with_sh());
  auto& hub = marked.hub;
  {
    tests::ahp_peer peer(hub.url());
    peer.initialize();
    const auto session = tests::open_session(peer, "ahp-session:/one");
    tests::terminal_reader shell(peer, term);
    shell.open(own);
    shell.type("(trap '' HUP TERM; setsid sleep 1000 &) ; echo rea''dy\r");
    shell.wait("ready");
    peer.dispatch(session.chat, tests::turn_started("t1", "!trap '' HUP; sleep 1000; true"));
    peer.wait_action("chat/toolCallContentChanged", session.chat);
    CHECK_FALSE(marked.programs().empty());
    hub.kill();
  }
  hub.start();
  marked.wait_no_programs();
  tests::ahp_peer peer(hub.url());
  peer.initialize();
  CHECK(peer.subscribe("ahp-root://").at("terminals").as_array().empty());
  CHECK(peer.request_error("subscribe", {{"channel", term}}).at("code") == -32008);
}

TEST_CASE("a hub that is told to stop takes its terminals with it") {
  tests::marked_hub marked(with_sh());
  {
    tests::ahp_peer peer(marked.hub.url());
    peer.initialize();
    tests::terminal_reader shell(peer, term);
    shell.open(own);
    shell.type("trap '' HUP TERM; (setsid sleep 1000 &) ; echo rea''dy\r");
    shell.wait("ready");
  }
  CHECK(marked.hub.stop() == 0);
  marked.wait_no_programs();
}

TEST_CASE("hundreds of terminals leave the hub as it was") {
  tests::marked_hub marked(with_sh());
  tests::ahp_peer peer(marked.hub.url());
  peer.initialize();
  peer.request("createTerminal", {{"channel", term}, {"claim", own}});
  peer.request("disposeTerminal", {{"channel", term}});
  const auto before = descriptors_of(marked.hub.pid());
  for (int i = 0; i < 200; ++i) {
    peer.request("createTerminal", {{"channel", term}, {"claim", own}});
    peer.request("disposeTerminal", {{"channel", term}});
  }
  CHECK(marked.programs().empty());
  CHECK(descriptors_of(marked.hub.pid()) <= before);
}
