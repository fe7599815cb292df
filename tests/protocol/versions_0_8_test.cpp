// What 0.9 says otherwise than 0.8, in both directions.

#include "tests/protocol/versions_support.hpp"

namespace json = ahpd::json;
using namespace ahpd::ahp;
using namespace ahpd::tests;

namespace {
constexpr auto speaks = dialect::v0_8;
}

TEST_CASE("0.8: a session that could not be made is creationFailed") {
  CHECK_SAME(state_seen(speaks, channel_kind::session, R"({"lifecycle": "failed", "chats": []})"),
             parsed(R"({"lifecycle": "creationFailed", "chats": []})"));
  CHECK_SAME(state_seen(speaks, channel_kind::session, R"({"lifecycle": "ready"})"),
             parsed(R"({"lifecycle": "ready"})"));
}

TEST_CASE("0.8: a failed turn has its error as a member, not as a part") {
  CHECK_SAME(seen(speaks, R"({"type": "chat/error", "turnId": "t", "duration": 5, "part":
                    {"kind": "error", "error": {"errorType": "e", "message": "m"},
                     "resumable": true}})"),
             parsed(R"([{"type": "chat/error", "turnId": "t", "duration": 5,
                         "error": {"errorType": "e", "message": "m"}}])"));
  const char* const turns =
    R"({"type": "chat/turnsLoaded", "turns": [{"id": "t", "state": "error", "responseParts": [
         {"kind": "error", "error": {"errorType": "e", "message": "first"}, "resumable": true},
         {"kind": "markdown", "id": "p", "content": "x"},
         {"kind": "error", "error": {"errorType": "e", "message": "last"}}]}]})";
  const auto old = parsed(
    R"({"type": "chat/turnsLoaded", "turns": [{"id": "t", "state": "error", "responseParts": [
         {"kind": "markdown", "id": "p", "content": "x"}],
         "error": {"errorType": "e", "message": "last"}}]})");
  CHECK_SAME(seen(speaks, turns), json::array{old});
  CHECK_SAME(state_seen(speaks, channel_kind::chat, turns), old);
  CHECK_SAME(state_seen(speaks, channel_kind::chat,
                        R"({"activeTurn": {"id": "t", "responseParts": [{"kind": "error"}]}})"),
             parsed(R"({"activeTurn": {"id": "t", "responseParts": []}})"));
}

TEST_CASE("0.8: an error part outside an ending, which 0.9 ignores, is not sent") {
  CHECK_SAME(
    seen(speaks, R"({"type": "chat/responsePart", "turnId": "t", "part": {"kind": "error"}})"),
    json::array{});
  const auto text =
    parsed(R"({"type": "chat/responsePart", "turnId": "t", "part": {"kind": "markdown"}})");
  CHECK_SAME(seen(speaks, text), json::array{text});
}

TEST_CASE("0.8: a turn that is resumed is forgotten and told again from its start") {
  const char* const resume = R"({"type": "chat/turnResume", "turnId": "t2"})";
  const char* const state = R"({"turns": [{"id": "t1"}], "activeTurn":
    {"id": "t2", "startedAt": "2026-11-30T10:00:00.000Z",
     "message": {"text": "go", "origin": {"kind": "automation"}},
     "responseParts": [{"kind": "markdown", "id": "p", "content": "half"},
                       {"kind": "error", "error": {"errorType": "e", "message": "m"}}],
     "usage": {"inputTokens": 3}}})";
  CHECK_SAME(seen(speaks, resume, state), parsed(R"([
    {"type": "chat/truncated", "turnId": "t1"},
    {"type": "chat/turnStarted", "turnId": "t2", "startedAt": "2026-11-30T10:00:00.000Z",
     "message": {"text": "go", "origin": {"kind": "systemNotification"}}},
    {"type": "chat/responsePart", "turnId": "t2",
     "part": {"kind": "markdown", "id": "p", "content": "half"}},
    {"type": "chat/usage", "turnId": "t2", "usage": {"inputTokens": 3}}])"));

  const char* const only = R"({"turns": [], "turnsNextCursor": "t7", "activeTurn":
    {"id": "t2", "message": {"text": "go"}, "responseParts": []}})";
  CHECK_SAME(seen(speaks, resume, only), parsed(R"([
    {"type": "chat/truncated"},
    {"type": "chat/turnsLoaded", "turns": [], "turnsNextCursor": "t7"},
    {"type": "chat/turnStarted", "turnId": "t2", "message": {"text": "go"}}])"));

  CHECK(needs_state(dialect::v0_8, "chat/turnResume"));
  CHECK(needs_state(dialect::v0_6, "chat/turnResume"));
  CHECK_FALSE(needs_state(dialect::v0_9, "chat/turnResume"));
  CHECK_FALSE(needs_state(dialect::v0_8, "chat/turnStarted"));
  CHECK_SAME(seen(speaks, resume), json::array{});
}

TEST_CASE("0.8: what an automation wrote is a notification of the system") {
  const char* const mine = R"({"text": "x", "origin": {"kind": "automation"}})";
  const std::string wrote(mine);
  const std::string old = R"({"text": "x", "origin": {"kind": "systemNotification"}})";
  const auto action = [](const std::string& message) {
    return R"({"type": "chat/turnStarted", "turnId": "t", "message": )" + message + "}";
  };
  CHECK_SAME(seen(speaks, action(wrote)), json::array{parsed(action(old))});
  const auto chat = [](const std::string& m) {
    return R"({"turns": [{"id": "t", "message": )" + m + R"(}], "activeTurn": {"message": )" + m +
           R"(}, "queuedMessages": [{"id": "q", "message": )" + m +
           R"(}], "steeringMessage": {"message": )" + m + R"(}, "draft": )" + m + "}";
  };
  CHECK_SAME(state_seen(speaks, channel_kind::chat, chat(wrote)), parsed(chat(old)));
}

TEST_CASE("0.8: a session does not say which automation made it") {
  const char* const made = R"({"title": "t", "origin": {"kind": "automation"}})";
  const auto old = parsed(R"({"title": "t"})");
  CHECK_SAME(state_seen(speaks, channel_kind::session, made), old);
  CHECK_SAME(
    adapt_notification(speaks, "root/sessionAdded", json::object{{"summary", parsed(made)}}),
    (json::object{{"summary", old}}));
  const auto chat = parsed(R"({"turns": [], "origin": {"kind": "user"}})");
  CHECK_SAME(adapt_state(speaks, channel_kind::chat, chat), chat);
}

TEST_CASE("0.8: a terminal has an exit code, once it has one, and is no chat's") {
  const auto terminal = [](const char* lifecycle) {
    return std::string(R"({"title": "sh", "content": [], "lifecycle": )") + lifecycle +
           R"(, "claim": {"kind": "session", "session": "s", "chat": "c", "turnId": "t"}})";
  };
  const char* const open = R"({"title": "sh", "content": [],
    "claim": {"kind": "session", "session": "s", "turnId": "t"}})";
  const char* const ended = R"({"title": "sh", "content": [], "exitCode": 3,
    "claim": {"kind": "session", "session": "s", "turnId": "t"}})";
  const auto state = [&](const char* lifecycle) {
    return state_seen(speaks, channel_kind::terminal, terminal(lifecycle));
  };
  CHECK_SAME(state(R"({"status": "running"})"), parsed(open));
  CHECK_SAME(state(R"({"status": "exited"})"), parsed(open));
  CHECK_SAME(state(R"({"status": "exited", "exitCode": 3})"), parsed(ended));
  const auto list =
    R"({"terminals": [)" + terminal(R"({"status": "exited", "exitCode": 3})") + "]}";
  CHECK_SAME(state_seen(speaks, channel_kind::root, list),
             (json::object{{"terminals", json::array{parsed(ended)}}}));
  auto changed = parsed(list).as_object();
  changed["type"] = "root/terminalsChanged";
  CHECK_SAME(seen(speaks, json::value(changed)),
             json::array{(json::object{{"terminals", json::array{parsed(ended)}},
                                       {"type", "root/terminalsChanged"}})});
  CHECK_SAME(seen(speaks, R"({"type": "terminal/claimed",
                              "claim": {"kind": "session", "session": "s", "chat": "c"}})"),
             parsed(R"([{"type": "terminal/claimed",
                         "claim": {"kind": "session", "session": "s"}}])"));
}

TEST_CASE("0.8: a session's claim of a terminal is its first chat's") {
  const auto claim = parsed(R"({"kind": "session", "session": "ahp-session:/s",
    "chat": "ahp-chat://default/YWhwLXNlc3Npb246L3M", "toolCallId": "k"})");
  CHECK_SAME(dispatched(speaks, R"({"type": "terminal/claimed", "claim":
               {"kind": "session", "session": "ahp-session:/s", "toolCallId": "k"}})",
                        "ahp-terminal:/t"),
             (json::object{{"type", "terminal/claimed"}, {"claim", claim}}));
  CHECK_SAME(accepted(speaks, "createTerminal", R"({"channel": "ahp-terminal:/t", "claim":
               {"kind": "session", "session": "ahp-session:/s", "toolCallId": "k"}})"),
             (json::object{{"channel", "ahp-terminal:/t"}, {"claim", claim}}));
  const char* const own =
    R"({"type": "terminal/claimed", "claim": {"kind": "client", "clientId": "me"}})";
  CHECK_SAME(dispatched(speaks, own), parsed(own));
}

TEST_CASE("0.8: an annotation names its turn alone") {
  const char* const marked =
    R"({"id": "a", "origin": {"session": "s", "chat": "c", "turnId": "t"}, "entries": []})";
  const auto old = parsed(R"({"id": "a", "turnId": "t", "entries": []})");
  CHECK_SAME(
    seen(speaks, json::object{{"type", "annotations/set"}, {"annotation", parsed(marked)}}),
    json::array{(json::object{{"type", "annotations/set"}, {"annotation", old}})});
  CHECK_SAME(state_seen(speaks, channel_kind::annotations,
                        std::string(R"({"annotations": [)") + marked + "]}"),
             (json::object{{"annotations", json::array{old}}}));
  CHECK_SAME(seen(speaks, R"({"type": "annotations/updated", "annotationId": "a",
                              "origin": {"session": "s", "turnId": "t"}})"),
             parsed(R"([{"type": "annotations/updated", "annotationId": "a", "turnId": "t"}])"));
  const auto resolved =
    parsed(R"({"type": "annotations/updated", "annotationId": "a", "resolved": true})");
  CHECK_SAME(seen(speaks, resolved), json::array{resolved});
  CHECK_SAME(state_seen(speaks, channel_kind::annotations,
                        R"({"annotations": [{"id": "a", "origin": {"session": "s"}}]})"),
             parsed(R"({"annotations": [{"id": "a", "turnId": ""}]})"));
}

TEST_CASE("0.8: an annotation comes from a turn of the session that it is on") {
  const char* const channel = "ahp-session:/s/annotations";
  CHECK_SAME(dispatched(speaks, R"({"type": "annotations/set", "annotation":
                                    {"id": "a", "turnId": "t", "resolved": false}})",
                        channel),
             parsed(R"({"type": "annotations/set", "annotation": {"id": "a", "resolved": false,
                        "origin": {"session": "ahp-session:/s", "turnId": "t"}}})"));
  CHECK_SAME(dispatched(speaks, R"({"type": "annotations/set",
                                    "annotation": {"id": "a", "turnId": ""}})",
                        channel),
             parsed(R"({"type": "annotations/set", "annotation": {"id": "a",
                        "origin": {"session": "ahp-session:/s"}}})"));
  CHECK_SAME(dispatched(speaks, R"({"type": "annotations/updated", "annotationId": "a",
                                    "turnId": "t"})",
                        channel),
             parsed(R"({"type": "annotations/updated", "annotationId": "a",
                        "origin": {"session": "ahp-session:/s", "turnId": "t"}})"));
  const char* const resolved =
    R"({"type": "annotations/updated", "annotationId": "a", "resolved": true})";
  CHECK_SAME(dispatched(speaks, resolved, channel), parsed(resolved));
}

TEST_CASE("0.8: new content of a changeset says its error again, or loses it") {
  const char* const content = R"({"type": "changeset/contentChanged", "files": []})";
  CHECK_SAME(seen(speaks, content, R"({"status": "ready", "files": []})"),
             json::array{parsed(content)});
  CHECK_SAME(seen(speaks, content, R"({"status": "error", "error": {"message": "m"}})"),
             parsed(R"([{"type": "changeset/contentChanged", "files": [],
                         "error": {"message": "m"}}])"));
}

TEST_CASE("0.8: the host's answer to initialize has no _meta and no automations") {
  CHECK_SAME(
    adapt_result(speaks, "initialize",
                 parsed(R"({"protocolVersion": "0.8.0", "_meta": {"a": 1}, "automations": {}})")),
    parsed(R"({"protocolVersion": "0.8.0"})"));
  const auto other = parsed(R"({"_meta": {}})");
  CHECK_SAME(adapt_result(speaks, "resolveSessionConfig", other), other);
}

TEST_CASE("0.8: createSession.fork stays for the host to answer") {
  const char* const forks = R"({"channel": "s", "fork": {"session": "o", "turnId": "t"}})";
  CHECK_SAME(accepted(speaks, "createSession", forks), parsed(forks));
}
