#include "protocol/ahp/reducers.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace json = ahpd::json;
using ahpd::ahp::channel_kind;

// What no public case covers: the actions that 0.7 to 1.0 and this host added, and the rules that
// those versions changed.

namespace {

json::value parsed(std::string_view text) {
  std::string error;
  auto v = json::parse_text(text, 64, error);
  REQUIRE_MESSAGE(v, text << ": " << error);
  return *v;
}

/// Folds actions into a state and compares; `reduce` must say of each whether it changed anything.
void expect(channel_kind kind, std::string_view before, const std::vector<std::string>& actions,
            std::string_view after) {
  auto state = parsed(before);
  for (const auto& text : actions) {
    const auto action = parsed(text);
    const json::value old = state;
    const bool changed = ahpd::ahp::reduce(kind, state, action);
    CHECK_MESSAGE(changed == !json::equivalent(old, state), text);
  }
  CHECK_MESSAGE(json::equivalent(state, parsed(after)), json::pretty(state));
}

void same(channel_kind kind, std::string_view state, const std::string& action) {
  expect(kind, state, {action}, state);
}

constexpr auto chat = channel_kind::chat;
constexpr auto session = channel_kind::session;

/// A chat with the running turn t1 of one tool call.
std::string calling(std::string_view call, int status = 8) {
  return R"({"status":)" + std::to_string(status) +
         R"(,"activeTurn":{"id":"t1","responseParts":[{"kind":"toolCall","toolCall":)" +
         std::string(call) + "}]}}";
}

std::string on_call(std::string_view type, std::string_view members = "\"x\":1") {
  return R"({"type":"chat/)" + std::string(type) + R"(","turnId":"t1","toolCallId":"k1",)" +
         std::string(members) + "}";
}

} // namespace

TEST_CASE("working directories of sessions and chats are sets in order") {
  for (const auto kind : {session, chat}) {
    const std::string prefix = kind == session ? "session" : "chat";
    const auto set = [&](std::string_view verb, std::string_view uri) {
      return R"({"type":")" + prefix + "/workingDirectory" + std::string(verb) +
             R"(","directory":")" + std::string(uri) + "\"}";
    };
    expect(kind, "{}", {set("Set", "file:///a"), set("Set", "file:///b"), set("Set", "file:///a")},
           R"({"workingDirectories":["file:///a","file:///b"]})");
    expect(kind, R"({"workingDirectories":["file:///a","file:///b"]})",
           {set("Removed", "file:///a"), set("Removed", "file:///c")},
           R"({"workingDirectories":["file:///b"]})");
    same(kind, "{}", set("Removed", "file:///a"));
  }
}

TEST_CASE("a replaced working directory keeps its place and appears once") {
  const auto replace = [](std::string_view old, std::string_view fresh) {
    return R"({"type":"session/workingDirectoryReplaced","directory":")" + std::string(old) +
           R"(","replacement":")" + std::string(fresh) + "\"}";
  };
  constexpr auto before = R"({"workingDirectories":["a","b","c","d"]})";
  expect(session, before, {replace("b", "x")}, R"({"workingDirectories":["a","x","c","d"]})");
  expect(session, before, {replace("c", "a")}, R"({"workingDirectories":["a","b","d"]})");
  expect(session, before, {replace("a", "c")}, R"({"workingDirectories":["c","b","d"]})");
  same(session, before, replace("x", "y"));
  same(session, before, replace("b", "b"));
  same(session, "{}", replace("a", "b"));
}

TEST_CASE("chats are put into the given order, the unnamed ones after") {
  constexpr auto before = R"({"chats":[{"resource":"a"},{"resource":"b"},{"resource":"c"}]})";
  expect(session, before, {R"({"type":"session/chatsReordered","chats":["c","x","c","a"]})"},
         R"({"chats":[{"resource":"c"},{"resource":"a"},{"resource":"b"}]})");
  same(session, before, R"({"type":"session/chatsReordered","chats":["a","b"]})");
  same(session, before, R"({"type":"session/chatsReordered"})");
}

TEST_CASE("toggling stores enablement on plugins and servers and enabled on the others") {
  constexpr auto before =
    R"({"customizations":[{"type":"plugin","id":"p","enablement":[{"kind":"global","enabled":false}],
    "children":[{"type":"rule","id":"r"},{"type":"mcpServer","id":"m"}]},{"type":"directory","id":"d"}]})";
  const auto toggle = [](std::string_view id, std::string_view enablement) {
    return R"({"type":"session/customizationToggled","id":")" + std::string(id) +
           R"(","enablement":)" + std::string(enablement) + "}";
  };
  expect(
    session, before,
    {toggle("p", "[]"), toggle("m", R"([{"kind":"session","enabled":false}])"),
     toggle("r", R"([{"kind":"session","enabled":false},{"kind":"global","enabled":true}])"),
     toggle("d", "[]"), toggle("nobody", "[]")},
    R"({"customizations":[{"type":"plugin","id":"p","children":[{"type":"rule","id":"r","enabled":false},
           {"type":"mcpServer","id":"m","enablement":[{"kind":"session","enabled":false}]}]},
           {"type":"directory","id":"d","enabled":true}]})");
  same(session, before, R"({"type":"session/customizationToggled","id":"d","enabled":false})");
}

TEST_CASE("a blocking start of an MCP server can be moved to the background") {
  const auto servers = [](std::string_view state) {
    return R"({"customizations":[{"type":"mcpServer","id":"m","state":)" + std::string(state) +
           "}]}";
  };
  const std::string request = R"({"type":"session/mcpServerBackgroundRequested","id":"m"})";
  expect(session, servers(R"({"kind":"starting","blocking":true})"), {request, request},
         servers(R"({"kind":"starting","blocking":false})"));
  same(session, servers(R"({"kind":"starting"})"), request);
  same(session, servers(R"({"kind":"ready","blocking":true})"), request);
}

TEST_CASE("client tools alone raise no status, beside a question they do not lower it") {
  const auto set = [](std::string_view id, std::string_view kind) {
    return R"({"type":"session/inputNeededSet","request":{"id":")" + std::string(id) +
           R"(","kind":")" + std::string(kind) + "\"}}";
  };
  const std::string remove = R"({"type":"session/inputNeededRemoved","id":"q"})";
  constexpr auto tool = R"({"id":"t","kind":"toolClientExecution"})";
  expect(session, R"({"status":40})", {set("t", "toolClientExecution")},
         R"({"status":40,"inputNeeded":[)" + std::string(tool) + "]}");
  expect(session, R"({"status":40})", {set("t", "toolClientExecution"), set("q", "chatInput")},
         R"({"status":56,"inputNeeded":[)" + std::string(tool) +
           R"(,{"id":"q","kind":"chatInput"}]})");
  expect(session, R"({"status":40})",
         {set("t", "toolClientExecution"), set("q", "chatInput"), remove},
         R"({"status":40,"inputNeeded":[)" + std::string(tool) + "]}");
}

TEST_CASE("an error part ends a turn and may let it resume") {
  constexpr auto running = R"({"status":40,"turns":[],"modifiedAt":"2026-01-01T00:00:00.000Z",
    "activeTurn":{"id":"t1","startedAt":"2026-01-01T00:00:01.000Z","message":{"text":"x"},"responseParts":[],"usage":{"inputTokens":1}}})";
  const auto failed = [](std::string_view resumable) {
    return R"({"type":"chat/error","turnId":"t1","duration":500,"part":{"kind":"error","error":{"errorType":"e","message":"m"},"resumable":)" +
           std::string(resumable) + "}}";
  };
  const std::string resume = R"({"type":"chat/turnResume","turnId":"t1"})";
  const auto ended = [](std::string_view resumable) {
    return R"({"status":34,"modifiedAt":"2026-01-01T00:00:01.500Z","turns":[{"id":"t1","startedAt":"2026-01-01T00:00:01.000Z",
      "duration":500,"state":"error","message":{"text":"x"},"usage":{"inputTokens":1},"responseParts":[
      {"kind":"error","error":{"errorType":"e","message":"m"},"resumable":)" +
           std::string(resumable) + "}]}]}";
  };
  expect(chat, running, {failed("true")}, ended("true"));
  expect(chat, running, {failed("true"), resume},
         R"({"status":40,"turns":[],"modifiedAt":"2026-01-01T00:00:01.500Z","activeTurn":{"id":"t1",
         "startedAt":"2026-01-01T00:00:01.000Z","message":{"text":"x"},"usage":{"inputTokens":1},"responseParts":[
         {"kind":"error","error":{"errorType":"e","message":"m"},"resumable":true}]}})");
  same(chat, ended("false"), resume);
  same(chat, ended("true"), R"({"type":"chat/turnResume","turnId":"t0"})");
  same(chat, running, resume);
  same(
    chat,
    R"({"turns":[{"id":"t1","state":"complete","responseParts":[{"kind":"error","resumable":true}]}]})",
    resume);
  same(chat, running, R"({"type":"chat/responsePart","turnId":"t1","part":{"kind":"error"}})");
}

TEST_CASE("a turn's time is its start and its length, never the clock") {
  expect(
    chat, R"({"status":33,"modifiedAt":"x","turns":[]})",
    {R"({"type":"chat/turnStarted","turnId":"t1","startedAt":"2026-01-01T00:00:01.000Z","message":{"text":"x"}})"},
    R"({"status":8,"modifiedAt":"2026-01-01T00:00:01.000Z","turns":[],"activeTurn":{"id":"t1",
         "startedAt":"2026-01-01T00:00:01.000Z","message":{"text":"x"},"responseParts":[]}})");
  expect(
    chat,
    R"({"status":8,"modifiedAt":"x","activeTurn":{"id":"t1","startedAt":"2026-01-01T00:00:01Z","responseParts":[]}})",
    {R"({"type":"chat/turnCancelled","turnId":"t1","duration":-7})"},
    R"({"status":1,"modifiedAt":"2026-01-01T00:00:01.000Z","turns":[{"id":"t1","startedAt":"2026-01-01T00:00:01Z",
         "state":"cancelled","duration":0,"responseParts":[]}]})");
}

TEST_CASE("chats carry marks, background work, changesets, canvases and movability") {
  expect(chat, R"({"status":1})",
         {R"({"type":"chat/isReadChanged","isRead":true})",
          R"({"type":"chat/isArchivedChanged","isArchived":true})",
          R"({"type":"chat/isReadChanged","isRead":false})",
          R"({"type":"chat/isReadChanged","isRead":"no"})",
          R"({"type":"chat/movableChanged","movable":true})"},
         R"({"status":65,"movable":true})");
  expect(chat, "{}",
         {R"({"type":"chat/backgroundWorkSet","work":{"id":"w","label":"a"}})",
          R"({"type":"chat/backgroundWorkSet","work":{"id":"v","label":"b"}})",
          R"({"type":"chat/backgroundWorkSet","work":{"id":"w","label":"c"}})",
          R"({"type":"chat/backgroundWorkRemoved","id":"v"})",
          R"({"type":"chat/backgroundWorkRemoved","id":"u"})"},
         R"({"backgroundWork":[{"id":"w","label":"c"}]})");
  expect(chat, R"({"backgroundWork":[{"id":"w"}]})",
         {R"({"type":"chat/backgroundWorkRemoved","id":"w"})"}, R"({"backgroundWork":[]})");
  expect(
    chat, R"({"canvases":[1]})",
    {R"({"type":"chat/changesetsChanged","changesets":[]})", R"({"type":"chat/canvasesChanged"})"},
    R"({"changesets":[]})");
}

TEST_CASE("a tool call's input, owner and intention are refined by the rules of 0.7") {
  constexpr auto reference = R"({"uri":"ahp-blob:/1"})";
  const auto pending = [&](std::string_view input) {
    return calling(R"({"toolCallId":"k1","status":"pending-confirmation","toolInput":)" +
                     std::string(input) + "}",
                   24);
  };
  const auto confirm = on_call(
    "toolCallConfirmed", R"("approved":true,"confirmed":"user-action","editedToolInput":"b")");
  const auto running = [](std::string_view input) {
    return calling(
      R"({"toolCallId":"k1","status":"running","confirmed":"user-action","toolInput":)" +
      std::string(input) + "}");
  };
  expect(chat, pending("\"a\""), {confirm}, running("\"b\""));
  expect(chat, pending(reference), {confirm}, running(reference));

  // Input is inherited from a running call, and not from one that still streams.
  expect(
    chat, running("\"a\""), {on_call("toolCallReady", R"("invocationMessage":"again")")},
    calling(
      R"({"toolCallId":"k1","status":"pending-confirmation","toolInput":"a","invocationMessage":"again"})",
      24));
  expect(
    chat, calling(R"({"toolCallId":"k1","status":"streaming","partialInput":"{","toolInput":"a"})"),
    {on_call("toolCallReady",
             R"("invocationMessage":"go","confirmed":"not-needed","intention":"why")")},
    calling(
      R"({"toolCallId":"k1","status":"running","confirmed":"not-needed","invocationMessage":"go","intention":"why"})"));

  const auto owned = [](std::string_view owner) {
    return R"({"toolCallId":"k1","status":"streaming","contributor":)" + std::string(owner) + "}";
  };
  const auto ready = [](std::string_view owner, std::string_view given) {
    return R"({"toolCallId":"k1","status":"running","confirmed":"setting","contributor":)" +
           std::string(given.empty() ? owner : given) + "}";
  };
  constexpr auto server = R"({"kind":"mcp","customizationId":"m"})";
  constexpr auto refined = R"({"kind":"mcp","customizationId":"n"})";
  constexpr auto client = R"({"kind":"client","clientId":"c"})";
  constexpr auto other = R"({"kind":"client","clientId":"d"})";
  const auto refine = [&](std::string_view from, std::string_view to, std::string_view result) {
    expect(chat, calling(owned(from)),
           {on_call("toolCallReady", R"("confirmed":"setting","contributor":)" + std::string(to))},
           calling(ready(result, "")));
  };
  refine("null", server, server);
  refine(server, refined, refined);
  refine(client, server, client);
  refine(client, other, client);
  refine(server, client, server);
  refine("null", client, "null");
  expect(chat, calling(R"({"toolCallId":"k1","status":"streaming"})"),
         {on_call("toolCallDelta", R"("invocationMessage":"soon")")},
         calling(R"({"toolCallId":"k1","status":"streaming","invocationMessage":"soon"})"));
}

TEST_CASE("a question asked again keeps the answers it has, unless it brings some") {
  const auto asking = [](std::string_view text, std::string_view answers) {
    return R"({"status":24,"activeTurn":{"id":"t1","responseParts":[{"kind":"inputRequest","request":{"id":"r","message":")" +
           std::string(text) + R"(","answers":)" + std::string(answers) + "}}]}}";
  };
  const auto before = asking("old", R"({"q":{"state":"skipped"}})");
  expect(chat, before, {R"({"type":"chat/inputRequested","request":{"id":"r","message":"new"}})"},
         asking("new", R"({"q":{"state":"skipped"}})"));
  expect(
    chat, before,
    {R"({"type":"chat/inputRequested","request":{"id":"r","message":"new","answers":{"p":{"state":"skipped"}}}})"},
    asking("new", R"({"p":{"state":"skipped"}})"));
}

TEST_CASE("a result cannot rewrite the call it belongs to") {
  expect(
    chat, calling(R"({"toolCallId":"k1","status":"running","confirmed":"setting"})"),
    {on_call("toolCallComplete",
             R"("result":{"success":true,"status":"running","toolCallId":"k2","future":1})")},
    calling(
      R"({"toolCallId":"k1","status":"completed","confirmed":"setting","success":true,"future":1})"));
}

TEST_CASE("terminals end in a lifecycle, with a code when there is one") {
  const auto kind = channel_kind::terminal;
  expect(kind, R"({"lifecycle":{"status":"running"}})",
         {R"({"type":"terminal/exited","exitCode":3})"},
         R"({"lifecycle":{"status":"exited","exitCode":3}})");
  expect(kind, R"({"lifecycle":{"status":"running"}})", {R"({"type":"terminal/exited"})"},
         R"({"lifecycle":{"status":"exited"}})");
}

TEST_CASE("annotations move by origin and keep their other members") {
  expect(
    channel_kind::annotations,
    R"({"annotations":[{"id":"a","origin":{"session":"s"},"entries":[],"_meta":{"x":1}}]})",
    {R"({"type":"annotations/updated","annotationId":"a","origin":{"session":"s","turnId":"t2"},"resolved":true})"},
    R"({"annotations":[{"id":"a","origin":{"session":"s","turnId":"t2"},"resolved":true,"entries":[],"_meta":{"x":1}}]})");
}

TEST_CASE("automations are set and removed by resource; wishes change nothing") {
  const auto kind = channel_kind::automations;
  expect(kind, R"({"entries":[]})",
         {R"({"type":"automation/set","automation":{"resource":"a","n":1}})",
          R"({"type":"automation/set","automation":{"resource":"b","n":1}})",
          R"({"type":"automation/set","automation":{"resource":"a","n":2}})",
          R"({"type":"automation/removed","resource":"b"})",
          R"({"type":"automation/removed","resource":"c"})"},
         R"({"entries":[{"resource":"a","n":2}]})");
  same(kind, R"({"entries":[]})",
       R"({"type":"automation/createRequested","resource":"a","definition":{}})");
  same(kind, R"({"entries":[{"resource":"a"}]})",
       R"({"type":"automation/updateRequested","resource":"a","changes":{"title":"x"}})");
}

TEST_CASE("an automation run follows its lifecycle and its sessions") {
  const auto kind = channel_kind::automation_run;
  expect(
    kind, R"({"lifecycle":{"status":"pending"},"operations":["cancel"],"sessions":[]})",
    {R"({"type":"automationRun/lifecycleChanged","lifecycle":{"status":"running"},"operations":[]})",
     R"({"type":"automationRun/sessionSet","session":"s1"})",
     R"({"type":"automationRun/sessionSet","session":"s2"})",
     R"({"type":"automationRun/sessionSet","session":"s1"})",
     R"({"type":"automationRun/primarySessionChanged","primarySession":"s1"})",
     R"({"type":"automationRun/sessionRemoved","session":"s2"})"},
    R"({"lifecycle":{"status":"running"},"operations":[],"sessions":["s1"],"primarySession":"s1"})");
  expect(kind, R"({"sessions":["s1"],"primarySession":"s1"})",
         {R"({"type":"automationRun/sessionRemoved","session":"s1"})"}, R"({"sessions":[]})");
  expect(kind, R"({"primarySession":"s1"})", {R"({"type":"automationRun/primarySessionChanged"})"},
         "{}");
  same(kind, R"({"sessions":["s1"]})", R"({"type":"automationRun/sessionRemoved","session":"s2"})");
  same(kind, R"({"sessions":["s1"]})", R"({"type":"automationRun/cancelRequested"})");
}

TEST_CASE("machines are added, changed and removed by id") {
  const auto kind = channel_kind::computers;
  expect(kind, R"({"records":[]})",
         {R"({"type":"x-ahpd-computers/added","id":"box","record":{"state":"running"}})",
          R"({"type":"x-ahpd-computers/changed","id":"box","record":{"state":"stopped"}})",
          R"({"type":"x-ahpd-computers/removed","id":"pot"})"},
         R"({"records":[{"id":"box","record":{"state":"stopped"}}]})");
  same(kind, R"({"records":[]})", R"({"type":"x-ahpd-computers/added","id":"box"})");
}

TEST_CASE("text is appended in place, however many parts the turn has") {
  std::string parts = R"({"kind":"markdown","id":"p0","content":"first"})";
  for (int i = 1; i < 1000; ++i)
    parts += R"(,{"kind":"markdown","id":"p)" + std::to_string(i) + R"(","content":""})";
  auto state = parsed(R"({"activeTurn":{"id":"t1","responseParts":[)" + parts + "]}}");
  const auto* before = &state.at("activeTurn").at("responseParts").at(999);
  const auto delta =
    parsed(R"({"type":"chat/delta","turnId":"t1","partId":"p999","content":"ab"})");
  for (int i = 0; i < 10'000; ++i)
    REQUIRE(ahpd::ahp::reduce(chat, state, delta));
  CHECK(&state.at("activeTurn").at("responseParts").at(999) == before);
  CHECK(before->at("content").as_string().size() == 20'000);
  CHECK(ahpd::ahp::reduce(
    chat, state, parsed(R"({"type":"chat/delta","turnId":"t1","partId":"p0","content":"!"})")));
  CHECK(state.at("activeTurn").at("responseParts").at(0).at("content") == json::value("first!"));
}
