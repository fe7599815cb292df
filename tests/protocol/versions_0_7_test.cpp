// What 0.8 says otherwise than 0.7, in both directions.

#include "tests/protocol/versions_support.hpp"

#include "protocol/ahp/reducers.hpp"

namespace json = ahpd::json;
using namespace ahpd::ahp;
using namespace ahpd::tests;

namespace {

constexpr auto speaks = dialect::v0_7;

/// A list of one plugin with a server in it, one folder and one server.
std::string customizations(const char* plugin, const char* server) {
  return std::string(R"([{"type": "plugin", "id": "p", )") + plugin +
         R"(, "children": [{"type": "mcpServer", "id": "m", )" + server +
         R"(}, {"type": "skill", "id": "s", "enabled": false}]},
            {"type": "directory", "id": "d", "enabled": true},
            {"type": "mcpServer", "id": "n", )" +
         server + "}]";
}

const auto levels = customizations(R"("enablement": [{"kind": "session", "enabled": false},
                                                     {"kind": "global", "enabled": true}])",
                                   R"("enablement": [])");
const auto flags = customizations(R"("enabled": false)", R"("enabled": true)");

} // namespace

TEST_CASE("0.7: a toggled customization is on or off") {
  const auto toggled = [](const char* enablement) {
    return seen(speaks, std::string(R"({"type": "session/customizationToggled", "id": "p",
                                        "enablement": )") +
                          enablement + "}");
  };
  CHECK_SAME(toggled(R"([{"kind": "session", "enabled": false}])"),
             parsed(R"([{"type": "session/customizationToggled", "id": "p", "enabled": false}])"));
  CHECK_SAME(toggled("[]"),
             parsed(R"([{"type": "session/customizationToggled", "id": "p", "enabled": true}])"));
  CHECK_SAME(dispatched(speaks, R"({"type": "session/customizationToggled", "id": "p",
                                    "enabled": false})"),
             parsed(R"({"type": "session/customizationToggled", "id": "p",
                        "enablement": [{"kind": "session", "enabled": false}]})"));
}

TEST_CASE("0.7: plugins and servers are on or off, wherever they stand") {
  CHECK_SAME(
    seen(speaks, R"({"type": "session/customizationsChanged", "customizations": )" + levels + "}"),
    json::array{
      parsed(R"({"type": "session/customizationsChanged", "customizations": )" + flags + "}")});
  CHECK_SAME(seen(speaks, R"({"type": "session/customizationUpdated",
                     "customization": {"type": "mcpServer", "id": "m"}})"),
             parsed(R"([{"type": "session/customizationUpdated",
                "customization": {"type": "mcpServer", "id": "m", "enabled": true}}])"));
  const auto client = [](const std::string& list) {
    return R"({"clientId": "c", "tools": [], "customizations": )" + list + "}";
  };
  CHECK_SAME(
    seen(speaks, R"({"type": "session/activeClientSet", "activeClient": )" + client(levels) + "}"),
    json::array{
      parsed(R"({"type": "session/activeClientSet", "activeClient": )" + client(flags) + "}")});
  const auto session = [&](const std::string& list) {
    return R"({"activeClients": [)" + client(list) + R"(], "customizations": )" + list + "}";
  };
  CHECK_SAME(state_seen(speaks, channel_kind::session, session(levels)), parsed(session(flags)));
  const auto agents = [](const std::string& list) {
    return R"([{"provider": "a", "customizations": )" + list + "}]";
  };
  CHECK_SAME(state_seen(speaks, channel_kind::root, R"({"agents": )" + agents(levels) + "}"),
             parsed(R"({"agents": )" + agents(flags) + "}"));
  CHECK_SAME(
    seen(speaks, R"({"type": "root/agentsChanged", "agents": )" + agents(levels) + "}"),
    json::array{parsed(R"({"type": "root/agentsChanged", "agents": )" + agents(flags) + "}")});
}

TEST_CASE("0.7: what a client publishes as on or off is so for the session") {
  const char* const on = R"("enablement": [{"kind": "session", "enabled": true}])";
  const char* const off = R"("enablement": [{"kind": "session", "enabled": false}])";
  const auto client = [](const std::string& list) {
    return R"({"clientId": "c", "tools": [], "customizations": )" + list + "}";
  };
  const auto levelled = parsed(client(customizations(off, on)));
  CHECK_SAME(dispatched(speaks, R"({"type": "session/activeClientSet", "activeClient": )" +
                                  client(flags) + "}"),
             (json::object{{"type", "session/activeClientSet"}, {"activeClient", levelled}}));
  CHECK_SAME(
    accepted(speaks, "createSession", R"({"channel": "s", "activeClient": )" + client(flags) + "}"),
    (json::object{{"channel", "s"}, {"activeClient", levelled}}));
}

TEST_CASE("0.7: a resource that asks for a token is named by its string") {
  CHECK_SAME(adapt_notification(speaks, "auth/required",
                                parsed(R"({"channel": "ahp-root://", "reason": "expired",
                                           "resource": {"resource": "https://a", "required": true}})")),
             parsed(R"({"channel": "ahp-root://", "reason": "expired", "resource": "https://a"})"));
  const auto modern = parsed(R"({"resource": {"resource": "https://a"}})");
  CHECK_SAME(adapt_notification(dialect::v0_8, "auth/required", modern), modern);
}

TEST_CASE("0.7: a tool that a client runs raises the status in a snapshot, as in its reducer") {
  const auto status = [](const char* needed) {
    const auto state = std::string(R"({"status": 40, "inputNeeded": )") + needed + "}";
    return state_seen(speaks, channel_kind::session, state).at("status");
  };
  CHECK(status(R"([{"id": "i", "kind": "toolClientExecution"}])") == json::value(56));
  CHECK(status("[]") == json::value(40));
}

TEST_CASE("0.7: a replaced folder is removed and those behind it are added again") {
  const auto replace = [](const json::value& before, const char* directory,
                          const char* replacement) {
    const json::value action{{"type", "session/workingDirectoryReplaced"},
                             {"directory", directory},
                             {"replacement", replacement}};
    json::value after = before;
    reduce(channel_kind::session, after, action);
    json::value old = before;
    const auto steps = seen(speaks, action, after);
    for (const auto& step : steps.as_array()) {
      CHECK(json::string_member(step, "type") != "session/workingDirectoryReplaced");
      reduce(channel_kind::session, old, step);
    }
    CHECK_SAME(old, after);
  };
  const auto folders = parsed(R"({"workingDirectories": ["a", "b", "c", "d"]})");
  for (const char* directory : {"a", "b", "d"})
    for (const char* replacement : {"new", "a", "c", "d"})
      replace(folders, directory, replacement);
  CHECK(needs_state(speaks, "session/workingDirectoryReplaced"));
  CHECK_FALSE(needs_state(dialect::v0_8, "session/workingDirectoryReplaced"));
}
