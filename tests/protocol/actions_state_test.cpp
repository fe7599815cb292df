#include "protocol/ahp/actions.hpp"

#include <doctest/doctest.h>

#include <string>

namespace json = ahpd::json;
using namespace ahpd::ahp;

namespace {

json::value parsed(std::string_view text) {
  std::string error;
  auto v = json::parse_text(text, 64, error);
  REQUIRE_MESSAGE(v, text << ": " << error);
  return *v;
}

/// Why the action is refused, or "".
std::string why(channel_kind kind, const json::value& state, const json::value& action,
                std::string_view client = "me") {
  return refuse_action(kind, state, action, client).value_or("");
}

std::string chat(std::string_view state, std::string_view action) {
  return why(channel_kind::chat, parsed(state), parsed(action));
}

std::string session(std::string_view state, std::string_view action) {
  return why(channel_kind::session, parsed(state), parsed(action));
}

constexpr auto idle = R"({"turns":[{"id":"t0","state":"complete","responseParts":[]}],"status":1})";
constexpr auto message = R"({"text":"Hi","origin":{"kind":"user"}})";

std::string start(std::string_view body) {
  return R"({"type":"chat/turnStarted","turnId":"t1","startedAt":"2026-11-30T10:00:05.000Z","message":)" +
         std::string(body) + "}";
}

/// A chat whose running turn t1 holds one tool call in `status`, of `contributor`.
std::string calling(std::string_view status, std::string_view contributor = "null") {
  return R"({"activeTurn":{"id":"t1","responseParts":[{"kind":"toolCall","toolCall":{"toolCallId":"k1","status":")" +
         std::string(status) + R"(","contributor":)" + std::string(contributor) + "}}]}}";
}

std::string on_call(std::string_view type, std::string_view members) {
  return R"({"type":")" + std::string(type) + R"(","turnId":"t1","toolCallId":"k1",)" +
         std::string(members) + "}";
}

constexpr auto mine = R"({"kind":"client","clientId":"me"})";
constexpr auto theirs = R"({"kind":"client","clientId":"you"})";
constexpr auto failed = R"("result":{"success":false,"pastTenseMessage":"Failed"})";
constexpr auto worked = R"("result":{"success":true,"pastTenseMessage":"Did"})";

} // namespace

TEST_CASE("turns start, end and resume only when the chat admits it") {
  constexpr auto busy = R"({"turns":[{"id":"t0"}],"activeTurn":{"id":"t9","responseParts":[]}})";
  CHECK(chat(busy, start(message)) == "a turn is running");
  CHECK(chat(R"({"turns":[{"id":"t1"}]})", start(message)) == "the turn t1 was started already");
  CHECK(chat(R"({"activeTurn":{"id":"t1"}})", start(message)) == "the turn t1 was started already");
  const auto cancel = [](std::string_view id) {
    return R"({"type":"chat/turnCancelled","duration":0,"turnId":")" + std::string(id) + "\"}";
  };
  CHECK(chat(idle, cancel("t1")) == "no active turn to cancel");
  CHECK(chat(busy, cancel("t1")) == "the turn t1 is not the one that runs");
  CHECK(chat(busy, cancel("t9")) == "");

  constexpr auto resume = R"({"type":"chat/turnResume","turnId":"t0"})";
  const auto ended = [](std::string_view state, std::string_view last) {
    return R"({"turns":[{"id":"t0","state":")" + std::string(state) + R"(","responseParts":[)" +
           std::string(last) + "]}]}";
  };
  constexpr auto resumable = R"({"kind":"error","resumable":true})";
  CHECK(chat(ended("error", resumable), resume) == "");
  CHECK(chat(ended("complete", resumable), resume) == "the turn t0 cannot be resumed");
  CHECK(chat(ended("error", R"({"kind":"error","resumable":false})"), resume) ==
        "the turn t0 cannot be resumed");
  CHECK(chat(ended("error", ""), resume) == "the turn t0 cannot be resumed");
  CHECK(chat(R"({"turns":[]})", resume) == "the turn t0 is not the last one");
  CHECK(chat(busy, resume) == "a turn is running");
  CHECK(chat(idle, R"({"type":"chat/truncated","turnId":"t7"})") == "there is no turn t7");
  CHECK(chat(idle, R"({"type":"chat/truncated","turnId":"t0"})") == "");
  CHECK(chat(idle, R"({"type":"chat/truncated"})") == "");
}

TEST_CASE("confirmations are for calls that wait for one") {
  const auto yes =
    on_call("chat/toolCallConfirmed", R"("approved":true,"confirmed":"user-action")");
  CHECK(chat(calling("pending-confirmation"), yes) == "");
  CHECK(chat(calling("running"), yes) == "the tool call k1 does not wait for confirmation");
  CHECK(chat(idle, yes) == "the running turn has no tool call k1");
  CHECK(chat(calling("pending-confirmation"),
             on_call("chat/toolCallConfirmed", R"("approved":true)")) ==
        "chat/toolCallConfirmed needs confirmed to be user-action or setting or not-needed");
  CHECK(chat(calling("pending-confirmation"),
             on_call("chat/toolCallConfirmed", R"("approved":false)")) ==
        "chat/toolCallConfirmed needs reason to be denied or skipped");
  CHECK(chat(calling("pending-confirmation"),
             on_call("chat/toolCallConfirmed", R"("approved":false,"reason":"denied")")) == "");
  const auto accept = on_call("chat/toolCallResultConfirmed", R"("approved":true)");
  CHECK(chat(calling("pending-result-confirmation"), accept) == "");
  CHECK(chat(calling("completed"), accept) ==
        "the tool call k1 does not wait for its result to be confirmed");
}

TEST_CASE("a client answers for its own tools only") {
  const auto done = on_call("chat/toolCallComplete", worked);
  CHECK(chat(calling("running", mine), done) == "");
  CHECK(chat(calling("running", theirs), done) ==
        "the tool call k1 is not this client's to answer");
  CHECK(chat(calling("running"), done) == "the tool call k1 is not this client's to answer");
  CHECK(chat(calling("completed", mine), done) == "the tool call k1 is not running");
  constexpr auto mcp = R"({"kind":"mcp","customizationId":"m"})";
  CHECK(chat(calling("auth-required", mcp), on_call("chat/toolCallComplete", failed)) == "");
  CHECK(chat(calling("auth-required", mcp), done) ==
        "the tool call k1 is not this client's to answer");
  CHECK(chat(calling("running", mcp), on_call("chat/toolCallComplete", failed)) ==
        "the tool call k1 is not this client's to answer");
  const auto content =
    on_call("chat/toolCallContentChanged", R"("content":[{"type":"text","text":"x"}])");
  CHECK(chat(calling("running", mine), content) == "");
  CHECK(chat(calling("running", theirs), content) ==
        "the tool call k1 is not this client's to answer");
  CHECK(chat(calling("streaming", mine), content) == "the tool call k1 is not running");
  CHECK(chat(calling("running", mine),
             on_call("chat/toolCallComplete", R"("result":{"success":true})")) ==
        "chat/toolCallComplete needs result.pastTenseMessage to be a string or an object with "
        "markdown");
}

TEST_CASE("answers need an open request, their values and every required question") {
  const auto asking = [](std::string_view answers, std::string_view response = "null") {
    return R"({"activeTurn":{"id":"t1","responseParts":[{"kind":"inputRequest","response":)" +
           std::string(response) +
           R"(,"request":{"id":"r1","questions":[{"id":"q1","required":true},{"id":"q2"}],"answers":)" +
           std::string(answers) + "}}]}}";
  };
  const auto complete = [](std::string_view response, std::string_view answers) {
    return R"({"type":"chat/inputCompleted","requestId":"r1","response":")" +
           std::string(response) + R"(","answers":)" + std::string(answers) + "}";
  };
  constexpr auto sent = R"({"q1":{"state":"submitted","value":{"kind":"text","value":"a"}}})";
  constexpr auto draft = R"({"q1":{"state":"draft","value":{"kind":"text","value":"a"}}})";
  CHECK(chat(idle, complete("accept", "null")) == "there is no open input request r1");
  CHECK(chat(asking("null", "\"accept\""), complete("accept", "null")) ==
        "there is no open input request r1");
  CHECK(chat(asking("null"), complete("accept", "null")) ==
        "the question q1 needs a submitted answer");
  CHECK(chat(asking(draft), complete("accept", "null")) ==
        "the question q1 needs a submitted answer");
  CHECK(chat(asking(sent), complete("accept", draft)) ==
        "the question q1 needs a submitted answer");
  CHECK(chat(asking("null"), complete("accept", sent)) == "");
  CHECK(chat(asking(sent), complete("accept", "null")) == "");
  CHECK(chat(asking("null"), complete("decline", "null")) == "");
  CHECK(chat(asking("null"), complete("maybe", "null")) ==
        "chat/inputCompleted needs response to be accept or decline or cancel");
  CHECK(
    chat(asking("null"), complete("accept", R"({"q1":{"state":"submitted"}})")) ==
    "chat/inputCompleted needs answers.q1.value to be an object: only a skipped answer has none");
  CHECK(
    chat(
      asking("null"),
      R"({"type":"chat/inputAnswerChanged","requestId":"r1","questionId":"q2","answer":{"state":"skipped"}})") ==
    "");
  CHECK(
    chat(
      asking("null"),
      R"({"type":"chat/inputAnswerChanged","requestId":"r1","questionId":"q2","answer":{"state":"draft","value":{"kind":"number","value":"1"}}})") ==
    "chat/inputAnswerChanged needs answer.value.value to be a number");
}

TEST_CASE("only pending messages that are there can be removed") {
  const auto take = [](std::string_view kind, std::string_view id) {
    return R"({"type":"chat/pendingMessageRemoved","kind":")" + std::string(kind) + R"(","id":")" +
           std::string(id) + "\"}";
  };
  constexpr auto state = R"({"steeringMessage":{"id":"s"},"queuedMessages":[{"id":"q"}]})";
  CHECK(chat(state, take("steering", "s")) == "");
  CHECK(chat(state, take("queued", "q")) == "");
  CHECK(chat(state, take("steering", "q")) == "there is no pending message q");
  CHECK(chat(state, take("queued", "s")) == "there is no pending message s");
  CHECK(chat(idle, take("queued", "q")) == "there is no pending message q");
}

TEST_CASE("a client speaks for itself only") {
  const auto attach = [](std::string_view id) {
    return R"({"type":"session/activeClientSet","activeClient":{"tools":[],"clientId":")" +
           std::string(id) + "\"}}";
  };
  CHECK(session("{}", attach("me")) == "");
  CHECK(session("{}", attach("you")) ==
        "session/activeClientSet needs activeClient.clientId to be the sender's own");
  CHECK(session("{}", R"({"type":"session/activeClientRemoved","clientId":"you"})") ==
        "session/activeClientRemoved needs clientId to be the sender's own");
  CHECK(session("{}", R"({"type":"session/activeClientSet","activeClient":{"clientId":"me"}})") ==
        "session/activeClientSet needs activeClient.tools to be an array");
  const auto claim =
    parsed(R"({"type":"terminal/claimed","claim":{"kind":"client","clientId":"me"}})");
  CHECK(why(channel_kind::terminal, json::object{{"claim", parsed(mine)}}, claim) == "");
  CHECK(why(channel_kind::terminal, json::object{{"claim", parsed(theirs)}}, claim) ==
        "the terminal is claimed by another");
}

TEST_CASE("only settings that may change during a session are changed") {
  constexpr auto state =
    R"({"config":{"schema":{"properties":{"mode":{"sessionMutable":true},"computer":{}}},
    "values":{"mode":"a","computer":"computer://box"}}})";
  const auto change = [](std::string_view config, std::string_view rest = "") {
    return R"({"type":"session/configChanged","config":)" + std::string(config) +
           std::string(rest) + "}";
  };
  CHECK(session(state, change(R"({"mode":"b"})")) == "");
  CHECK(session(state, change(R"({"mode":"b","computer":"computer://box"})")) == "");
  CHECK(session(state, change(R"({"computer":"computer://other"})")) ==
        "the setting computer of this session cannot be changed");
  CHECK(session(state, change(R"({"unknown":1})")) ==
        "the setting unknown of this session cannot be changed");
  CHECK(session("{}", change(R"({"mode":"b"})")) ==
        "the setting mode of this session cannot be changed");
  CHECK(session(state, change(R"({"mode":"b"})", R"(,"replace":true)")) ==
        "the setting computer of this session cannot be removed");
}

TEST_CASE("what is not there cannot be toggled, annotated, updated or cancelled") {
  constexpr auto state =
    R"({"customizations":[{"type":"plugin","id":"p","children":[{"type":"mcpServer","id":"m"}]}]})";
  const auto toggle = [](std::string_view id) {
    return R"({"type":"session/customizationToggled","enablement":[],"id":")" + std::string(id) +
           "\"}";
  };
  CHECK(session(state, toggle("p")) == "");
  CHECK(session(state, toggle("x")) == "this session has no customization x");
  CHECK(session(state, R"({"type":"session/mcpServerStartRequested","id":"m"})") == "");
  CHECK(session(state, R"({"type":"session/mcpServerStopRequested","id":"p"})") ==
        "the customization p is no MCP server");

  const auto notes = parsed(R"({"annotations":[{"id":"a","entries":[{"id":"e"}]}]})");
  const auto note = [&](std::string_view action) {
    return why(channel_kind::annotations, notes, parsed(action));
  };
  CHECK(note(R"({"type":"annotations/removed","annotationId":"a"})") == "");
  CHECK(note(R"({"type":"annotations/updated","annotationId":"b","resolved":true})") ==
        "there is no annotation b");
  CHECK(note(R"({"type":"annotations/entryRemoved","annotationId":"a","entryId":"f"})") ==
        "the annotation a has no entry f");
  CHECK(
    note(
      R"({"type":"annotations/set","annotation":{"id":"c","origin":{"session":"acp:/s"},"resource":"file:///a","resolved":false,"entries":[]}})") ==
    "annotations/set needs annotation.entries to be an array that is not empty");

  const auto entries = parsed(R"({"entries":[{"resource":"ahp-automation:/a"}]})");
  CHECK(why(channel_kind::automations, entries,
            parsed(R"({"type":"automation/removed","resource":"ahp-automation:/b"})")) ==
        "there is no automation ahp-automation:/b");
  CHECK(
    why(
      channel_kind::automations, entries,
      parsed(
        R"({"type":"automation/updateRequested","resource":"ahp-automation:/a","changes":{"enabled":false}})")) ==
    "");
  CHECK(
    why(
      channel_kind::automations, entries,
      parsed(
        R"({"type":"automation/createRequested","resource":"ahp-automation:/a","definition":{"title":"t","enabled":true,"session":{},"triggers":[],"message":{"text":"x","origin":{"kind":"automation"}}}})")) ==
    "there is an automation ahp-automation:/a already");
  const auto cancel = parsed(R"({"type":"automationRun/cancelRequested"})");
  CHECK(why(channel_kind::automation_run, parsed(R"({"operations":["cancel"]})"), cancel) == "");
  CHECK(why(channel_kind::automation_run, parsed(R"({"operations":[]})"), cancel) ==
        "this run cannot be cancelled");
}
