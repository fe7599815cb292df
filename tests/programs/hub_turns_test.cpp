// Turns of the shell engine on the real hub, as a client sees them.

#include "tests/programs/hub_support.hpp"

#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ahpd;

namespace {

/// A hub that shows output at once, a peer, and a session that it follows.
struct turns_fixture : tests::marked_hub {
  tests::ahp_peer peer;
  tests::shell_session session;

  turns_fixture() : marked_hub({{"--delta-window-ms", "0"}, {}, {}}), peer(hub.url()) {
    peer.initialize({"ahp-root://"});
    session = tests::open_session(peer, "ahp-session:/one");
  }

  void run(const std::string& id, const std::string& command) {
    tests::run_turn(peer, session.chat, id, command);
  }
  json::value result(const std::string& id) const { return tests::call_result(peer, id); }
  std::string out(const std::string& id) const {
    return tests::text_of(result(id).at("content"), "stdout");
  }
  void start(const std::string& id, const std::string& command) {
    peer.dispatch(session.chat, tests::turn_started(id, command));
    peer.wait_action("chat/turnStarted", session.chat);
  }
  void cancel(const std::string& id) {
    peer.dispatch(session.chat, {{"type", "chat/turnCancelled"}, {"turnId", id}, {"duration", 5}});
  }
  /// Waits until the running call shows `text` on its standard output.
  void wait_shown(const std::string& text) {
    peer.wait_action("chat/toolCallContentChanged", session.chat, [&](const json::value& e) {
      return tests::text_of(e.at("action").at("content"), "stdout") == text;
    });
  }
  void go() { tests::touch(hub.folder() + "/go"); }
  json::value chat() {
    tests::peer_options how;
    how.client_id = "fresh";
    tests::ahp_peer fresh(hub.url(), how);
    fresh.initialize();
    return fresh.subscribe(session.chat);
  }
  /// The sentence of the next refusal, which repeats the number that was current.
  std::string refusal(std::int64_t of) {
    const auto frame = peer.wait_for("a refusal", [&](const json::value& f) {
      const auto* params = json::member(f, "params");
      return params && json::member(*params, "rejectionReason") &&
             params->at("origin").at("clientSeq") == of;
    });
    return std::string(frame.at("params").at("rejectionReason").as_string());
  }
};

std::size_t position(const std::vector<json::value>& frames, const std::string& what,
                     const tests::ahp_peer::test& wanted) {
  const auto i = std::find_if(frames.begin(), frames.end(), wanted);
  REQUIRE_MESSAGE(i != frames.end(), what << " came");
  return static_cast<std::size_t>(i - frames.begin());
}

/// Types of the actions on a channel, in the order in which they came.
std::vector<std::string> types_on(const tests::ahp_peer& peer, const std::string& channel) {
  std::vector<std::string> out;
  for (const auto& envelope : peer.actions("", channel))
    out.push_back(tests::type_of(envelope));
  return out;
}

} // namespace

TEST_CASE_FIXTURE(turns_fixture, "a turn is echoed, shown as one call as it runs, and completed") {
  const auto seq = peer.dispatch(
    session.chat,
    tests::turn_started("t1", "echo one; " + tests::wait_for_file("go") + "; echo two"));
  wait_shown("one\n");
  go();
  const auto end = tests::wait_turn_end(peer, session.chat, "t1");
  peer.wait_notification("root/sessionSummaryChanged", [](const json::value& p) {
    return json::member(p.at("changes"), "status") && p.at("changes").at("status") == 1;
  });

  const auto echo = peer.actions("chat/turnStarted", session.chat).at(0);
  CHECK(echo.at("origin").at("clientId") == "peer");
  CHECK(echo.at("origin").at("clientSeq") == seq);
  CHECK(echo.at("action").at("message").at("text").as_string().starts_with("echo one"));
  const std::vector<std::string> steps{"chat/turnStarted",      "chat/toolCallStart",
                                       "chat/toolCallReady",    "chat/toolCallContentChanged",
                                       "chat/toolCallComplete", "chat/turnComplete"};
  auto seen = types_on(peer, session.chat);
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  CHECK(seen == steps);
  const auto ready = peer.actions("chat/toolCallReady").at(0).at("action");
  CHECK(ready.at("confirmed") == "not-needed");
  CHECK(tests::type_of(end) == "chat/turnComplete");
  CHECK(end.at("action").at("duration").as_int64() >= 0);
  CHECK_FALSE(json::member(end, "origin"));

  const auto done = result("t1");
  CHECK(done.at("success") == true);
  CHECK(done.at("structuredContent").at("exitCode") == 0);
  CHECK(done.at("structuredContent").at("stdout").at("bytes") == 8);
  CHECK(out("t1") == "one\ntwo\n");

  // The session and the list of sessions say what the chat does.
  const auto& frames = peer.frames();
  const auto chat_status = [&](int status) {
    return position(frames, "chatUpdated", [&](const json::value& f) {
      const auto* p = json::member(f, "params");
      const auto* a = p ? json::member(*p, "action") : nullptr;
      return a && json::string_member(*a, "type") == "session/chatUpdated" &&
             json::member(a->at("changes"), "status") && a->at("changes").at("status") == status;
    });
  };
  CHECK(chat_status(8) < chat_status(1));
  const auto summary = [&](int status) {
    return position(frames, "sessionSummaryChanged", [&](const json::value& f) {
      return json::string_member(f, "method") == "root/sessionSummaryChanged" &&
             json::member(f.at("params").at("changes"), "status") &&
             f.at("params").at("changes").at("status") == status;
    });
  };
  CHECK(summary(8) < summary(1));
  CHECK(peer.actions("session/titleChanged", session.uri).size() == 1);
}

TEST_CASE_FIXTURE(turns_fixture, "a call tells the truth about how its command ended") {
  run("failed", "echo no >&2; exit 3");
  auto done = result("failed");
  CHECK(done.at("success") == false);
  CHECK(done.at("structuredContent").at("exitCode") == 3);
  CHECK(done.at("error").at("code") == "3");
  CHECK(tests::text_of(done.at("content"), "stderr") == "no\n");
  CHECK(tests::text_of(done.at("content"), "stdout").empty());

  run("killed", "kill -9 $$");
  done = result("killed");
  CHECK(done.at("success") == false);
  CHECK(done.at("structuredContent").at("signal") == 9);
  CHECK_FALSE(json::member(done.at("structuredContent"), "exitCode"));

  run("missing", "no-such-program-anywhere");
  done = result("missing");
  CHECK(done.at("structuredContent").at("exitCode") == 127);
  CHECK(tests::text_of(done.at("content"), "stderr").find("no-such-program") != std::string::npos);

  run("silent", "true");
  CHECK(result("silent").at("success") == true);
  CHECK(result("silent").at("content").as_array().empty());
  const auto after = chat();
  for (const auto& turn : after.at("turns").as_array())
    CHECK(turn.at("state") == "complete"); // the call failed, the turn did its work
}

TEST_CASE_FIXTURE(turns_fixture, "output arrives as the bytes that were written") {
  run("bytes", "printf 'a\\377b'");
  const auto entry = result("bytes").at("content").at(0);
  CHECK(entry.at("type") == "embeddedResource");
  CHECK(entry.at("data") == "Yf9i");
  run("no newline", "printf 'no newline'");
  CHECK(out("no newline") == "no newline");
  run("nul", "printf 'a\\000b'");
  CHECK(out("nul") == std::string("a\0b", 3));

  start("euro", "printf 'a\\342\\202'; " + tests::wait_for_file("go") + "; printf '\\254z'");
  wait_shown("a");
  go();
  tests::wait_turn_end(peer, session.chat, "euro");
  CHECK(out("euro") == "a€z");
  for (const auto& e : peer.actions("chat/toolCallContentChanged"))
    for (const auto& part : e.at("action").at("content").as_array())
      if (e.at("action").at("turnId") == "euro")
        CHECK(part.at("type") == "text");
}

TEST_CASE_FIXTURE(turns_fixture,
                  "of much output the newest is kept, and what was evicted is said") {
  run("much", "yes 0123456789abcde | head -c 5000000; printf end");
  const auto done = result("much");
  const auto& kept = done.at("structuredContent").at("stdout");
  const auto text = out("much");
  CHECK(kept.at("bytes") == 5'000'003);
  CHECK(kept.at("evicted").as_int64() + static_cast<std::int64_t>(text.size()) == 5'000'003);
  CHECK(text.size() == 1u << 20);
  CHECK(done.at("content").at(0).at("_meta").at("ahpd.offset") == kept.at("evicted"));
  std::string whole;
  while (whole.size() < 5'000'000)
    whole += "0123456789abcde\n";
  CHECK((whole.substr(0, 5'000'000) + "end").substr(5'000'003 - text.size()) == text);
  CHECK(chat()
          .at("turns")
          .at(0)
          .at("responseParts")
          .at(0)
          .at("toolCall")
          .at("content")
          .at(0)
          .at("text") == json::value(text));
}

TEST_CASE_FIXTURE(turns_fixture, "a cancelled turn's programs are gone before the next one runs") {
  // Each of them says that it is there and stays a shell: a process in the middle of its exec has
  // no environment to be found by.
  start("t1", "trap '' TERM; sh -c 'echo .; sleep 1000; true' & "
              "setsid sh -c 'echo .; sleep 1000; true' & "
              "(setsid sh -c 'echo .; sleep 1000; true' &); wait; sleep 1000");
  wait_shown(".\n.\n.\n");
  CHECK(programs().size() >= 4);
  cancel("t1");
  const auto end = tests::wait_turn_end(peer, session.chat, "t1");
  CHECK(tests::type_of(end) == "chat/turnCancelled");
  CHECK(end.at("origin").at("clientId") == "peer");
  run("t2", "echo next");
  CHECK(out("t2") == "next\n");
  CHECK(programs().empty());
  const auto turn = chat().at("turns").at(0);
  CHECK(turn.at("state") == "cancelled");
  CHECK(turn.at("responseParts").at(0).at("toolCall").at("status") == "cancelled");
  CHECK_FALSE(json::member(chat(), "activeTurn"));
}

TEST_CASE_FIXTURE(turns_fixture, "what cannot be done to a turn is refused with a reason") {
  run("t1", "true");
  peer.request("ping");
  const auto current = peer.actions("").back().at("serverSeq").as_int64();
  const auto cancelled = peer.dispatch(
    session.chat, {{"type", "chat/turnCancelled"}, {"turnId", "t1"}, {"duration", 0}});
  const auto refused = peer.wait_action("chat/turnCancelled", session.chat);
  CHECK(refused.at("origin").at("clientSeq") == cancelled);
  CHECK_FALSE(refused.at("rejectionReason").as_string().empty());
  CHECK(refused.at("serverSeq") == current);

  CHECK_FALSE(refusal(peer.dispatch(session.chat, tests::turn_started("t1", "true"))).empty());

  start("t2", tests::wait_for_file("go"));
  const auto second = refusal(peer.dispatch(session.chat, tests::turn_started("t3", "true")));
  CHECK_FALSE(second.empty());
  CHECK_FALSE(
    refusal(peer.dispatch(session.chat,
                          {{"type", "chat/turnCancelled"}, {"turnId", "t3"}, {"duration", 0}}))
      .empty());
  auto steering = tests::queued("s1", "echo hurry");
  steering["kind"] = "steering";
  CHECK(refusal(peer.dispatch(session.chat, steering)).find("queue it") != std::string::npos);
  go();
  tests::wait_turn_end(peer, session.chat, "t2");
  CHECK(chat().at("turns").as_array().size() == 2);
}

TEST_CASE_FIXTURE(turns_fixture, "queued messages run one after the other, in their order") {
  start("t1", tests::wait_for_file("go"));
  for (const char* id : {"q1", "q2", "q3"})
    peer.dispatch(session.chat, tests::queued(id, std::string("echo ") + id));
  peer.dispatch(session.chat,
                {{"type", "chat/pendingMessageRemoved"}, {"kind", "queued"}, {"id", "q2"}});
  peer.wait_action("chat/pendingMessageRemoved");
  CHECK(chat().at("queuedMessages").as_array().size() == 2);
  go();
  tests::wait_turn_end(peer, session.chat, "t1");
  for (const char* id : {"q1", "q3"}) {
    const auto removed = peer.wait_action("chat/pendingMessageRemoved");
    CHECK(removed.at("action").at("id") == json::value(id));
    CHECK_FALSE(json::member(removed, "origin"));
    const auto started = peer.wait_action("chat/turnStarted");
    CHECK(started.at("action").at("queuedMessageId") == json::value(id));
    const std::string turn(started.at("action").at("turnId").as_string());
    CHECK(tests::type_of(tests::wait_turn_end(peer, session.chat, turn)) == "chat/turnComplete");
    CHECK(out(turn) == std::string(id) + "\n");
  }
  CHECK_FALSE(json::member(chat(), "queuedMessages"));
  peer.dispatch(session.chat, tests::queued("q4", "echo at once"));
  const auto idle = peer.wait_action("chat/turnStarted");
  CHECK(idle.at("action").at("queuedMessageId") == "q4");
}

TEST_CASE_FIXTURE(turns_fixture, "a queue goes on after a cancelled turn whatever else was asked") {
  start("t1", "trap '' TERM; echo up; sleep 1000; sleep 1000");
  wait_shown("up\n");
  peer.dispatch(session.chat, tests::queued("q1", "echo next"));
  cancel("t1");
  cancel("t1"); // refused, while the programs of the first are still going
  const auto started = peer.wait_action("chat/turnStarted", session.chat);
  CHECK(started.at("action").at("queuedMessageId") == "q1");
  tests::wait_turn_end(peer, session.chat,
                       std::string(started.at("action").at("turnId").as_string()));
}

TEST_CASE_FIXTURE(turns_fixture, "a truncated chat forgets the turns behind, for good") {
  for (const char* id : {"t1", "t2", "t3"})
    run(id, std::string("echo ") + id);
  CHECK_FALSE(
    refusal(peer.dispatch(session.chat, {{"type", "chat/truncated"}, {"turnId", "none"}})).empty());
  peer.dispatch(session.chat, {{"type", "chat/truncated"}, {"turnId", "t2"}});
  peer.wait_action("chat/truncated");
  CHECK(chat().at("turns").as_array().size() == 2);
  run("t4", "echo t4");

  start("t5", "echo up; sleep 1000");
  wait_shown("up\n");
  peer.dispatch(session.chat, {{"type", "chat/truncated"}, {"turnId", "t1"}});
  peer.wait_action("chat/truncated");
  run("t6", "true");
  CHECK(programs().empty());
  peer.close();
  hub.stop();
  hub.start();
  const auto turns = chat().at("turns").as_array();
  REQUIRE(turns.size() == 2);
  CHECK(turns[0].at("id") == "t1");
  CHECK(turns[1].at("id") == "t6");

  tests::ahp_peer again(hub.url());
  again.initialize();
  again.subscribe(session.chat);
  again.dispatch(session.chat, {{"type", "chat/truncated"}});
  again.wait_action("chat/truncated");
  CHECK(chat().at("turns").as_array().empty());
}

TEST_CASE_FIXTURE(turns_fixture, "a message that no command line can hold ends its turn with the "
                                 "reason") {
  for (const auto& [id, text] :
       {std::pair(std::string("nul"), std::string("echo a\0b", 8)),
        std::pair(std::string("long"), "# " + std::string(3u << 20, 'x'))}) {
    const auto end = tests::run_turn(peer, session.chat, id, text);
    CHECK(tests::type_of(end) == "chat/error");
    const auto& why = end.at("action").at("part").at("error");
    CHECK(why.at("errorType") == "commandNotStarted");
    CHECK(why.at("message").as_string().size() > 10);
    CHECK(why.at("message").as_string().size() < 500);
  }
  run("after", "echo after");
  CHECK(out("after") == "after\n");
}
