// Several clients on one session of the real hub: what each folds is what the hub holds.

#include "tests/programs/folding_client.hpp"

#include <doctest/doctest.h>

#include <optional>

using namespace ahpd;
using tests::check_same;
using tests::folding_client;
using tests::named;

namespace {

/// Waits until the message that was queued as `id` has run; it may have by now.
void finish(folding_client& peer, const std::string& chat, const std::string& id) {
  const auto is_it = [&](const json::value& e) {
    return json::string_member(e.at("action"), "queuedMessageId") == id;
  };
  std::optional<std::string> turn;
  for (const auto& e : peer.actions("chat/turnStarted", chat))
    if (is_it(e))
      turn = std::string(e.at("action").at("turnId").as_string());
  if (!turn)
    turn = std::string(
      peer.wait_action("chat/turnStarted", chat, is_it).at("action").at("turnId").as_string());
  for (const auto& e : peer.actions("chat/turnComplete", chat))
    if (e.at("action").at("turnId") == json::value(*turn))
      return;
  tests::wait_turn_end(peer, chat, *turn);
}

} // namespace

TEST_CASE("clients that fold what they are told hold what the hub holds") {
  tests::hub_process hub({{"--delta-window-ms", "0"}, {}, {}});
  folding_client a(hub, "a");
  folding_client b(hub, "b");
  const std::string session = "ahp-session:/shared";
  a.request("createSession", {{"channel", session}, {"provider", "shell"}});
  std::vector<std::string> chats{std::string(a.request("subscribe", {{"channel", session}})
                                               .at("snapshot")
                                               .at("state")
                                               .at("defaultChat")
                                               .as_string())};
  for (auto* client : {&a, &b})
    client->follow(session);
  for (const char* more : {"ahp-chat:/two", "ahp-chat:/three"}) {
    a.request("createChat", {{"channel", session}, {"chat", more}});
    chats.emplace_back(more);
  }
  for (auto* client : {&a, &b})
    for (const auto& chat : chats)
      client->follow(chat);
  for (auto* client : {&a, &b})
    client->dispatch(
      session,
      {{"type", "session/activeClientSet"},
       {"activeClient", {{"clientId", client == &a ? "a" : "b"}, {"tools", json::array{}}}}});

  const std::string busy = "for i in 1 2 3 4 5 6 7 8; do echo $i; echo e$i >&2; done";
  constexpr int rounds = 6;
  for (int round = 0; round < rounds; ++round) {
    const auto id = [&](std::size_t chat) {
      return "t" + std::to_string(round) + "." + std::to_string(chat);
    };
    // Both ask at once: in every chat one of the two turns is refused or comes after the other.
    for (std::size_t i = 0; i < chats.size(); ++i) {
      auto& starts = (static_cast<std::size_t>(round) + i) % 2 ? a : b;
      auto& other = &starts == &a ? b : a;
      starts.dispatch(chats[i], tests::turn_started(id(i), busy));
      other.dispatch(chats[i], tests::turn_started(id(i) + "x", "echo x"));
      other.dispatch(chats[i], tests::queued(id(i) + "q", "echo queued; exit 1"));
      other.dispatch(chats[i], {{"type", "chat/draftChanged"},
                                {"draft", {{"text", id(i)}, {"origin", {{"kind", "user"}}}}}});
      other.dispatch(session, {{"type", "session/titleChanged"}, {"title", id(i)}});
      if (round % 3 == 2)
        other.dispatch(chats[i],
                       {{"type", "chat/turnCancelled"}, {"turnId", id(i)}, {"duration", 1}});
    }
    a.request("ping"); // sends what was dispatched
    b.request("ping");
    {
      // A third one comes in the middle of it, and leaves in one of three ways.
      folding_client c(hub, "c");
      c.follow(session);
      c.follow(chats[1]);
      c.dispatch(session, {{"type", "session/activeClientSet"},
                           {"activeClient", {{"clientId", "c"}, {"tools", json::array{}}}}});
      c.catch_up(session);
      if (round % 3 == 0)
        c.close();
      else if (round % 3 == 1)
        c.leave(session);
    }
    if (round == rounds / 2)
      for (const auto& chat : chats)
        b.follow(chat); // once more, in the middle of it; `a` folds all from the first
    for (std::size_t i = 0; i < chats.size(); ++i)
      finish(a, chats[i], id(i) + "q");
  }
  // A turn that was asked for late may still run: one more message is queued behind it.
  b.request("ping");
  for (const auto& chat : chats)
    a.dispatch(chat, tests::queued("final", "true"));
  for (const auto& chat : chats)
    finish(a, chat, "final");
  for (auto* client : {&a, &b})
    client->catch_up(session);
  a.request("ping"); // b's last word too
  a.fold();

  tests::ahp_peer fresh(hub.url(), named("fresh"));
  fresh.initialize();
  for (auto* client : {&a, &b})
    for (const auto& [uri, doc] : client->documents)
      check_same(client == &a ? "a" : "b", uri, doc.state, fresh.subscribe(uri));
  std::size_t turns = 0;
  for (const auto& chat : chats)
    turns += fresh.subscribe(chat).at("turns").as_array().size();
  CHECK(turns >= rounds * chats.size() * 2);
}

TEST_CASE("the numbers of a host's changes go up across restarts of every kind") {
  tests::hub_process hub;
  std::int64_t last = 0;
  for (int round = 0; round < 3; ++round) {
    folding_client peer(hub, "a");
    CHECK(peer.last_seq >= last);
    tests::open_session(peer, "ahp-session:/s" + std::to_string(round));
    peer.catch_up("ahp-session:/s" + std::to_string(round));
    CHECK(peer.last_seq > last);
    last = peer.last_seq;
    peer.close();
    if (round % 2 == 0)
      hub.kill();
    else
      hub.stop();
    hub.start();
  }
}

TEST_CASE("what is left off, then followed again, is whole again") {
  tests::hub_process hub;
  folding_client a(hub, "a");
  folding_client b(hub, "b");
  const auto session = tests::open_session(a, "ahp-session:/one");
  b.follow(session.chat);
  tests::run_turn(a, session.chat, "t1", "true");
  tests::wait_turn_end(b, session.chat, "t1");
  b.leave(session.chat);
  b.request("ping");
  const auto before = b.actions("", session.chat).size();
  tests::run_turn(a, session.chat, "t2", "true");
  b.request("ping");
  CHECK(b.actions("", session.chat).size() == before);
  b.follow(session.chat);
  tests::run_turn(a, session.chat, "t3", "true");
  tests::wait_turn_end(b, session.chat, "t3");
  b.fold();
  check_same("b", session.chat, b.documents.at(session.chat).state, a.subscribe(session.chat));
}

TEST_CASE("who acts on a channel without following it hears of that action and of no other") {
  tests::hub_process hub;
  folding_client a(hub, "a");
  const auto session = tests::open_session(a, "ahp-session:/one");
  tests::ahp_peer b(hub.url(), named("b"));
  b.initialize();
  const auto n = b.dispatch(session.chat, tests::turn_started("t1", "true"));
  b.wait_action("chat/turnStarted", session.chat);
  tests::wait_turn_end(a, session.chat, "t1");
  b.request("ping");
  const auto heard = b.actions("");
  REQUIRE(heard.size() == 1);
  CHECK(tests::type_of(heard[0]) == "chat/turnStarted");
  CHECK(heard[0].at("origin").at("clientSeq") == n);
  CHECK(a.actions("chat/turnStarted").size() == 1);
}
