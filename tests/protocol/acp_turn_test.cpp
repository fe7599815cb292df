#include "protocol/acp/turn.hpp"

#include <doctest/doctest.h>

using namespace ahpd;

namespace {

/// A turn whose actions are read as short texts: "type field …".
struct fixture {
  acp::turn turn{"t", {2.0, "USD"}};

  void take(const std::string& update) { turn.take(json::parse(update)); }
  void chunk(const std::string& kind, const std::string& text) {
    turn.take({{"sessionUpdate", kind}, {"content", {{"type", "text"}, {"text", text}}}});
  }
  std::vector<json::value> drain() {
    auto out = turn.drain();
    for (const auto& action : out)
      CHECK(action.at("turnId") == json::value("t"));
    return out;
  }
  std::string types() {
    std::string out;
    for (const auto& action : drain())
      out += (out.empty() ? "" : " ") + std::string(action.at("type").as_string()).substr(5);
    return out;
  }
};

const std::string text = "agent_message_chunk";
const std::string thought = "agent_thought_chunk";

} // namespace

TEST_CASE_FIXTURE(fixture,
                  "message chunks open a part at the first that is not blank and then fill it") {
  chunk(text, "\n ");
  turn.flush();
  CHECK(drain().empty());
  chunk(text, "Hel");
  chunk(text, "lo");
  CHECK(turn.gathered());
  CHECK(drain().empty());
  turn.flush();
  const auto got = drain();
  REQUIRE(got.size() == 2);
  CHECK(got[0].at("type") == json::value("chat/responsePart"));
  CHECK(got[0].at("part").at("kind") == json::value("markdown"));
  CHECK(got[0].at("part").at("content") == json::value(""));
  CHECK(got[1].at("type") == json::value("chat/delta"));
  CHECK(got[1].at("partId") == got[0].at("part").at("id"));
  CHECK(got[1].at("content") == json::value("\n Hello"));
  CHECK_FALSE(turn.gathered());
  chunk(text, " you");
  turn.flush();
  CHECK(types() == "delta");
}

TEST_CASE_FIXTURE(fixture, "thoughts are a reasoning part of their own") {
  chunk(thought, "hm");
  chunk(text, "yes");
  turn.flush();
  const auto got = drain();
  REQUIRE(got.size() == 4);
  CHECK(got[0].at("part").at("kind") == json::value("reasoning"));
  CHECK(got[1].at("type") == json::value("chat/reasoning"));
  CHECK(got[2].at("part").at("kind") == json::value("markdown"));
  CHECK(got[3].at("content") == json::value("yes"));
}

TEST_CASE_FIXTURE(fixture, "another message begins another part") {
  take(
    R"({"sessionUpdate":"agent_message_chunk","messageId":"a","content":{"type":"text","text":"1"}})");
  take(
    R"({"sessionUpdate":"agent_message_chunk","messageId":"b","content":{"type":"text","text":"2"}})");
  turn.flush();
  CHECK(types() == "responsePart delta responsePart delta");
}

TEST_CASE_FIXTURE(fixture, "a tool call starts, is ready once it has left pending, and completes") {
  chunk(text, "first");
  take(R"({"sessionUpdate":"tool_call","toolCallId":"c","title":"Read x","kind":"read",
           "status":"pending","rawInput":{"path":"x"}})");
  auto got = drain();
  REQUIRE(got.size() == 3);
  CHECK(got[1].at("content") == json::value("first"));
  CHECK(got[2].at("type") == json::value("chat/toolCallStart"));
  CHECK(got[2].at("toolCallId") == json::value("c"));
  CHECK(got[2].at("toolName") == json::value("read"));
  CHECK(got[2].at("displayName") == json::value("Read x"));
  take(R"({"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress"})");
  got = drain();
  REQUIRE(got.size() == 1);
  CHECK(got[0].at("type") == json::value("chat/toolCallReady"));
  CHECK(got[0].at("confirmed") == json::value("not-needed"));
  CHECK(got[0].at("invocationMessage") == json::value("Read x"));
  CHECK(got[0].at("toolInput") == json::value("{\"path\":\"x\"}"));
  take(R"({"sessionUpdate":"tool_call_update","toolCallId":"c",
           "content":[{"type":"content","content":{"type":"text","text":"one"}}]})");
  CHECK(turn.gathered());
  turn.flush();
  got = drain();
  REQUIRE(got.size() == 1);
  CHECK(got[0].at("type") == json::value("chat/toolCallContentChanged"));
  CHECK(got[0].at("content") == json::parse(R"([{"type":"text","text":"one"}])"));
  take(R"({"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"})");
  got = drain();
  REQUIRE(got.size() == 1);
  const auto& result = got[0].at("result");
  CHECK(result.at("success") == json::value(true));
  CHECK(result.at("pastTenseMessage") == json::value("Read x"));
  CHECK(result.at("content") == json::parse(R"([{"type":"text","text":"one"}])"));
  take(R"({"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed"})");
  CHECK(drain().empty());
}

TEST_CASE_FIXTURE(fixture, "a failed tool says what it said, else that it failed") {
  take(R"({"sessionUpdate":"tool_call","toolCallId":"a","title":"A","status":"failed",
           "content":[{"type":"content","content":{"type":"text","text":"no such file"}}]})");
  auto got = drain();
  REQUIRE(got.size() == 3);
  CHECK(got[2].at("result").at("error").at("message") == json::value("no such file"));
  CHECK(got[2].at("result").at("success") == json::value(false));
  take(R"({"sessionUpdate":"tool_call_update","toolCallId":"b","status":"failed"})");
  got = drain();
  REQUIRE(got.size() == 3); // an update of a call that was never announced announces it
  CHECK(got[2].at("result").at("error").at("message") == json::value("The tool failed"));
}

TEST_CASE_FIXTURE(fixture, "content of a call is text, a terminal, an edit, or what is embedded") {
  take(
    R"({"sessionUpdate":"tool_call","toolCallId":"c","title":"C","status":"in_progress","content":[
    {"type":"terminal","terminalId":"ahp-terminal:/1"},
    {"type":"diff","path":"/w/a b.txt","oldText":"x","newText":"y"},
    {"type":"content","content":{"type":"image","data":"AA==","mimeType":"image/png"}},
    {"type":"content","content":{"type":"resource_link","uri":"file:///x","name":"x"}},
    {"type":"hologram"}]})");
  turn.flush();
  const auto got = drain();
  REQUIRE(got.size() == 3);
  CHECK(got[2].at("content") == json::parse(R"([
    {"type":"terminal","resource":"ahp-terminal:/1","title":"Terminal","isPty":false},
    {"type":"fileEdit","after":{"uri":"file:///w/a%20b.txt","content":{"uri":"file:///w/a%20b.txt"}}},
    {"type":"embeddedResource","data":"AA==","contentType":"image/png"},
    {"type":"resource","uri":"file:///x"}])"));
}

TEST_CASE_FIXTURE(fixture, "a plan is one call that is rewritten and ends with the turn") {
  take(
    R"({"sessionUpdate":"plan","entries":[{"content":"a","status":"completed"},{"content":"b","status":"pending"}]})");
  take(
    R"({"sessionUpdate":"plan","entries":[{"content":"a","status":"completed"},{"content":"b","status":"completed"}]})");
  turn.finish();
  const auto got = drain();
  REQUIRE(got.size() == 4);
  CHECK(got[0].at("toolCallId") == json::value("t:plan"));
  CHECK(got[0].at("toolName") == json::value("plan"));
  CHECK(got[1].at("confirmed") == json::value("not-needed"));
  CHECK(got[2].at("content").at(0).at("text") == json::value("- [x] a\n- [x] b\n"));
  CHECK(got[3].at("result").at("content").at(0).at("text") == json::value("- [x] a\n- [x] b\n"));
}

TEST_CASE_FIXTURE(fixture,
                  "usage has the context and what this turn cost, and the counts of the answer") {
  take(
    R"({"sessionUpdate":"usage_update","used":10,"size":100,"cost":{"amount":2.5,"currency":"USD"}})");
  turn.flush();
  auto got = drain();
  REQUIRE(got.size() == 1);
  CHECK(
    got[0].at("usage") ==
    json::parse(
      R"({"_meta":{"context":{"used":10,"size":100},"cost":{"amount":0.5,"currency":"USD"}}})"));
  CHECK(turn.total_cost().amount == 2.5);
  turn.take_answer(json::parse(
    R"({"stopReason":"end_turn","usage":{"inputTokens":3,"outputTokens":4,"cachedReadTokens":1,"totalTokens":8}})"));
  turn.finish();
  got = drain();
  REQUIRE(got.size() == 1);
  CHECK(got[0].at("usage").at("inputTokens") == json::value(3));
  CHECK(got[0].at("usage").at("cacheReadTokens") == json::value(1));
  CHECK(got[0].at("usage").at("_meta").at("context").at("used") == json::value(10));
}

TEST_CASE_FIXTURE(fixture, "a call that asks waits, and a denied one is over") {
  const auto call = json::parse(
    R"({"toolCallId":"c","title":"rm -r","status":"in_progress","rawInput":"rm -r /"})");
  CHECK(turn.ask(call, {json::object{{"id", "y"}}}) == "c");
  auto got = drain();
  REQUIRE(got.size() == 2);
  CHECK(got[1].at("type") == json::value("chat/toolCallReady"));
  CHECK_FALSE(got[1].as_object().contains("confirmed"));
  CHECK(got[1].at("options") == json::parse(R"([{"id":"y"}])"));
  CHECK(got[1].at("toolInput") == json::value("rm -r /"));
  // the confirmation makes it run, so it is not made ready again
  take(R"({"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress"})");
  CHECK(drain().empty());
  turn.deny("c");
  take(R"({"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed"})");
  CHECK(drain().empty());
  CHECK(turn.ask(call, {}) == "");
  CHECK(turn.ask(json::parse("{}"), {}) == "");
}

TEST_CASE_FIXTURE(fixture, "the draft's messages come whole or in pieces, and not twice") {
  take(
    R"({"sessionUpdate":"agent_message_chunk","messageId":"a","content":{"type":"text","text":"pieces"}})");
  take(
    R"({"sessionUpdate":"agent_message","messageId":"a","content":[{"type":"text","text":"pieces"}]})");
  take(
    R"({"sessionUpdate":"agent_thought","messageId":"b","content":[{"type":"text","text":"who"},{"type":"text","text":"le"}]})");
  turn.flush();
  const auto got = drain();
  REQUIRE(got.size() == 4);
  CHECK(got[1].at("content") == json::value("pieces"));
  CHECK(got[3].at("type") == json::value("chat/reasoning"));
  CHECK(got[3].at("content") == json::value("whole"));
}

TEST_CASE_FIXTURE(fixture, "the draft's tool calls grow by pieces of content and name every file") {
  take(
    R"({"sessionUpdate":"tool_call_update","toolCallId":"c","title":"C","status":"in_progress"})");
  take(
    R"({"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"content","content":{"type":"text","text":"1"}}})");
  take(
    R"({"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"diff","changes":[
    {"operation":"add","path":"/a"},{"operation":"delete","path":"/b"},{"operation":"move","oldPath":"/c","path":"/d"}]}})");
  take(
    R"({"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"terminal","terminalId":"own"}})");
  turn.flush();
  auto got = drain();
  REQUIRE(got.size() == 3);
  const auto& content = got[2].at("content").as_array();
  REQUIRE(content.size() == 5);
  CHECK(content[1].at("after").at("uri") == json::value("file:///a"));
  CHECK_FALSE(content[1].as_object().contains("before"));
  CHECK(content[2].at("before").at("uri") == json::value("file:///b"));
  CHECK_FALSE(content[2].as_object().contains("after"));
  CHECK(content[3].at("before").at("uri") == json::value("file:///c"));
  CHECK(content[3].at("after").at("uri") == json::value("file:///d"));
  CHECK(content[4].at("text") == json::value("(a terminal of the agent's own)"));
  take(R"({"sessionUpdate":"tool_call_update","toolCallId":"c","status":"cancelled"})");
  got = drain();
  REQUIRE(got.size() == 1);
  CHECK(got[0].at("result").at("success") == json::value(false));
}

TEST_CASE_FIXTURE(fixture, "the draft's plan is a plan") {
  take(
    R"({"sessionUpdate":"plan_update","plan":{"type":"items","planId":"p","entries":[{"content":"a","status":"completed"}]}})");
  turn.finish();
  CHECK(types() == "toolCallStart toolCallReady toolCallContentChanged toolCallComplete");
}

TEST_CASE_FIXTURE(fixture, "what is not of a turn, or of nobody, changes nothing") {
  for (const auto* update :
       {R"({"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"me"}})",
        R"({"sessionUpdate":"dance"})", R"({})", R"([])", R"({"sessionUpdate":4})",
        R"({"sessionUpdate":"tool_call"})", R"({"sessionUpdate":"agent_message_chunk"})",
        R"({"sessionUpdate":"usage_update"})",
        R"({"sessionUpdate":"usage_update","cost":{"amount":"x"}})"})
    take(update);
  turn.finish();
  CHECK(drain().empty());
}

TEST_CASE_FIXTURE(fixture, "the size of a turn grows with what it holds") {
  CHECK(turn.size() == 0);
  chunk(text, std::string(1000, 'x'));
  CHECK(turn.size() >= 1000);
  const auto before = turn.size();
  for (int i = 0; i < 3; ++i) // rewritten, not added
    turn.take({{"sessionUpdate", "tool_call_update"},
               {"toolCallId", "c"},
               {"content",
                {{{"type", "content"},
                  {"content", {{"type", "text"}, {"text", std::string(1000, 'x')}}}}}}});
  CHECK(turn.size() >= before + 1000);
  CHECK(turn.size() < before + 2000);
}

TEST_CASE("stop reasons of acp end a turn as complete, cancelled or failed") {
  const auto ending = [](const char* why) { return acp::ending_of({{"stopReason", why}}); };
  CHECK(ending("end_turn").error_type.empty());
  CHECK(ending("who_knows").error_type.empty());
  CHECK_FALSE(ending("end_turn").cancelled);
  CHECK(ending("cancelled").cancelled);
  for (const auto* why : {"max_tokens", "max_turn_requests", "refusal", "error"})
    CHECK(ending(why).error_type == why);
  CHECK(acp::ending_of(nullptr).error_type.empty());
}

TEST_CASE_FIXTURE(fixture,
                  "an agent's word of a call that is shown elsewhere is left out, unless it "
                  "asks about it") {
  turn.leave_out({"ed__add"});
  take(R"({"sessionUpdate":"tool_call","toolCallId":"a","title":"mcp__ahp__ed__add"})");
  take(
    R"({"sessionUpdate":"tool_call_update","toolCallId":"a","title":"x","status":"in_progress"})");
  take(R"({"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed"})");
  turn.finish();
  CHECK(types().empty());
  take(R"({"sessionUpdate":"tool_call","toolCallId":"b","title":"ed__sub","status":"completed"})");
  CHECK(types() == "toolCallStart toolCallReady toolCallComplete");
  take(R"({"sessionUpdate":"tool_call","toolCallId":"c","title":"ed__add","status":"pending"})");
  CHECK(turn.ask(json::parse(R"({"toolCallId":"c","title":"ed__add"})"), {}) == "c");
  take(R"({"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"})");
  CHECK(types() == "toolCallStart toolCallReady toolCallComplete");
}

TEST_CASE_FIXTURE(fixture, "a call that only mentions a tool that is shown elsewhere is shown") {
  turn.leave_out({"ed__add"});
  const auto seen = [&](const char* id, const char* title, const char* kind) {
    take(json::serialize(json::object{{"sessionUpdate", "tool_call"},
                                      {"toolCallId", id},
                                      {"title", title},
                                      {"kind", kind},
                                      {"status", "completed"}}));
    return !types().empty();
  };
  CHECK_FALSE(seen("a", "ahp.ed__add", "other"));
  CHECK_FALSE(seen("b", "ed__add, then ed__add", "other"));
  CHECK(seen("c", "grep ed__add", "execute"));
  CHECK(seen("d", "ed__add", "edit"));
  CHECK(seen("e", "ed__add_all", "other"));
  CHECK(seen("f", "ted__add", "other"));
  CHECK(seen("g", "ed__adder", "other"));
  // what it is may come later
  CHECK_FALSE(seen("h", "ed__add", ""));
  take(R"({"sessionUpdate":"tool_call_update","toolCallId":"h","kind":"execute"})");
  CHECK(types() == "toolCallStart");
}

TEST_CASE_FIXTURE(fixture, "the edits of a call are told when it completes, as it said them last") {
  take(R"({"sessionUpdate":"tool_call","toolCallId":"c","title":"Edit","status":"pending",
           "content":[{"type":"diff","path":"/w/a","oldText":"1","newText":"2"}]})");
  CHECK(turn.drain_edits().empty());
  take(R"({"sessionUpdate":"tool_call_update","toolCallId":"c","content":[
           {"type":"diff","path":"/w/a","oldText":"1","newText":"3"},
           {"type":"diff","path":"/w/b","oldText":null,"newText":"4"},
           {"type":"diff","newText":"of no file"}]})");
  take(R"({"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed",
           "content":[{"type":"content","content":{"type":"text","text":"done"}}]})");
  const auto edits = turn.drain_edits();
  REQUIRE(edits.size() == 2);
  CHECK(edits[0].told);
  REQUIRE(edits[0].before);
  CHECK(edits[0].before->text == "1");
  CHECK(edits[0].after->path == "/w/a");
  CHECK(edits[0].after->text == "3");
  CHECK_FALSE(edits[1].before); // made
  CHECK(edits[1].after->text == "4");
  take(R"({"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed",
           "content":[{"type":"diff","path":"/w/a","newText":"5"}]})");
  CHECK(turn.drain_edits().empty()); // it is over
}

TEST_CASE_FIXTURE(fixture, "edits of a call that failed, was denied or never completed are none") {
  const auto call = [this](const std::string& id, const std::string& status) {
    take(R"({"sessionUpdate":"tool_call","toolCallId":")" + id + R"(","title":"Edit","status":")" +
         status + R"(","content":[{"type":"diff","path":"/w/a","newText":"2"}]})");
  };
  call("failed", "failed");
  call("open", "in_progress");
  call("asked", "pending");
  CHECK(turn.ask(json::parse(R"({"toolCallId":"asked","title":"Edit"})"), {}) == "asked");
  turn.deny("asked");
  turn.finish();
  CHECK(turn.drain_edits().empty());
}

TEST_CASE_FIXTURE(fixture,
                  "a diff of the draft tells what became of each file, and not what is in it") {
  take(R"({"sessionUpdate":"tool_call","toolCallId":"c","title":"Edit","status":"completed",
           "content":[{"type":"diff","changes":[{"operation":"add","path":"/w/a"},
             {"operation":"modify","path":"/w/b"},{"operation":"delete","path":"/w/c"},
             {"operation":"move","oldPath":"/w/d","path":"/w/e"}]}]})");
  std::string said;
  for (const auto& edit : turn.drain_edits()) {
    for (const auto* side : {&edit.before, &edit.after}) {
      said += *side ? (*side)->path + " " : "- ";
      if (*side) {
        CHECK_FALSE((*side)->text);
        CHECK((*side)->missing == "the agent did not tell what is in it");
      }
    }
  }
  CHECK(said == "- /w/a /w/b /w/b /w/c - /w/d /w/e ");
}

TEST_CASE_FIXTURE(fixture, "of texts that calls under way tell only so much is held") {
  const std::string large(1u << 20, 'x');
  const auto call = [&](int n, const char* status) {
    turn.take({{"sessionUpdate", "tool_call"},
               {"toolCallId", std::to_string(n)},
               {"title", "Edit"},
               {"status", status},
               {"content",
                {{{"type", "diff"}, {"path", "/w/a"}, {"oldText", nullptr}, {"newText", large}}}}});
  };
  for (int n = 0; n < 17; ++n)
    call(n, "in_progress");
  call(16, "completed");
  const auto last = turn.drain_edits();
  REQUIRE(last.size() == 1);
  CHECK_FALSE(last[0].after->text);
  CHECK(last[0].after->missing == "the agent told more than this host holds before it is done");
  call(0, "completed"); // its own text makes room for itself
  const auto first = turn.drain_edits();
  REQUIRE(first.size() == 1);
  CHECK(first[0].after->text == large);
}

TEST_CASE_FIXTURE(fixture,
                  "a text that is too large for a changeset is held as far as that shows") {
  turn.take({{"sessionUpdate", "tool_call"},
             {"toolCallId", "c"},
             {"title", "Edit"},
             {"status", "completed"},
             {"content",
              {{{"type", "diff"},
                {"path", "/w/a"},
                {"newText", std::string(ahp::most_content_bytes + 5, 'x')}}}}});
  const auto edits = turn.drain_edits();
  REQUIRE(edits.size() == 1);
  CHECK(edits[0].after->text->size() == ahp::most_content_bytes + 1);
}
