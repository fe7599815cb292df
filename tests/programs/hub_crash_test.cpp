// kill -9 of the real hub while turns run.

#include "tests/programs/hub_support.hpp"

#include <doctest/doctest.h>

#include <poll.h>
#include <random>
#include <set>

using namespace ahpd;

namespace {

const char* const long_turn = "(setsid sleep 1000 &); sleep 1000 & "
                              "for i in 1 2 3 4 5; do echo $i; sleep 0.05; done; sleep 30";

std::set<std::string> ids_of(const json::value& chat) {
  std::set<std::string> out;
  for (const auto& turn : chat.at("turns").as_array())
    out.emplace(turn.at("id").as_string());
  return out;
}

const json::value& turn_of(const json::value& chat, const std::string& id) {
  for (const auto& turn : chat.at("turns").as_array())
    if (turn.at("id") == json::value(id))
      return turn;
  FAIL("turn " << id << " is kept");
  return chat;
}

/// Seeded, so that a failure comes again.
struct moments {
  std::mt19937 random{20261130};
  std::chrono::milliseconds next() {
    return std::chrono::milliseconds(std::uniform_int_distribution<int>(0, 400)(random));
  }
};

/// Lets the turn run for a while: the moment of a crash is nobody's event.
void let_pass(std::chrono::milliseconds time) {
  ::poll(nullptr, 0, static_cast<int>(time.count()));
}

} // namespace

TEST_CASE("a hub that is killed at any moment of a turn loses nothing that it had confirmed") {
  tests::marked_hub marked;
  auto& hub = marked.hub;
  tests::shell_session session;
  {
    tests::ahp_peer peer(hub.url());
    peer.initialize();
    session = tests::open_session(peer, "ahp-session:/one");
    tests::run_turn(peer, session.chat, "first", "echo kept");
  }
  std::set<std::string> confirmed{"first"};
  moments when;
  for (int round = 0; round < 20; ++round) {
    const auto cut = "cut" + std::to_string(round);
    const auto next = "next" + std::to_string(round);
    INFO("round " << round);
    bool seen = false;
    {
      tests::ahp_peer peer(hub.url());
      peer.initialize({session.chat});
      peer.dispatch(session.chat, tests::turn_started(cut, long_turn));
      const auto time = when.next();
      if (round % 4 != 0) { // else the crash may come before the turn was accepted
        peer.wait_action("chat/turnStarted", session.chat);
        let_pass(time);
      } else {
        peer.poll();
        let_pass(time / 100);
      }
      peer.poll();
      hub.kill();
      for (const auto& e : peer.actions("chat/turnStarted", session.chat))
        seen = seen || e.at("action").at("turnId") == json::value(cut);
    }
    hub.start();
    tests::ahp_peer peer(hub.url());
    peer.initialize();
    const auto rows = peer.request("listSessions").at("items").as_array();
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].at("resource") == json::value(session.uri));
    const auto chat = peer.subscribe(session.chat);
    CHECK_FALSE(json::member(chat, "activeTurn"));
    const auto ids = ids_of(chat);
    for (const auto& id : confirmed)
      CHECK_MESSAGE(ids.count(id) == 1, id);
    if (seen)
      confirmed.insert(cut);
    CHECK((!seen || ids.count(cut) == 1));
    if (ids.count(cut)) {
      const auto& turn = turn_of(chat, cut);
      CHECK(turn.at("state") == "error");
      const auto& last = turn.at("responseParts").as_array().back();
      CHECK(last.at("kind") == "error");
      CHECK(last.at("error").at("message").as_string().find("host stopped") != std::string::npos);
      CHECK((rows[0].at("status").as_int64() & 31) == 2);
    }
    marked.wait_no_programs();
    CHECK(tests::type_of(tests::run_turn(peer, session.chat, next, "echo next")) ==
          "chat/turnComplete");
    CHECK(tests::text_of(tests::call_result(peer, next).at("content"), "stdout") == "next\n");
    confirmed.insert(next);
  }
}

TEST_CASE("queued messages of a hub that was killed run when it is back") {
  tests::marked_hub marked;
  auto& hub = marked.hub;
  tests::shell_session session;
  {
    tests::ahp_peer peer(hub.url());
    peer.initialize();
    session = tests::open_session(peer, "ahp-session:/one");
    peer.dispatch(session.chat, tests::turn_started("t1", "sleep 1000"));
    peer.dispatch(session.chat, tests::queued("q1", "echo queued"));
    peer.wait_action("chat/pendingMessageSet");
    hub.kill();
  }
  hub.start();
  tests::ahp_peer peer(hub.url());
  peer.initialize();
  const auto chat = peer.subscribe(session.chat);
  CHECK(chat.at("turns").at(0).at("state") == "error");
  peer.dispatch(session.chat, tests::queued("q2", "echo behind it"));
  const auto started = peer.wait_action("chat/turnStarted", session.chat, [](const json::value& e) {
    return json::string_member(e.at("action"), "queuedMessageId") == "q2";
  });
  tests::wait_turn_end(peer, session.chat,
                       std::string(started.at("action").at("turnId").as_string()));
  const auto after = peer.subscribe(session.chat);
  const auto& turns = after.at("turns").as_array();
  REQUIRE(turns.size() == 3);
  CHECK(turns[1].at("message").at("text") == "echo queued");
  CHECK(turns[1].at("state") == "complete");
  CHECK(turns[2].at("message").at("text") == "echo behind it");
  marked.wait_no_programs();
}

TEST_CASE("what a finished turn left in the background does not outlive a hub that is killed") {
  tests::hub_process hub;
  const tests::lifeline line(hub.folder() + "/line");
  {
    tests::ahp_peer peer(hub.url());
    peer.initialize();
    const auto session = tests::open_session(peer, "ahp-session:/one");
    tests::run_turn(peer, session.chat, "t1",
                    line.take() + "(setsid sleep 1000 >/dev/null 2>&1 &)");
    hub.kill();
  }
  CHECK(line.held());
  hub.start();
  line.wait_let_go();
}

TEST_CASE("what a cancelled turn left behind does not outlive a hub that is killed in its grace") {
  tests::marked_hub marked;
  auto& hub = marked.hub;
  {
    tests::ahp_peer peer(hub.url());
    peer.initialize();
    const auto session = tests::open_session(peer, "ahp-session:/one");
    peer.dispatch(session.chat,
                  tests::turn_started("t1", "setsid sh -c \"trap '' TERM; echo up; sleep 1000; "
                                            "sleep 1000\" & sleep 1000"));
    peer.wait_action("chat/toolCallContentChanged", session.chat);
    peer.dispatch(session.chat,
                  {{"type", "chat/turnCancelled"}, {"turnId", "t1"}, {"duration", 1}});
    peer.wait_action("chat/turnCancelled", session.chat);
    hub.kill();
  }
  CHECK_FALSE(marked.programs().empty());
  hub.start();
  marked.wait_no_programs();
}
