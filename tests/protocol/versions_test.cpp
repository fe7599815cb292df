// Which version a connection speaks, what all dialects have in common, and 0.9.

#include "tests/protocol/versions_support.hpp"

#include <initializer_list>
#include <vector>

namespace json = ahpd::json;
using namespace ahpd::ahp;
using namespace ahpd::tests;

namespace {

constexpr std::initializer_list<dialect> all_dialects{dialect::v1_0, dialect::v0_9, dialect::v0_8,
                                                      dialect::v0_7, dialect::v0_6};

std::string chosen(std::vector<std::string> offered) {
  static const char* const names[]{"1.0", "0.9", "0.8", "0.7", "0.6"};
  const auto v = negotiate(offered);
  return v ? v->version + " as " + names[static_cast<std::size_t>(v->speaks)] : "none";
}

} // namespace

TEST_CASE("the highest 1.x wins whatever the order, then the client's order among 0.9 to 0.6") {
  CHECK(chosen({"1.0.0", "0.9.0"}) == "1.0.0 as 1.0");
  CHECK(chosen({"0.6.0", "0.9.0", "1.0.0", "1.10.2", "1.9.9"}) == "1.10.2 as 1.0");
  CHECK(chosen({"2.0.0", "0.9.1", "0.9.3"}) == "0.9.1 as 0.9");
  CHECK(chosen({"0.8.0", "0.9.0"}) == "0.8.0 as 0.8");
  CHECK(chosen({"0.5.2", "0.6.4", "0.7.0", "0.8.0"}) == "0.6.4 as 0.6");
  CHECK(chosen({"0.7.0", "0.6.0", "0.9.0"}) == "0.7.0 as 0.7");
  CHECK(chosen({"0.10.0", "2.0.0", "0.5.2", "0.5.1", "0.0.6", "2.6.0"}) == "none");
  CHECK(chosen({}) == "none");
}

TEST_CASE("what is no MAJOR.MINOR.PATCH is skipped") {
  CHECK(chosen({"1.0", "01.0.0", "1.0.0-beta", "1.0.0 ", "v1.0.0", "1..0", "", "1.0.0.0",
                "99999999999.0.0", "+1.0.0", "1.00.0", "0.6"}) == "none");
  CHECK(chosen({"latest", "0.9.0"}) == "0.9.0 as 0.9");
}

TEST_CASE("the refusal names all ranges") {
  CHECK(json::serialize(supported_versions()) ==
        R"(["^1.0.0","^0.9.0","^0.8.0","^0.7.0","^0.6.0"])");
}

TEST_CASE("1.0 sees the model itself, without a copy") {
  const auto a = std::make_shared<const json::value>(
    parsed(R"({"type": "chat/isReadChanged", "isRead": true})"));
  const auto adapted = adapt_action(dialect::v1_0, a, nullptr);
  REQUIRE(adapted.size() == 1);
  CHECK(adapted.front() == a);
  const auto state = parsed(R"({"status": "recomputing", "turns": [], "movable": true})");
  CHECK(adapt_state(dialect::v1_0, channel_kind::chat, state) == state);
  const auto rows = parsed(R"({"items": [{"chats": []}], "_meta": {}})");
  CHECK(adapt_result(dialect::v1_0, "listSessions", rows) == rows);
  CHECK(adapt_result(dialect::v1_0, "initialize", rows) == rows);
}

TEST_CASE("what all versions say alike is never copied") {
  for (const auto speaks : all_dialects)
    for (const char* type :
         {"chat/delta", "chat/turnComplete", "chat/usage", "session/isReadChanged", "session/ready",
          "terminal/data", "terminal/exited", "x-ahpd-computers/added", "nobody/knowsThis"}) {
      CAPTURE(type);
      const auto a = std::make_shared<const json::value>(json::object{{"type", type}});
      const auto adapted = adapt_action(speaks, a, nullptr);
      REQUIRE(adapted.size() == 1);
      CHECK(adapted.front() == a);
      CHECK(has_action(speaks, type));
    }
}

TEST_CASE("no version sees an action that a later one added") {
  const std::vector<std::pair<dialect, std::vector<std::string>>> added{
    {dialect::v0_9,
     {"session/chatsReordered", "session/mcpServerBackgroundRequested", "chat/isReadChanged",
      "chat/isArchivedChanged", "chat/backgroundWorkSet", "chat/backgroundWorkRemoved",
      "chat/movableChanged", "chat/changesetsChanged", "chat/canvasesChanged"}},
    {dialect::v0_8,
     {"automation/createRequested", "automation/updateRequested", "automation/set",
      "automation/removed", "automationRun/lifecycleChanged", "automationRun/sessionSet",
      "automationRun/sessionRemoved", "automationRun/primarySessionChanged",
      "automationRun/cancelRequested", "chat/turnResume"}},
    {dialect::v0_7, {"session/workingDirectoryReplaced"}},
    {dialect::v0_6,
     {"session/workingDirectorySet", "session/workingDirectoryRemoved", "chat/workingDirectorySet",
      "chat/workingDirectoryRemoved"}},
  };
  for (const auto& [last, types] : added)
    for (const auto& type : types)
      for (const auto speaks : all_dialects) {
        CAPTURE(type);
        CAPTURE(static_cast<int>(speaks));
        const bool knows = speaks < last;
        CHECK(has_action(speaks, type) == knows);
        CHECK(seen(speaks, json::object{{"type", type}}).as_array().size() == (knows ? 1 : 0));
      }
}

TEST_CASE("odd shapes pass through every dialect") {
  for (const auto speaks : all_dialects) {
    CAPTURE(static_cast<int>(speaks));
    for (const auto kind : {channel_kind::root, channel_kind::session, channel_kind::chat,
                            channel_kind::terminal, channel_kind::annotations}) {
      CHECK(adapt_state(speaks, kind, 7) == json::value(7));
      CHECK(state_seen(speaks, kind,
                       R"({"chats": [1, null], "turns": [null, {"responseParts": 5}],
                           "activeTurn": [], "terminals": {"claim": 1}, "customizations": [[]],
                           "workingDirectories": [], "origin": "o", "annotations": [3]})")
              .is_object());
    }
    CHECK(adapt_result(speaks, "listSessions", nullptr).is_null());
    CHECK(adapt_result(speaks, "listSessions", json::object{{"items", {1, nullptr}}}).is_object());
    CHECK(adapt_notification(speaks, "root/sessionAdded", json::array{}).is_array());
    CHECK(adapt_notification(speaks, "auth/required", json::object{{"resource", 3}}).is_object());
    CHECK(seen(speaks, json::value("no action")) == json::value(json::array{"no action"}));
    CHECK(accept_params(speaks, "dispatchAction", {{"channel", "c"}}).size() == 1);
    CHECK(accept_params(speaks, "dispatchAction", {{"action", {1, 2}}}).size() == 1);
    CHECK(accept_params(speaks, "createSession", {{"workingDirectory", 5}}).size() == 1);
  }
}

// ---- 0.9 ----------------------------------------------------------------------------------------

TEST_CASE("0.9 reads recomputing as computing, in states and actions") {
  CHECK_SAME(seen(dialect::v0_9, R"({"type": "changeset/statusChanged", "status": "recomputing"})"),
             parsed(R"([{"type": "changeset/statusChanged", "status": "computing"}])"));
  const auto ready = parsed(R"({"type": "changeset/statusChanged", "status": "ready"})");
  CHECK_SAME(seen(dialect::v0_9, ready), json::array{ready});
  CHECK_SAME(
    state_seen(dialect::v0_9, channel_kind::changeset, R"({"status": "recomputing", "files": []})"),
    parsed(R"({"status": "computing", "files": []})"));
}

TEST_CASE("0.9 gets documents without what 1.0 added to them") {
  const auto speaks = dialect::v0_9;
  CHECK_SAME(seen(speaks, R"({"type": "session/chatAdded",
                     "summary": {"resource": "c", "changes": {}, "movable": true}})"),
             parsed(R"([{"type": "session/chatAdded", "summary": {"resource": "c"}}])"));
  CHECK_SAME(seen(speaks, R"({"type": "session/chatUpdated", "chat": "c",
                              "changes": {"movable": true, "status": 8}})"),
             parsed(R"([{"type": "session/chatUpdated", "chat": "c", "changes": {"status": 8}}])"));
  CHECK_SAME(state_seen(speaks, channel_kind::session,
                        R"({"chats": [{"resource": "c", "changes": {}, "movable": true}]})"),
             parsed(R"({"chats": [{"resource": "c"}]})"));
  CHECK_SAME(state_seen(speaks, channel_kind::chat,
                        R"({"turns": [], "backgroundWork": [], "changesets": [], "canvases": [],
                            "movable": true, "changes": {}, "x-own": 1})"),
             parsed(R"({"turns": [], "x-own": 1})"));
}

TEST_CASE("0.9 gets a session's row without its chats, in lists and notifications") {
  const auto speaks = dialect::v0_9;
  const char* const row = R"({"title": "t", "chats": [], "defaultChat": "c"})";
  const auto old = parsed(R"({"title": "t"})");
  CHECK_SAME(
    adapt_result(speaks, "listSessions", json::object{{"items", json::array{parsed(row)}}}),
    (json::object{{"items", json::array{old}}}));
  CHECK_SAME(
    adapt_notification(speaks, "root/sessionAdded", json::object{{"summary", parsed(row)}}),
    (json::object{{"summary", old}}));
  CHECK_SAME(adapt_notification(speaks, "root/sessionSummaryChanged",
                                json::object{{"session", "s"}, {"changes", parsed(row)}}),
             (json::object{{"session", "s"}, {"changes", old}}));
  const auto meta = parsed(R"({"_meta": {}, "automations": {}})");
  CHECK_SAME(adapt_result(speaks, "initialize", meta), meta);
}
