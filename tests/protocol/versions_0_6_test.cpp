// What 0.7 says otherwise than 0.6, in both directions.

#include "tests/protocol/versions_support.hpp"

namespace json = ahpd::json;
using namespace ahpd::ahp;
using namespace ahpd::tests;

namespace {
constexpr auto speaks = dialect::v0_6;
}

TEST_CASE("0.6: the first working directory is the one") {
  const char* const many = R"({"title": "t", "workingDirectories": ["file:///a", "file:///b"]})";
  const auto one = parsed(R"({"title": "t", "workingDirectory": "file:///a"})");
  for (const auto kind : {channel_kind::session, channel_kind::chat})
    CHECK_SAME(state_seen(speaks, kind, many), one);
  CHECK_SAME(state_seen(speaks, channel_kind::session, R"({"workingDirectories": []})"),
             json::object{});
  CHECK_SAME(state_seen(speaks, channel_kind::session, std::string(R"({"chats": [)") + many + "]}"),
             (json::object{{"chats", json::array{one}}}));
  CHECK_SAME(seen(speaks, json::object{{"type", "session/chatAdded"}, {"summary", parsed(many)}}),
             json::array{(json::object{{"type", "session/chatAdded"}, {"summary", one}})});
  CHECK_SAME(seen(speaks, json::object{{"type", "session/chatUpdated"}, {"changes", parsed(many)}}),
             json::array{(json::object{{"type", "session/chatUpdated"}, {"changes", one}})});
  CHECK_SAME(
    adapt_result(speaks, "listSessions", json::object{{"items", json::array{parsed(many)}}}),
    (json::object{{"items", json::array{one}}}));
  CHECK_SAME(adapt_notification(speaks, "root/sessionSummaryChanged",
                                json::object{{"session", "s"}, {"changes", parsed(many)}}),
             (json::object{{"session", "s"}, {"changes", one}}));
}

TEST_CASE("0.6: createSession names one working directory, and the config still does") {
  CHECK_SAME(
    accepted(speaks, "createSession", R"({"channel": "s", "workingDirectory": "file:///a"})"),
    parsed(R"({"channel": "s", "workingDirectories": ["file:///a"]})"));
  for (const char* method : {"resolveSessionConfig", "sessionConfigCompletions"})
    CHECK_SAME(accepted(speaks, method, R"({"workingDirectory": "file:///a"})"),
               parsed(R"({"workingDirectory": "file:///a"})"));
  CHECK_SAME(accepted(dialect::v0_7, "createSession", R"({"workingDirectory": "file:///a"})"),
             parsed(R"({"workingDirectory": "file:///a"})"));
}

TEST_CASE("0.6: the source of a chat is a fork") {
  CHECK_SAME(accepted(speaks, "createChat", R"({"source": {"chat": "c", "turnId": "t"}})"),
             parsed(R"({"source": {"chat": "c", "turnId": "t", "kind": "fork"}})"));
  const char* const said = R"({"source": {"chat": "c", "turnId": "t", "kind": "sideChat"}})";
  CHECK_SAME(accepted(speaks, "createChat", said), parsed(said));
}

TEST_CASE("0.6: a side chat is a fork") {
  const char* const side =
    R"({"origin": {"kind": "sideChat", "chat": "c", "turnId": "t", "selection": {"text": "x"}}})";
  const auto fork = parsed(R"({"origin": {"kind": "fork", "chat": "c", "turnId": "t"}})");
  CHECK_SAME(state_seen(speaks, channel_kind::chat, side), fork);
  CHECK_SAME(state_seen(speaks, channel_kind::session, std::string(R"({"chats": [)") + side + "]}"),
             (json::object{{"chats", json::array{fork}}}));
  CHECK_SAME(seen(speaks, json::object{{"type", "session/chatAdded"}, {"summary", parsed(side)}}),
             json::array{(json::object{{"type", "session/chatAdded"}, {"summary", fork}})});
}

TEST_CASE("0.6: a chat that is attached to a message is a label") {
  const std::string attached = R"({"text": "x", "attachments": [
    {"type": "chat", "label": "that", "resource": "ahp-chat:/d", "endTurn": "t",
     "range": {"start": 0}}, {"type": "resource", "uri": "file:///a", "label": "a"}]})";
  const std::string simple = R"({"text": "x", "attachments": [
    {"type": "simple", "label": "that", "modelRepresentation": "ahp-chat:/d",
     "range": {"start": 0}}, {"type": "resource", "uri": "file:///a", "label": "a"}]})";
  const auto chat = [](const std::string& m) {
    return R"({"turns": [{"id": "t", "message": )" + m + R"(}], "draft": )" + m + "}";
  };
  CHECK_SAME(state_seen(speaks, channel_kind::chat, chat(attached)), parsed(chat(simple)));
  for (const char* head :
       {R"("type": "chat/turnStarted", "message")",
        R"("type": "chat/pendingMessageSet", "message")", R"("type": "chat/draftChanged", "draft")",
        R"("type": "chat/toolCallConfirmed", "userSuggestion")"}) {
    const auto action = [head](const std::string& m) {
      return "{" + std::string(head) + ": " + m + "}";
    };
    CHECK_SAME(seen(speaks, action(attached)), json::array{parsed(action(simple))});
  }
  CHECK_SAME(adapt_result(speaks, "completions", parsed(R"({"items": [{"insertText": "#",
               "attachment": {"type": "chat", "label": "l", "resource": "c"}}]})")),
             parsed(R"({"items": [{"insertText": "#", "attachment":
               {"type": "simple", "label": "l", "modelRepresentation": "c"}}]})"));
}

TEST_CASE("0.6: how a terminal ended follows it in an entry of its own") {
  const std::string ended = R"([{"type": "text", "text": "x"},
    {"type": "terminal", "resource": "ahp-terminal:/t", "title": "sh",
     "result": {"exitCode": 1, "preview": "p", "truncated": true}},
    {"type": "terminal", "resource": "ahp-terminal:/u", "title": "live"}])";
  const std::string two = R"([{"type": "text", "text": "x"},
    {"type": "terminal", "resource": "ahp-terminal:/t", "title": "sh"},
    {"type": "terminalComplete", "resource": "ahp-terminal:/t",
     "exitCode": 1, "preview": "p", "truncated": true},
    {"type": "terminal", "resource": "ahp-terminal:/u", "title": "live"}])";
  const auto complete = [](const std::string& list) {
    return R"({"type": "chat/toolCallComplete", "turnId": "t", "toolCallId": "k",
               "result": {"success": true, "content": )" +
           list + "}}";
  };
  const auto changed = [](const std::string& list) {
    return R"({"type": "chat/toolCallContentChanged", "turnId": "t", "toolCallId": "k",
               "content": )" +
           list + "}";
  };
  CHECK_SAME(seen(speaks, complete(ended)), json::array{parsed(complete(two))});
  CHECK_SAME(seen(speaks, changed(ended)), json::array{parsed(changed(two))});
  CHECK_SAME(dispatched(speaks, complete(two)), parsed(complete(ended)));
  CHECK_SAME(dispatched(speaks, changed(two)), parsed(changed(ended)));
  const auto chat = [](const std::string& list) {
    return R"({"turns": [{"id": "t", "responseParts": [{"kind": "toolCall", "toolCall":
               {"toolCallId": "k", "status": "completed", "content": )" +
           list + R"(}}]}]})";
  };
  CHECK_SAME(state_seen(speaks, channel_kind::chat, chat(ended)), parsed(chat(two)));

  CHECK_SAME(
    dispatched(speaks, changed(R"([{"type": "terminalComplete", "resource": "t", "exitCode": 2},
                                   {"type": "terminalComplete", "preview": "said"}])")),
    parsed(changed(R"([{"type": "terminal", "resource": "t", "title": "Terminal",
                        "result": {"exitCode": 2}}, {"type": "text", "text": "said"}])")));
}

TEST_CASE("0.6: a tool's input that is kept elsewhere is said by where it is") {
  const std::string ref = R"({"uri": "content:/i", "sizeHint": 9})";
  const std::string text = R"("content:/i")";
  const auto ready = [](const std::string& input) {
    return R"({"type": "chat/toolCallReady", "turnId": "t", "toolCallId": "k", "toolInput": )" +
           input + "}";
  };
  CHECK_SAME(seen(speaks, ready(ref)), json::array{parsed(ready(text))});
  CHECK_SAME(seen(speaks, ready(R"("inline")")), json::array{parsed(ready(R"("inline")"))});
  const auto part = [](const std::string& input) {
    return R"({"kind": "toolCall", "toolCall": {"toolCallId": "k", "toolInput": )" + input + "}}";
  };
  const auto chat = [&](const std::string& input) {
    return R"({"activeTurn": {"id": "t", "responseParts": [)" + part(input) + "]}}";
  };
  CHECK_SAME(state_seen(speaks, channel_kind::chat, chat(ref)), parsed(chat(text)));
  const auto added = [&](const std::string& input) {
    return R"({"type": "chat/responsePart", "turnId": "t", "part": )" + part(input) + "}";
  };
  CHECK_SAME(seen(speaks, added(ref)), json::array{parsed(added(text))});
  const auto asks = [](const std::string& input) {
    return R"({"type": "session/inputNeededSet", "request": {"id": "i", "toolCall":
               {"toolCallId": "k", "toolInput": )" +
           input + "}}}";
  };
  CHECK_SAME(seen(speaks, asks(ref)), json::array{parsed(asks(text))});
  const auto session = [](const std::string& input) {
    return R"({"inputNeeded": [{"id": "i", "toolCall": {"toolInput": )" + input + "}}]}";
  };
  CHECK_SAME(state_seen(speaks, channel_kind::session, session(ref)).at("inputNeeded"),
             parsed(session(text)).at("inputNeeded"));

  const char* const edited = R"({"type": "chat/toolCallConfirmed", "turnId": "t", "toolCallId": "k",
                                 "approved": true, "editedToolInput": "e"})";
  CHECK_SAME(seen(speaks, edited, chat(ref)),
             parsed(R"([{"type": "chat/toolCallConfirmed", "turnId": "t", "toolCallId": "k",
                         "approved": true}])"));
  CHECK_SAME(seen(speaks, edited, chat(text)), json::array{parsed(edited)});
}

TEST_CASE("0.6: a call that is ready again says the input that it keeps") {
  const char* const ready =
    R"({"type": "chat/toolCallReady", "turnId": "t", "toolCallId": "k", "confirmed": "setting"})";
  const char* const chat = R"({"activeTurn": {"id": "t", "responseParts": [{"kind": "toolCall",
    "toolCall": {"toolCallId": "k", "status": "running", "toolInput": {"uri": "content:/i"}}}]}})";
  CHECK_SAME(seen(speaks, ready, chat),
             parsed(R"([{"type": "chat/toolCallReady", "turnId": "t", "toolCallId": "k",
                         "confirmed": "setting", "toolInput": "content:/i"}])"));
  CHECK_SAME(seen(speaks, ready), json::array{parsed(ready)});
}

TEST_CASE("0.6: a step of a call's input has content, be it empty") {
  CHECK_SAME(seen(speaks, R"({"type": "chat/toolCallDelta", "turnId": "t", "toolCallId": "k",
                              "invocationMessage": "m"})"),
             parsed(R"([{"type": "chat/toolCallDelta", "turnId": "t", "toolCallId": "k",
                         "invocationMessage": "m", "content": ""}])"));
}
