#include "protocol/ahp/versions.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace json = ahpd::json;
using namespace ahpd::ahp;

namespace {

std::string chosen(std::vector<std::string> offered) {
  const auto v = negotiate(offered);
  return v ? v->version + (v->speaks == dialect::v1_0 ? " as 1.0" : " as 0.9") : "none";
}

json::shared action(json::object o) {
  return std::make_shared<const json::value>(std::move(o));
}

} // namespace

TEST_CASE("the highest 1.x wins whatever the order, then the client's order among 0.9.x") {
  CHECK(chosen({"1.0.0", "0.9.0"}) == "1.0.0 as 1.0");
  CHECK(chosen({"0.9.0", "1.0.0", "1.10.2", "1.9.9"}) == "1.10.2 as 1.0");
  CHECK(chosen({"2.0.0", "0.9.1", "0.9.3"}) == "0.9.1 as 0.9");
  CHECK(chosen({"0.8.0", "0.9.0"}) == "0.9.0 as 0.9");
  CHECK(chosen({"0.8.0", "0.10.0", "2.0.0", "0.5.2"}) == "none");
  CHECK(chosen({}) == "none");
}

TEST_CASE("what is no MAJOR.MINOR.PATCH is skipped") {
  CHECK(chosen({"1.0", "01.0.0", "1.0.0-beta", "1.0.0 ", "v1.0.0", "1..0", "", "1.0.0.0",
                "99999999999.0.0", "+1.0.0", "1.00.0"}) == "none");
  CHECK(chosen({"latest", "0.9.0"}) == "0.9.0 as 0.9");
}

TEST_CASE("the refusal names both ranges") {
  CHECK(json::serialize(supported_versions()) == R"(["^1.0.0","^0.9.0"])");
}

TEST_CASE("1.0 sees the model itself, without a copy") {
  const auto a = action({{"type", "chat/isReadChanged"}, {"isRead", true}});
  CHECK(adapt_action(dialect::v1_0, a) == a);
  const json::value state =
    json::object{{"status", "recomputing"}, {"turns", json::array{}}, {"movable", true}};
  CHECK(adapt_state(dialect::v1_0, state) == state);
  CHECK(adapt_summary(dialect::v1_0, json::object{{"chats", json::array{}}}).as_object().size() ==
        1);
}

TEST_CASE("0.9 never sees the actions that 1.0 added") {
  for (const char* type :
       {"session/chatsReordered", "session/mcpServerBackgroundRequested", "chat/isReadChanged",
        "chat/isArchivedChanged", "chat/backgroundWorkSet", "chat/backgroundWorkRemoved",
        "chat/movableChanged", "chat/changesetsChanged", "chat/canvasesChanged"})
    CHECK_MESSAGE(!adapt_action(dialect::v0_9, action({{"type", type}})), type);
  for (const char* type : {"chat/delta", "chat/turnResume", "session/isReadChanged",
                           "automation/set", "x-ahpd-computers/added"}) {
    const auto a = action({{"type", type}});
    CHECK_MESSAGE(adapt_action(dialect::v0_9, a) == a, type);
  }
}

TEST_CASE("0.9 reads recomputing as computing, in states and actions") {
  const auto a = action({{"type", "changeset/statusChanged"}, {"status", "recomputing"}});
  const auto seen = adapt_action(dialect::v0_9, a);
  REQUIRE(seen);
  CHECK(seen->at("status") == json::value("computing"));
  CHECK(a->at("status") == json::value("recomputing"));
  const auto other = action({{"type", "changeset/statusChanged"}, {"status", "ready"}});
  CHECK(adapt_action(dialect::v0_9, other) == other);
  CHECK(
    adapt_state(dialect::v0_9, json::object{{"status", "recomputing"}, {"files", json::array{}}})
      .at("status") == json::value("computing"));
}

TEST_CASE("0.9 gets documents without what 1.0 added to them") {
  const json::object chat{
    {"resource", "ahp-chat:/c"}, {"changes", json::object{}}, {"movable", true}};
  const auto added =
    adapt_action(dialect::v0_9, action({{"type", "session/chatAdded"}, {"summary", chat}}));
  REQUIRE(added);
  CHECK(json::serialize(added->at("summary")) == R"({"resource":"ahp-chat:/c"})");
  const auto updated = adapt_action(
    dialect::v0_9, action({{"type", "session/chatUpdated"},
                           {"chat", "c"},
                           {"changes", json::object{{"movable", true}, {"status", 8}}}}));
  REQUIRE(updated);
  CHECK(json::serialize(updated->at("changes")) == R"({"status":8})");
  const auto session = adapt_state(dialect::v0_9, json::object{{"chats", json::array{chat}}});
  CHECK(json::serialize(session.at("chats")) == R"([{"resource":"ahp-chat:/c"}])");
  const auto state = adapt_state(dialect::v0_9, json::object{{"turns", json::array{}},
                                                             {"backgroundWork", json::array{}},
                                                             {"changesets", json::array{}},
                                                             {"canvases", json::array{}},
                                                             {"movable", true},
                                                             {"changes", 1},
                                                             {"x-own", 1}});
  CHECK(state.as_object().size() == 2);
  const auto summary = adapt_summary(
    dialect::v0_9, json::object{{"title", "t"}, {"chats", json::array{}}, {"defaultChat", "c"}});
  CHECK(json::serialize(summary) == R"({"title":"t"})");
}

TEST_CASE("odd shapes pass through the adapters") {
  CHECK(adapt_state(dialect::v0_9, 7) == json::value(7));
  CHECK(adapt_state(dialect::v0_9, json::object{{"chats", json::array{1, nullptr}}}).is_object());
  CHECK(adapt_summary(dialect::v0_9, nullptr).is_null());
  const auto a = std::make_shared<const json::value>("no action");
  CHECK(adapt_action(dialect::v0_9, a) == a);
  for (const auto d : {dialect::v1_0, dialect::v0_9})
    CHECK(accept_params(d, "dispatchAction", {{"channel", "c"}}).size() == 1);
}
