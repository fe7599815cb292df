#include "tests/actors/hub_fixture.hpp"

#include "actors/hub/engines/acp.hpp"
#include "protocol/ahp/uris.hpp"

#include <filesystem>
#include <fstream>

using namespace ahpd;
using namespace ahpd::tests;

namespace {

const std::string session = "ahp-session:/s";
const std::string chat = ahp::default_chat_uri(session);

json::value turn(const std::string& id, const std::string& text) {
  return {{"type", "chat/turnStarted"},
          {"turnId", id},
          {"startedAt", "2026-01-01T00:00:00.000Z"},
          {"message", {{"text", text}, {"origin", {{"kind", "user"}}}}}};
}

/// Processes whose environment says that a hub of this process started them.
std::size_t running() {
  std::size_t n = 0;
  for (const auto& p : std::filesystem::directory_iterator("/proc")) {
    std::ifstream in(p.path() / "environ", std::ios::binary);
    const std::string env{std::istreambuf_iterator<char>(in), {}};
    if (env.find("AHPD_TEST_HUB=" + std::to_string(getpid()) + '\0') != std::string::npos)
      ++n;
  }
  return n;
}

std::size_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// A client that follows the root, the session and its chat while a turn runs that ends only when
/// killed.
loop_client busy_client(live_hub& hub) {
  auto c = hub.connect();
  c.result("subscribe", {});
  c.result("createSession", {{"channel", session}});
  c.result("subscribe", {{"channel", session}});
  c.result("subscribe", {{"channel", chat}});
  c.dispatch(chat, turn("t1", "(setsid sleep 300 &); echo ready; sleep 300"));
  c.wait_action("chat/toolCallContentChanged", chat);
  return c;
}

/// The hub serves: a new client makes a session, runs a command in it and ends it.
void check_serves(live_hub& hub) {
  auto c = hub.connect("other");
  const std::string s = "ahp-session:/other";
  c.result("createSession", {{"channel", s}});
  const auto where = ahp::default_chat_uri(s);
  c.result("subscribe", {{"channel", where}});
  c.dispatch(where, turn("o1", "echo fine"));
  const auto done = c.wait_action("chat/toolCallComplete", where);
  CHECK(done.at("params").at("action").at("result").at("content").at(0).at("text") == "fine\n");
  c.wait_action("chat/turnComplete", where);
  c.result("disposeSession", {{"channel", s}});
  c.events.on_closed({});
}

void kill(const caf::actor& actor) {
  REQUIRE(actor);
  caf::anon_send_exit(actor, caf::exit_reason::kill);
}

/// The cut turn ends for its follower with an error, nothing of it runs, and the next turn works.
void check_cut_and_next(loop_client& c) {
  const auto end = c.wait_action("chat/error", chat);
  CHECK(end.at("params").at("action").at("turnId") == "t1");
  CHECK(running() == 0);
  c.dispatch(chat, turn("t2", "echo again"));
  const auto done = c.wait_action("chat/toolCallComplete", chat);
  CHECK(done.at("params").at("action").at("result").at("content").at(0).at("text") == "again\n");
  c.wait_action("chat/turnComplete", chat);
}

} // namespace

TEST_CASE("a killed agent ends its turn with an error, and nothing of it runs on") {
  live_hub hub;
  auto c = busy_client(hub);
  CHECK(running() >= 1);
  kill(hub.agents.front());
  check_cut_and_next(c);
  check_serves(hub);
}

TEST_CASE("a killed chat comes back for its followers") {
  live_hub hub;
  auto c = busy_client(hub);
  kill(hub.host->channels.owner_of(chat));
  check_cut_and_next(c);
  check_serves(hub);
}

TEST_CASE("a killed session comes back with its chats") {
  live_hub hub;
  auto c = busy_client(hub);
  kill(hub.host->channels.owner_of(session));
  check_cut_and_next(c);
  c.dispatch(session, {{"type", "session/titleChanged"}, {"title", "still here"}});
  c.wait_action("session/titleChanged", session);
  check_serves(hub);
}

TEST_CASE("the killed keeper of sessions comes back and opens them again") {
  live_hub hub;
  auto c = busy_client(hub);
  kill(hub.host->sessions->get());
  check_cut_and_next(c);
  check_serves(hub);
}

TEST_CASE("a killed catalogue comes back, and its followers hear on") {
  live_hub hub;
  auto c = busy_client(hub);
  const auto old = hub.host->catalogue->get();
  kill(old);
  // Wait for the successor by its address; a session's coming is then told to who followed before.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (hub.host->catalogue->get() == old && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  auto other = hub.connect("other");
  other.result("createSession", {{"channel", "ahp-session:/new"}});
  c.socket->wait("root/sessionAdded", [](const json::value& f) {
    return f.as_object().if_contains("method") && f.at("method") == "root/sessionAdded" &&
           f.at("params").at("summary").at("resource") == "ahp-session:/new";
  });
  check_serves(hub);
}

TEST_CASE("a killed connection closes its socket and leaves no follower behind") {
  live_hub hub;
  auto c = busy_client(hub);
  const auto doc = hub.host->channels.find(chat);
  CHECK(hub.host->order->followers(*doc) == 1);
  // The connection is the only actor that nobody else has a handle of: it ends with its socket.
  c.events.on_closed({});
  CHECK(c.socket->wait_closed());
  auto other = hub.connect("other");
  other.result("subscribe", {{"channel", chat}});
  CHECK(hub.host->order->followers(*doc) == 1);
  CHECK(running() >= 1); // the turn goes on without a client
  other.result("disposeSession", {{"channel", session}});
}

TEST_CASE("an active client whose connection is lost stays one for a while") {
  live_hub hub([](hub::services& host) { host.return_grace = std::chrono::milliseconds(1); });
  auto c = busy_client(hub);
  auto other = hub.connect("other");
  other.result("subscribe", {{"channel", session}});
  other.dispatch(session, {{"type", "session/activeClientSet"},
                           {"activeClient", {{"clientId", "other"}, {"tools", json::array{}}}}});
  c.wait_action("session/activeClientSet", session);
  auto again = hub.connect("other"); // the same client on a second connection keeps it one
  again.result("subscribe", {{"channel", session}});
  other.events.on_closed({});
  CHECK(other.socket->wait_closed());
  c.dispatch(session, {{"type", "session/titleChanged"}, {"title", "after"}});
  c.wait_action("session/titleChanged", session);
  again.events.on_closed({});
  c.wait_action("session/activeClientRemoved", session);
  std::size_t removed = 0;
  for (const auto& f : c.socket->frames())
    removed += json::serialize(f).find("session/activeClientRemoved") != std::string::npos;
  CHECK(removed == 1);
}

TEST_CASE("the store's end is the hub's end") {
  live_hub hub;
  auto c = busy_client(hub);
  kill(hub.host->store->get());
  hub.wait_gone();
}

TEST_CASE("a hub that ends leaves no process and no descriptor") {
  const auto before = descriptors();
  for (int i = 0; i < 3; ++i) {
    live_hub hub;
    busy_client(hub);
  }
  CHECK(running() == 0);
  CHECK(descriptors() == before);
}

TEST_CASE("an ACP server that is gone is forgotten, with what it never answered") {
  // It greets, opens a session, takes a prompt, and answers nothing more.
  const std::string server = R"(
    read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
    read -r line; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'
    read -r line; echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s",
      "update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"up"}}}}' |
      tr -d '\n'; echo
    exec cat >/dev/null)";
  std::weak_ptr<runtimes::place> place; // of its own for this test; a server holds it
  {
    caf::actor agent;
    live_hub hub([&](hub::services& host) {
      config::acp_agent what;
      what.id = "acp";
      what.command = "sh";
      what.args = {"-c", server};
      auto engine = hub::acp_engine(what);
      engine.spawn = [&agent, spawn = engine.spawn](caf::actor_system& s, hub::agent_context c) {
        return agent = spawn(s, std::move(c));
      };
      host.engines.push_back(engine);
      place = host.this_host;
    });
    auto c = hub.connect();
    c.result("createSession", {{"channel", session}, {"provider", "acp"}});
    c.result("subscribe", {{"channel", chat}});
    c.dispatch(chat, turn("t1", "hello"));
    c.wait_action("chat/responsePart", chat);
    SUBCASE("its session is disposed of") {
      c.result("disposeSession", {{"channel", session}});
    }
    SUBCASE("its actor is killed") {
      kill(agent);
      c.wait_action("chat/error", chat);
    }
    SUBCASE("the hub ends") {}
    agent = nullptr;
  }
  CHECK(place.expired());
}

TEST_CASE("a turn is ended for good by the next start when its hub was cut off") {
  config::store db(":memory:");
  db.put_session({"s", session, 1, 1, json::object{{"provider", "shell"}, {"title", "x"}}});
  db.put_chat({chat, "s", 0, json::object{{"resource", chat}, {"title", "x"}, {"status", 8}}});
  db.append_turn(chat, json::object{{"id", "t0"}, {"state", "complete"}});
  db.put_active_turn({chat, json::object{{"id", "t1"},
                                         {"startedAt", "2026-01-01T00:00:00.000Z"},
                                         {"message", json::object{{"text", "sleep"}}},
                                         {"responseParts", json::array{}}}});
  db.put_run({"m", "box", chat});
  const auto left = hub::end_cut_turns(db);
  REQUIRE(left.size() == 1);
  CHECK(left[0].place == "box");
  CHECK(db.active_turns().empty());
  CHECK(db.runs().size() == 1); // until it was swept
  const auto turns = db.turns_of(chat, 10);
  REQUIRE(turns.size() == 2);
  CHECK(turns[1].turn.at("state") == "error");
  CHECK(turns[1].turn.at("responseParts").as_array().back().at("error").at("errorType") ==
        "hostStopped");
  CHECK(db.chats_of("s")[0].state.at("status") == 2);
  CHECK(hub::end_cut_turns(db).size() == 1); // once is enough
  CHECK(db.turns_of(chat, 10).size() == 2);
}
