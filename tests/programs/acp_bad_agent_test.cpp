#include "tests/programs/acp_support.hpp"

#include <doctest/doctest.h>

#include <fstream>

using namespace ahpd;
using namespace ahpd::tests;

namespace {

/// A hub whose agents misbehave, each in the way its id names.
struct bad_hub {
  explicit bad_hub(const std::vector<std::string>& ways) : marked(options(ways)) {}

  static hub_options options(const std::vector<std::string>& ways) {
    std::map<std::string, std::string> records;
    for (const auto& way : ways)
      records[way] = node_record(way, {fixture("bad-agent.mjs"), way});
    return acp_options(records);
  }

  acp_peer peer() const { return acp_peer(marked.hub); }
  static shell_session session(ahp_peer& peer, const std::string& way) {
    return open_session(peer, "ahp-session:/" + way, {{"provider", way}});
  }
  /// How a turn of an agent fails.
  std::string failure_of_way(const std::string& way) {
    auto who = peer();
    const auto in = session(who, way);
    auto out = failure(who, in, "t", "go");
    who.request("disposeSession", {{"channel", in.uri}});
    return out;
  }

  marked_hub marked;
};

std::size_t resident_kib(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("VmHWM:", 0) == 0)
      return std::stoul(line.substr(6));
  return 0;
}

} // namespace

TEST_CASE("an acp agent that misbehaves ends its turn in one sentence and leaves nothing") {
  if (!has_node())
    return skip("node");
  const std::map<std::string, std::string> ends{
    {"garbage", "agentError: garbage: its server writes what is no ACP message: the message is not "
                "JSON in UTF-8: syntax error"},
    {"half", "agentEnded: node exited with code 0 in the middle of a message"},
    {"die", "agentEnded: node exited with code 3: out of luck"},
    {"ask-die", "agentEnded: node exited on SIGKILL"},
    {"error", "agentError: error: Internal error: no model"},
    {"long", "agentError: long: its server sent a message of more than 16 MiB"},
    {"child", "agentEnded: node exited with code 4"},
    {"version", "agentError: version: it speaks version 7 of ACP, and this host speaks 1 and 2"},
    {"nameless", "agentError: nameless: its answer to session/new has no sessionId"},
  };
  std::vector<std::string> ways;
  for (const auto& [way, sentence] : ends)
    ways.push_back(way);
  bad_hub it(ways);
  for (const auto& [way, sentence] : ends) {
    CAPTURE(way);
    CHECK(it.failure_of_way(way) == sentence);
    it.marked.wait_no_programs();
  }
}

TEST_CASE("an acp agent that answers twice, or what nobody asked, loses nothing") {
  if (!has_node())
    return skip("node");
  bad_hub it({"twice", "unknown", "noise", "strange", "ask-same-id", "ask-end"});
  auto peer = it.peer();
  for (const std::string way : {"twice", "unknown"})
    CHECK(say(peer, bad_hub::session(peer, way), "t-" + way, "go").empty());
  CHECK(say(peer, bad_hub::session(peer, "noise"), "t-noise", "go") == "fine");
  CHECK(say(peer, bad_hub::session(peer, "strange"), "t-strange", "go") ==
        "told -32601 this host does not serve dance/now");
  CHECK(say(peer, bad_hub::session(peer, "ask-same-id"), "t-same", "go") ==
        "told request 1 has not been answered yet, and its id is used again");
  // it ends the turn although somebody was asked: the question goes with it
  const auto in = bad_hub::session(peer, "ask-end");
  CHECK(say(peer, in, "t-end", "go").empty());
  CHECK_FALSE(peer.subscribe(in.uri).as_object().contains("inputNeeded"));
}

TEST_CASE("a flood of an acp agent is stopped, and memory stays bounded") {
  if (!has_node())
    return skip("node");
  bad_hub it({"flood"});
  CHECK(
    it.failure_of_way("flood") ==
    "outputTooLarge: flood: one turn may hold 16 MiB, and this one was stopped when it held more");
  it.marked.wait_no_programs();
#ifndef __SANITIZE_ADDRESS__
  CHECK(resident_kib(it.marked.hub.pid()) < 256u << 10);
#endif
  auto peer = it.peer(); // and the hub serves on
  CHECK(type_of(run_turn(peer, open_session(peer, "ahp-session:/s").chat, "t", "true")) ==
        "chat/turnComplete");
}

TEST_CASE("an acp agent that ignores a cancel is killed, and the next turn starts another") {
  if (!has_node())
    return skip("node");
  bad_hub it({"hang", "stubborn", "mute"});
  auto peer = it.peer();
  for (const std::string way : {"hang", "stubborn"}) {
    const auto in = bad_hub::session(peer, way);
    peer.dispatch(in.chat, turn_started("t-" + way, "go"));
    peer.wait_action("chat/delta", in.chat);
    peer.dispatch(in.chat,
                  {{"type", "chat/turnCancelled"}, {"turnId", "t-" + way}, {"duration", 1}});
    wait_turn_end(peer, in.chat, "t-" + way);
    // the next one waits for the end of the first, and finds a server that cannot load
    CHECK(failure(peer, in, "u-" + way, "go") ==
          "agentError: " + way +
            ": this ACP server cannot load a session, so \"s\" cannot be resumed");
  }
  // one that never got ready is ended at once
  const auto in = bad_hub::session(peer, "mute");
  peer.dispatch(in.chat, turn_started("t", "go"));
  peer.wait_action("chat/turnStarted", in.chat);
  peer.dispatch(in.chat, {{"type", "chat/turnCancelled"}, {"turnId", "t"}, {"duration", 1}});
  wait_turn_end(peer, in.chat, "t");
  it.marked.wait_no_programs();
}

TEST_CASE("a hub that stops or is killed leaves no acp agent, not even a stubborn one") {
  if (!has_node())
    return skip("node");
  bad_hub it({"stubborn"});
  const auto busy = [&](const std::string& turn) {
    auto peer = it.peer();
    const auto in = open_session(peer, "ahp-session:/" + turn, {{"provider", "stubborn"}});
    peer.dispatch(in.chat, turn_started(turn, "go"));
    peer.wait_action("chat/delta", in.chat);
  };
  busy("one");
  CHECK(it.marked.hub.stop() == 0);
  it.marked.wait_no_programs();
  it.marked.hub.start();
  busy("two");
  it.marked.hub.kill();
  it.marked.hub.start(); // sweeps what the killed one had started
  it.marked.wait_no_programs();
}

TEST_CASE("an acp agent that is not there is named in the turn") {
  marked_hub it(
    acp_options({{"gone", R"({"engine": "acp", "config": {"command": "no-such-agent"}})"}}));
  auto peer = acp_peer(it.hub);
  const auto in = open_session(peer, "ahp-session:/a", {{"provider", "gone"}});
  CHECK(
    failure(peer, in, "t", "go") ==
    "agentNotStarted: no-such-agent was not found; install it, or put its directory on the PATH "
    "the daemon runs with");
}
