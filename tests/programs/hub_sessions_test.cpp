// Sessions and chats of the real hub: making, listing, marking, paging and ending them.

#include "tests/programs/hub_support.hpp"

#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/status.hpp"
#include "protocol/jsonrpc/message.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>

using namespace ahpd;

namespace {

struct sessions_fixture : tests::marked_hub {
  tests::ahp_peer peer;

  sessions_fixture() : peer(hub.url()) { peer.initialize({"ahp-root://"}); }

  json::value refused(const std::string& method, json::object params, int code) {
    const auto error = peer.request_error(method, std::move(params));
    CHECK_MESSAGE(error.at("code") == code, method << ": " << json::serialize(error));
    return error;
  }
  json::array list() { return peer.request("listSessions").at("items").as_array(); }
  void restart() {
    peer.close();
    hub.stop();
    hub.start();
  }
};

struct fresh_peer : tests::ahp_peer {
  explicit fresh_peer(const tests::hub_process& hub)
      : ahp_peer(hub.url(), [] {
          tests::peer_options how;
          how.client_id = "fresh";
          return how;
        }()) {
    initialize();
  }
};

} // namespace

TEST_CASE_FIXTURE(sessions_fixture, "a made session is told to all who follow the root") {
  fresh_peer other(hub);
  const auto before = other.subscribe("ahp-root://").at("activeSessions");
  CHECK(before == 0);
  CHECK(peer.request("createSession", {{"channel", "ahp-session:/s-5c1d"}, {"provider", "shell"}})
          .is_null());
  const auto added = other.wait_notification("root/sessionAdded").at("summary");
  CHECK(added.at("resource") == "ahp-session:/s-5c1d");
  CHECK(added.at("provider") == "shell");
  CHECK(added.at("title") == "New session");
  CHECK(added.at("status") == 1);
  CHECK(added.at("createdAt") == added.at("modifiedAt"));
  const auto count = other.wait_action("root/activeSessionsChanged");
  CHECK(count.at("action").at("activeSessions") == 1);

  const auto state = peer.subscribe("ahp-session:/s-5c1d");
  CHECK(state.at("lifecycle") == "ready");
  CHECK(state.at("workingDirectories").at(0) == json::value("file://" + hub.folder()));
  const auto chat = peer.subscribe(std::string(state.at("defaultChat").as_string()));
  CHECK(chat.at("resource") == state.at("defaultChat"));
  CHECK(chat.at("turns").as_array().empty());
  CHECK(state.at("chats").at(0).at("resource") == state.at("defaultChat"));

  CHECK(peer.request("disposeSession", {{"channel", "ahp-session:/s-5c1d"}}).is_null());
  CHECK(other.wait_notification("root/sessionRemoved").at("session") == "ahp-session:/s-5c1d");
  CHECK(other.wait_action("root/activeSessionsChanged").at("action").at("activeSessions") == 0);
  CHECK(list().empty());
}

TEST_CASE_FIXTURE(sessions_fixture,
                  "a session that cannot be made or found is refused by its code") {
  tests::open_session(peer, "ahp-session:/one");
  const json::object again{{"channel", "ahp-session:/one"}, {"provider", "shell"}};
  refused("createSession", again, ahp::session_already_exists);
  refused("createSession", {{"channel", "shell:/one"}}, ahp::session_already_exists);
  refused("createSession", {{"channel", "ahp-session:/two"}, {"provider", "none"}},
          ahp::provider_not_found);
  refused("resolveSessionConfig", {{"provider", "none"}}, ahp::provider_not_found);
  for (const char* uri : {"ahp-session:/none", "shell:/none"}) {
    refused("subscribe", {{"channel", uri}}, ahp::session_not_found);
    refused("disposeSession", {{"channel", uri}}, ahp::session_not_found);
    refused("createChat", {{"channel", uri}, {"chat", "ahp-chat:/c"}}, ahp::session_not_found);
  }
  for (const char* uri : {"ahp-chat:/none", "ahp-terminal:/none", "x-other:/none"})
    refused("subscribe", {{"channel", uri}}, ahp::not_found);
  for (const char* uri : {"disposeChat", "fetchTurns"})
    refused(uri, {{"channel", "ahp-chat:/none"}}, ahp::not_found);
  for (const std::string& uri :
       {std::string("ahp-root://"), std::string("ahp-chat:/x"), std::string("x-a:/b"),
        std::string("ahp-session:"), std::string("ahp-session:/"), std::string("ahp-session:/a/b"),
        std::string("ahp-session:/a b"), std::string("no scheme"), std::string(),
        "ahp-session:/" + std::string(300, 'x'), "ahp-session:/" + std::string(3000, 'x')})
    refused("createSession", {{"channel", uri}, {"provider", "shell"}}, jsonrpc::invalid_params);
  CHECK(list().size() == 1);
}

TEST_CASE_FIXTURE(sessions_fixture,
                  "turns run in the session's first folder, which must be there") {
  std::filesystem::create_directories(hub.folder() + "/a b");
  const json::object there{{"workingDirectories", {"file://" + hub.folder() + "/a%20b"}}};
  const auto session = tests::open_session(peer, "ahp-session:/there", there);
  tests::run_turn(peer, session.chat, "t1", "pwd");
  CHECK(tests::text_of(tests::call_result(peer, "t1").at("content"), "stdout") ==
        hub.folder() + "/a b\n");
  std::filesystem::remove(hub.folder() + "/a b");
  tests::run_turn(peer, session.chat, "t2", "pwd");
  CHECK(tests::type_of(peer.actions("", session.chat).back()) == "chat/error");
  for (const json::value& folders :
       {json::value("file://" + hub.folder() + "/none"), json::value("file:///etc/passwd"),
        json::value("http://example.org/"), json::value("file://relative"), json::value(5),
        json::value("i:\\"), json::value("file:?")}) {
    const auto error =
      refused("createSession",
              {{"channel", "ahp-session:/bad"}, {"workingDirectories", json::array{folders}}},
              jsonrpc::invalid_params);
    CHECK(error.at("message").as_string().find("workingDirectories") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(sessions_fixture, "a session is named by its first message, then by its people") {
  const auto session = tests::open_session(peer, "ahp-session:/one");
  tests::run_turn(peer, session.chat, "t1", "echo first\necho second line");
  const auto titled = peer.actions("session/titleChanged", session.uri);
  REQUIRE(titled.size() == 1);
  CHECK(titled[0].at("action").at("title") == "echo first");
  tests::run_turn(peer, session.chat, "t2", "echo another");
  CHECK(peer.actions("session/titleChanged").size() == 1);
  peer.dispatch(session.uri, {{"type", "session/titleChanged"}, {"title", "Mine"}});
  peer.wait_action("session/titleChanged");
  peer.wait_notification("root/sessionSummaryChanged", [](const json::value& p) {
    return json::string_member(p.at("changes"), "title") == "Mine";
  });

  const auto long_one = tests::open_session(peer, "ahp-session:/two");
  std::string message = "# ";
  for (int i = 0; i < 100; ++i)
    message += "ü";
  tests::run_turn(peer, long_one.chat, "t1", message);
  const auto cut =
    peer.actions("session/titleChanged", long_one.uri).at(0).at("action").at("title");
  CHECK(cut.as_string().size() < 70);
  CHECK(cut.as_string().ends_with("ü…"));
}

TEST_CASE_FIXTURE(sessions_fixture, "marks, titles and drafts outlive the hub") {
  const auto session = tests::open_session(peer, "ahp-session:/one");
  peer.dispatch(session.uri, {{"type", "session/titleChanged"}, {"title", "Kept"}});
  peer.dispatch(session.uri, {{"type", "session/isReadChanged"}, {"isRead", true}});
  peer.dispatch(session.uri, {{"type", "session/isArchivedChanged"}, {"isArchived", true}});
  peer.wait_notification("root/sessionSummaryChanged", [](const json::value& p) {
    return json::member(p.at("changes"), "status") && p.at("changes").at("status") == (1 | 32 | 64);
  });
  peer.dispatch(session.chat, {{"type", "chat/draftChanged"},
                               {"draft", {{"text", "half a"}, {"origin", {{"kind", "user"}}}}}});
  peer.wait_action("chat/draftChanged");
  hub.kill();
  hub.start();
  fresh_peer after(hub);
  const auto row = after.request("listSessions").at("items").at(0);
  CHECK(row.at("title") == "Kept");
  CHECK(row.at("status") == (1 | 32 | 64));
  CHECK(after.subscribe(session.uri).at("title") == "Kept");
  CHECK(after.subscribe(session.chat).at("draft").at("text") == "half a");
  after.dispatch(session.uri, {{"type", "session/isReadChanged"}, {"isRead", false}});
  after.wait_action("session/isReadChanged");
  after.dispatch(session.chat, {{"type", "chat/draftChanged"}});
  after.wait_action("chat/draftChanged");
  CHECK_FALSE(json::member(after.subscribe(session.chat), "draft"));
  CHECK(after.subscribe(session.uri).at("status") == (1 | 64));
}

TEST_CASE_FIXTURE(sessions_fixture, "chats are added, run beside each other and are removed") {
  const auto session = tests::open_session(peer, "ahp-session:/one");
  const json::object make{
    {"channel", session.uri},
    {"chat", "ahp-chat:/more"},
    {"initialMessage", {{"text", "echo first"}, {"origin", {{"kind", "user"}}}}}};
  CHECK(peer.request("createChat", make).is_null());
  const auto added = peer.actions("session/chatAdded", session.uri);
  REQUIRE_MESSAGE(added.size() == 1, "chatAdded comes before the response");
  CHECK(added[0].at("action").at("summary").at("resource") == "ahp-chat:/more");
  refused("createChat", make, ahp::already_exists);

  peer.subscribe("ahp-chat:/more");
  tests::run_turn(peer, session.chat, "t1", "true");
  const auto queue_end = peer.request("fetchTurns", {{"channel", "ahp-chat:/more"}});
  CHECK(queue_end.is_object());
  peer.dispatch("ahp-chat:/more", tests::queued("q1", "echo up; sleep 1000"));
  peer.wait_action("chat/toolCallContentChanged", "ahp-chat:/more");
  CHECK(peer.subscribe("ahp-chat:/more").at("turns").at(0).at("message").at("text") ==
        "echo first");
  CHECK_FALSE(programs().empty());
  CHECK(peer.request("disposeChat", {{"channel", "ahp-chat:/more"}}).is_null());
  CHECK(peer.actions("session/chatRemoved", session.uri).size() == 1);
  refused("disposeChat", {{"channel", "ahp-chat:/more"}}, ahp::not_found);
  refused("subscribe", {{"channel", "ahp-chat:/more"}}, ahp::not_found);
  wait_no_programs();
  tests::run_turn(peer, session.chat, "t2", "true");
  CHECK(peer.subscribe(session.uri).at("chats").as_array().size() == 1);
}

TEST_CASE_FIXTURE(sessions_fixture, "a chat's URI belongs to the session that made it") {
  const auto one = tests::open_session(peer, "ahp-session:/one");
  peer.request("createChat", {{"channel", one.uri}, {"chat", "ahp-chat:/mine"}});
  peer.subscribe("ahp-chat:/mine");
  tests::run_turn(peer, "ahp-chat:/mine", "t1", "echo kept");
  restart(); // now only the store knows that chat
  fresh_peer after(hub);
  const auto two = tests::open_session(after, "ahp-session:/two");
  const auto error =
    after.request_error("createChat", {{"channel", two.uri}, {"chat", "ahp-chat:/mine"}});
  CHECK(error.at("code") == ahp::already_exists);
  const auto first = after.begin("createChat", {{"channel", two.uri}, {"chat", "ahp-chat:/twice"}});
  const auto second =
    after.begin("createChat", {{"channel", two.uri}, {"chat", "ahp-chat:/twice"}});
  CHECK(after.answer(first).as_object().contains("result"));
  CHECK(after.answer(second).at("error").at("code") == ahp::already_exists);
  CHECK(after.subscribe("ahp-chat:/mine").at("turns").as_array().size() == 1);
  CHECK(after.subscribe(one.uri).at("chats").as_array().size() == 2);
  CHECK(after.subscribe(two.uri).at("chats").as_array().size() == 2);
}

TEST_CASE_FIXTURE(sessions_fixture, "a disposed session takes its programs with it") {
  const auto session = tests::open_session(peer, "ahp-session:/one");
  peer.dispatch(session.chat, tests::turn_started("t1", "trap '' TERM; setsid sleep 1000 & "
                                                        "echo up; sleep 1000; sleep 1000"));
  peer.wait_action("chat/toolCallContentChanged");
  CHECK_FALSE(programs().empty());
  const auto once = peer.begin("disposeSession", {{"channel", session.uri}});
  const auto twice = peer.begin("disposeSession", {{"channel", session.uri}});
  CHECK(peer.answer(once).as_object().contains("result"));
  CHECK(peer.answer(twice).at("error").at("code") == ahp::session_not_found);
  wait_no_programs();
  refused("subscribe", {{"channel", session.uri}}, ahp::session_not_found);
  refused("subscribe", {{"channel", session.chat}}, ahp::session_not_found);
  const auto again = tests::open_session(peer, session.uri);
  CHECK(peer.subscribe(again.chat).at("turns").as_array().empty());
}

TEST_CASE_FIXTURE(sessions_fixture, "what turns leave in the background ends with their session") {
  const tests::lifeline one(hub.folder() + "/one"), two(hub.folder() + "/two");
  const std::string program = "(setsid sleep 1000 >/dev/null 2>&1 &)";
  const auto session = tests::open_session(peer, "ahp-session:/one");
  const auto other = tests::open_session(peer, "ahp-session:/two");
  tests::run_turn(peer, session.chat, "t1", one.take() + program);
  tests::run_turn(peer, other.chat, "t1", two.take() + program);
  // A later turn's cancelling is not meant for them.
  peer.dispatch(session.chat, tests::turn_started("t2", "echo up; exec sleep 1000"));
  peer.wait_action("chat/toolCallContentChanged", session.chat);
  peer.dispatch(session.chat, {{"type", "chat/turnCancelled"}, {"turnId", "t2"}, {"duration", 1}});
  tests::run_turn(peer, session.chat, "t3", "true"); // comes when t2's programs are gone
  CHECK(one.held());
  peer.request("disposeSession", {{"channel", session.uri}});
  one.wait_let_go();
  CHECK(two.held());
  peer.request("disposeSession", {{"channel", other.uri}});
  two.wait_let_go();
}

TEST_CASE_FIXTURE(sessions_fixture, "the list of sessions is paged, the newest first") {
  for (int i = 0; i < 5; ++i)
    peer.request("createSession", {{"channel", "ahp-session:/s" + std::to_string(i)}});
  const auto touched = tests::shell_session{"ahp-session:/s2", {}};
  const std::string chat(peer.subscribe(touched.uri).at("defaultChat").as_string());
  peer.subscribe(chat);
  peer.dispatch(chat, [] {
    auto turn = tests::turn_started("t1", "true");
    turn["startedAt"] = "2126-11-30T10:00:05.000Z";
    return turn;
  }());
  tests::wait_turn_end(peer, chat, "t1");
  peer.wait_notification("root/sessionSummaryChanged", [](const json::value& p) {
    return json::member(p.at("changes"), "status") && p.at("changes").at("status") == 1;
  });

  std::vector<std::string> seen;
  json::object asked{{"limit", 2}};
  for (int pages = 1;; ++pages) {
    REQUIRE(pages <= 3);
    const auto page = peer.request("listSessions", asked);
    CHECK(page.at("items").as_array().size() == (pages < 3 ? 2 : 1));
    for (const auto& row : page.at("items").as_array())
      seen.emplace_back(row.at("resource").as_string());
    if (!json::member(page, "nextCursor"))
      break;
    asked["cursor"] = page.at("nextCursor");
  }
  CHECK(seen.size() == 5);
  CHECK(std::set<std::string>(seen.begin(), seen.end()).size() == 5);
  CHECK(seen.front() == touched.uri);
  CHECK(list().size() == 5);
  for (const char* cursor : {"nonsense", "0", "t1", "%00"})
    refused("listSessions", {{"cursor", cursor}}, jsonrpc::invalid_params);
}

TEST_CASE_FIXTURE(sessions_fixture, "a client that asked for a few turns pages to the older ones") {
  const auto session = tests::open_session(peer, "ahp-session:/one");
  for (int i = 1; i <= 6; ++i)
    tests::run_turn(peer, session.chat, "t" + std::to_string(i), "true");
  fresh_peer reader(hub);
  const auto state =
    reader.request("subscribe", {{"channel", session.chat}, {"view", {{"turns", 2}}}})
      .at("snapshot")
      .at("state");
  REQUIRE(state.at("turns").as_array().size() == 2);
  CHECK(state.at("turns").at(0).at("id") == "t5");
  const auto result = reader.request(
    "fetchTurns", {{"channel", session.chat}, {"cursor", state.at("turnsNextCursor")}});
  CHECK(result == json::object{});
  const auto loaded = reader.actions("chat/turnsLoaded", session.chat);
  REQUIRE_MESSAGE(loaded.size() == 1, "turnsLoaded comes before the response");
  CHECK(loaded[0].at("action").at("turns").as_array().size() == 4);
  CHECK_FALSE(json::member(loaded[0].at("action"), "turnsNextCursor"));
  for (const char* cursor : {"nonsense", "t", "t-1", "t1x", "t99999999999999999999"}) {
    const auto error =
      reader.request_error("fetchTurns", {{"channel", session.chat}, {"cursor", cursor}});
    CHECK_MESSAGE(error.at("code") == jsonrpc::invalid_params, cursor);
  }
  const auto none =
    reader.request("subscribe", {{"channel", session.chat}, {"view", {{"turns", 0}}}})
      .at("snapshot")
      .at("state");
  CHECK(none.at("turns").as_array().empty());
  CHECK(json::member(none, "turnsNextCursor"));
  CHECK(reader.subscribe(session.chat).at("turns").as_array().size() == 6);
}

TEST_CASE_FIXTURE(sessions_fixture, "a long chat is whole again for whoever pages through it") {
  const auto session = tests::open_session(peer, "ahp-session:/one");
  constexpr int count = 260;
  for (int i = 1; i < count; ++i)
    peer.dispatch(session.chat, tests::queued("q" + std::to_string(i), "true"));
  for (int i = 1; i < count; ++i)
    peer.wait_action("chat/turnComplete", session.chat);
  tests::run_turn(peer, session.chat, "last", "echo last");
  restart();
  fresh_peer reader(hub);
  auto state = reader.subscribe(session.chat);
  std::set<std::string> ids;
  for (const auto& turn : state.at("turns").as_array())
    ids.emplace(turn.at("id").as_string());
  CHECK(ids.size() < count);
  CHECK(state.at("turns").as_array().back().at("id") == "last");
  auto cursor = state.at("turnsNextCursor");
  for (int pages = 0; !cursor.is_null() && pages < 10; ++pages) {
    reader.request("fetchTurns", {{"channel", session.chat}, {"cursor", cursor}});
    const auto action = reader.wait_action("chat/turnsLoaded").at("action");
    for (const auto& turn : action.at("turns").as_array())
      CHECK(ids.emplace(turn.at("id").as_string()).second);
    const auto* next = json::member(action, "turnsNextCursor");
    cursor = next ? *next : json::value(nullptr);
  }
  CHECK(ids.size() == count);
  CHECK(reader.subscribe(session.chat).at("turns").as_array().size() == count);
}

TEST_CASE("the session config that is asked for is resolved to its schema and values") {
  tests::hub_process hub({{"--plugin", "@ahpd/computer"}, {}, {}});
  tests::ahp_peer peer(hub.url());
  peer.initialize();
  const auto plain = peer.request("resolveSessionConfig");
  CHECK(plain.at("schema").at("type") == "object");
  CHECK(plain.at("schema").at("properties").at("computer").at("type") == "string");
  CHECK(plain.at("values").at("computer") == "");
  const auto given = peer.request(
    "resolveSessionConfig",
    {{"provider", "shell"}, {"config", {{"computer", "computer://box"}, {"other", 1}}}});
  CHECK(given.at("values") == json::object{{"computer", "computer://box"}});
  for (const char* computer : {"nonsense", "computer://", "computer://a/b", "ssh://box"}) {
    const auto error = peer.request_error(
      "createSession", {{"channel", "ahp-session:/one"}, {"config", {{"computer", computer}}}});
    CHECK_MESSAGE(error.at("code") == jsonrpc::invalid_params, computer);
  }
}
