// Clients that come and go: what they hold after coming back is what the hub holds.

#include "tests/programs/folding_client.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <random>
#include <set>

using namespace ahpd;
using tests::check_same;
using tests::folding_client;
using tests::named;

namespace {

const std::string session = "ahp-session:/shared";

/// A command whose output comes in many small steps.
const std::string chatter = "for i in $(seq 25); do echo line $i; echo e$i >&2; sleep 0.005; done";

tests::hub_options eager() {
  return {{"--delta-window-ms", "0"}, {}, {}};
}

std::vector<std::string> resources(const json::value& snapshots) {
  std::vector<std::string> out;
  for (const auto& shot : snapshots.as_array())
    out.emplace_back(shot.at("resource").as_string());
  return out;
}

} // namespace

TEST_CASE("a client dropped a hundred times in the middle of turns holds what the hub holds") {
  tests::hub_process hub(eager());
  folding_client a(hub, "a");
  folding_client b(hub, "b");
  const auto open = tests::open_session(a, session);
  std::optional<folding_client> c(std::in_place, hub, "c");
  for (auto* client : {&a, &b, &*c})
    for (const auto& uri : {open.uri, open.chat})
      client->follow(uri);

  const auto draft = [&](int rounds) {
    for (int i = 0; i < rounds; ++i)
      a.dispatch(open.chat,
                 {{"type", "chat/draftChanged"},
                  {"draft", {{"text", std::to_string(i)}, {"origin", {{"kind", "user"}}}}}});
    a.request("ping"); // sends them
  };
  std::mt19937 random(7); // the same moments in every run
  std::size_t replays = 0;
  std::size_t snapshots = 0;
  std::set<std::int64_t> excused; // numbers that a snapshot stands for
  int turn = 0;
  for (int drop = 0; drop < 100; ++drop) {
    draft(12); // something to wait for
    if (drop % 6 == 0) {
      const auto id = "t" + std::to_string(turn++);
      auto& asks = drop % 12 == 0 ? a : b;
      asks.dispatch(open.chat, tests::queued(id, chatter));
      asks.request("ping"); // sends it
    }
    for (auto left = random() % 12; left > 0; --left)
      c->wait_action(""); // some action; more are on their way
    c->fold();
    tests::folded held = *c;
    c.reset();
    draft(static_cast<int>(random() % 5));
    const auto before = held.last_seq;
    const auto last = drop % 7 == 6 ? 0 : before; // 0: longer ago than anything is kept
    c.emplace(hub, "c", std::move(held), last);
    CHECK(c->documents.size() == 3);
    if (c->resumed.at("type") == "replay") {
      ++replays;
      continue;
    }
    ++snapshots;
    for (auto n = before + 1; n <= c->last_seq; ++n)
      excused.insert(n);
  }
  CHECK(replays > 80);
  CHECK(snapshots > 10);

  a.dispatch(open.chat, tests::queued("last", "true"));
  a.wait_action("chat/turnStarted", open.chat, [](const json::value& e) {
    return json::string_member(e.at("action"), "queuedMessageId") == "last";
  });
  a.wait_action("chat/turnComplete", open.chat);
  for (auto* client : {&a, &b, &*c})
    client->catch_up(session);
  for (auto* client : {&a, &b, &*c}) {
    client->request("ping"); // the others' last words too
    client->fold();
  }
  // Nothing was told too little, whether the state shows it or not.
  const auto from = *c->numbers.begin();
  for (const auto n : a.numbers)
    if (n > from && n <= c->last_seq && !excused.count(n))
      CHECK_MESSAGE(c->numbers.count(n) == 1, "action " << n);
  tests::ahp_peer fresh(hub.url(), named("fresh"));
  fresh.initialize();
  for (auto* client : {&a, &b, &*c})
    for (const auto& [uri, document] : client->documents)
      check_same(client == &a   ? "a"
                 : client == &b ? "b"
                                : "c",
                 uri, document.state, fresh.subscribe(uri));
}

TEST_CASE("what happened while a client was away is in the answer, with its origin") {
  tests::hub_process hub;
  folding_client a(hub, "a");
  const auto open = tests::open_session(a, session);
  std::optional<folding_client> b(std::in_place, hub, "b");
  b->follow(open.chat);
  b->follow(session);
  tests::folded held = *b;
  b->close();
  const auto n = a.dispatch(open.chat, tests::turn_started("t1", "true"));
  tests::wait_turn_end(a, open.chat, "t1");
  a.request("createChat", {{"channel", session}, {"chat", "ahp-chat:/gone"}});
  a.request("disposeChat", {{"channel", "ahp-chat:/gone"}});

  held.documents["ahp-chat:/gone"] = {};
  b.emplace(hub, "b", held, held.last_seq);
  REQUIRE(b->resumed.at("type") == "replay");
  CHECK(b->resumed.at("missing") == json::value{"ahp-chat:/gone"});
  const auto& first = b->resumed.at("actions").at(0);
  CHECK(tests::type_of(first) == "chat/turnStarted");
  CHECK(first.at("origin") == json::value{{"clientId", "a"}, {"clientSeq", n}});
  check_same("b", open.chat, b->documents.at(open.chat).state, a.subscribe(open.chat));
  tests::run_turn(a, open.chat, "t2", "true"); // and it hears on
  tests::wait_turn_end(*b, open.chat, "t2");
}

TEST_CASE("a channel that was made anew meanwhile is not replayed into the old one") {
  tests::hub_process hub;
  folding_client a(hub, "a");
  tests::open_session(a, session);
  folding_client b(hub, "b");
  b.follow(session);
  tests::folded held = b;
  b.close();
  a.request("disposeSession", {{"channel", session}});
  tests::open_session(a, session);
  folding_client back(hub, "b", held, held.last_seq);
  REQUIRE(back.resumed.at("type") == "snapshot");
  check_same("b", session, back.documents.at(session).state, a.subscribe(session));
}

TEST_CASE("a restarted hub knows no client, and its numbers are above what any client saw") {
  tests::hub_process hub;
  folding_client a(hub, "a");
  const auto open = tests::open_session(a, session);
  a.follow(session);
  a.catch_up(session);
  hub.kill();
  hub.start();
  tests::ahp_peer back(hub.url(), named("a"));
  const auto refused = back.request_error(
    "reconnect",
    {{"clientId", "a"}, {"lastSeenServerSeq", a.last_seq}, {"subscriptions", {session}}});
  CHECK(json::string_member(refused, "message")->find("initialize") != std::string::npos);
  const auto result = back.initialize({session, open.chat});
  CHECK(result.at("serverSeq").as_int64() >= a.last_seq);
  CHECK(resources(result.at("snapshots")) == std::vector<std::string>{session, open.chat});
}

TEST_CASE("snapshots of one answer are all true at its number") {
  tests::hub_process hub(eager());
  folding_client a(hub, "a");
  const auto open = tests::open_session(a, session);
  a.dispatch(open.chat, tests::turn_started("t1", chatter));
  for (int i = 0; i < 30; ++i) {
    tests::ahp_peer peer(hub.url(), named("p" + std::to_string(i)));
    const auto result = peer.initialize({"ahp-root://", session, open.chat});
    const auto seq = result.at("serverSeq");
    for (const auto& shot : result.at("snapshots").as_array())
      CHECK(shot.at("fromSeq") == seq);
    const auto after = peer.dispatch(open.chat, {{"type", "chat/draftChanged"}});
    peer.wait_action("chat/draftChanged", open.chat, [&](const json::value& e) {
      const auto* origin = json::member(e, "origin");
      return origin && origin->at("clientId").as_string() == "p" + std::to_string(i) &&
             origin->at("clientSeq") == after;
    });
    for (const auto& e : peer.actions(""))
      CHECK(e.at("serverSeq").as_int64() > seq.as_int64());
  }
}

TEST_CASE("an active client that comes back stays one where it says so, and nowhere else") {
  tests::hub_process hub;
  folding_client a(hub, "a");
  tests::open_session(a, "ahp-session:/kept");
  tests::open_session(a, "ahp-session:/left");
  std::optional<folding_client> b(std::in_place, hub, "b");
  for (const char* uri : {"ahp-session:/kept", "ahp-session:/left"}) {
    b->follow(uri);
    b->dispatch(uri, {{"type", "session/activeClientSet"},
                      {"activeClient", {{"clientId", "b"}, {"tools", json::array{}}}}});
    b->request("ping"); // sends it
    a.wait_action("session/activeClientSet", uri);
  }
  b->fold();
  tests::folded held = *b;
  b->close();
  held.documents.erase("ahp-session:/left");
  b.emplace(hub, "b", held, held.last_seq);
  const auto removed = a.wait_action("session/activeClientRemoved");
  CHECK(removed.at("channel") == "ahp-session:/left");
  a.request("ping");
  CHECK(a.actions("session/activeClientRemoved").size() == 1);
  CHECK(a.subscribe("ahp-session:/kept").at("activeClients").as_array().size() == 1);
}

TEST_CASE("a client that stops reading costs its budget and comes back by snapshot") {
  tests::hub_process hub(eager());
  folding_client a(hub, "a");
  const auto open = tests::open_session(a, session);
  auto slow = std::make_unique<folding_client>(hub, "slow");
  slow->follow(open.chat);
  slow->follow(session);
  tests::folded held = *slow; // and from here on it reads nothing
  for (int i = 0; i < 60; ++i)
    tests::run_turn(a, open.chat, "t" + std::to_string(i), "yes 0123456789 | head -c 1000000");
  const auto code = slow->wait_closed().code;
  CHECK((code == 1013 || code == 1006)); // a frame that is half out leaves no room for a reason
  folding_client back(hub, "slow", held, held.last_seq);
  REQUIRE(back.resumed.at("type") == "snapshot");
  a.catch_up(session);
  back.request("ping");
  back.fold();
  check_same("slow", open.chat, back.documents.at(open.chat).state, a.subscribe(open.chat));
}

TEST_CASE("a wrong reconnect is told which param is wrong") {
  tests::hub_process hub;
  folding_client a(hub, "a");
  tests::ahp_peer peer(hub.url(), named("a"));
  const auto says = [&](json::object params, const std::string& word) {
    const auto error = peer.request_error("reconnect", std::move(params));
    INFO(json::serialize(error));
    CHECK(error.at("code") == -32602);
    CHECK(json::string_member(error, "message")->find(word) != std::string::npos);
  };
  const json::array none;
  says({{"lastSeenServerSeq", 1}, {"subscriptions", none}}, "clientId");
  says({{"clientId", std::string(300, 'x')}, {"lastSeenServerSeq", 1}, {"subscriptions", none}},
       "clientId");
  says({{"clientId", "a"}, {"subscriptions", none}}, "lastSeenServerSeq");
  says({{"clientId", "a"}, {"lastSeenServerSeq", -1}, {"subscriptions", none}},
       "lastSeenServerSeq");
  says({{"clientId", "a"}, {"lastSeenServerSeq", "1"}, {"subscriptions", none}},
       "lastSeenServerSeq");
  says({{"clientId", "a"}, {"lastSeenServerSeq", 1}}, "subscriptions");
  says({{"clientId", "a"}, {"lastSeenServerSeq", 1}, {"subscriptions", {1}}}, "subscriptions");
  CHECK(
    peer
      .request("reconnect",
               {{"clientId", "a"}, {"lastSeenServerSeq", 1'000'000'000}, {"subscriptions", none}})
      .at("type") == "snapshot"); // from another life of this host
  const auto error = peer.request_error(
    "reconnect", {{"clientId", "b"}, {"lastSeenServerSeq", 1}, {"subscriptions", none}});
  CHECK(error.at("code") == -32600);
}
