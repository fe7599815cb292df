#include "protocol/ahp/uris.hpp"
#include "tests/programs/fake_hub.hpp"
#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <fstream>

using namespace ahpd;
using tests::fake_hub;

namespace {

/// `ahpd run` against a hub that the test plays.
struct run_fixture {
  fake_hub hub;
  tests::scratch home;

  tests::program start(std::vector<std::string> words) const {
    words.insert(words.begin(), {AHPD_BINARY, "run", "--remote", hub.url()});
    return tests::program({words, {{"XDG_CONFIG_HOME", home.path()}}, {}});
  }

  static json::value out(std::string_view text, int offset) {
    return {{"type", "text"},
            {"text", text},
            {"_meta", {{"ahpd.stream", "stdout"}, {"ahpd.offset", offset}}}};
  }
  static json::value err(std::string_view text, int offset) {
    return {{"type", "text"},
            {"text", text},
            {"_meta", {{"ahpd.stream", "stderr"}, {"ahpd.offset", offset}}}};
  }

  /// An action of the turn, with its ids.
  void say(const json::value& turn, std::string_view type, json::object more = {}) {
    more["type"] = type;
    more["turnId"] = turn.at("action").at("turnId");
    if (type.find("toolCall") != std::string_view::npos)
      more["toolCallId"] = "k1";
    hub.action(fake_hub::chat, more);
  }

  void start_tool(const json::value& turn) {
    say(turn, "chat/toolCallStart", {{"toolName", "shell"}, {"displayName", "Shell"}});
    say(turn, "chat/toolCallReady",
        {{"invocationMessage", "Run"}, {"toolInput", "x"}, {"confirmed", "not-needed"}});
  }

  void complete_tool(const json::value& turn, bool success, const json::array& content,
                     const json::value& structured) {
    say(turn, "chat/toolCallComplete",
        {{"result",
          {{"success", success},
           {"pastTenseMessage", "Ran"},
           {"content", content},
           {"error", {{"message", "how it ended"}}},
           {"structuredContent", structured}}}});
  }

  void end(const json::value& turn) { say(turn, "chat/turnComplete", {{"duration", 5}}); }
};

} // namespace

TEST_CASE_FIXTURE(run_fixture, "run streams both outputs as they come, each byte once") {
  auto ahpd = start({"--agent", "shell", "--computer", "box", "echo", "hi"});
  json::value created;
  const auto turn = hub.greet_turn(&created);
  CHECK(created.at("provider") == "shell");
  CHECK(created.at("config").at("computer") == "computer://box");
  CHECK(turn.at("action").at("message").at("text") == "echo hi");
  CHECK(turn.at("action").at("message").at("origin").at("kind") == "user");
  start_tool(turn);
  say(turn, "chat/toolCallContentChanged", {{"content", json::array{out("one\n", 0)}}});
  ahpd.wait_for_output("one\n"); // before the command has ended
  const json::array all{out("one\n", 0), err("oops\n", 0), out("two", 4)};
  say(turn, "chat/toolCallContentChanged", {{"content", all}});
  complete_tool(turn, true, all, {{"exitCode", 0}});
  end(turn);
  CHECK(ahpd.wait() == 0);
  CHECK(ahpd.output() == "one\ntwo");
  CHECK(ahpd.errors() == "oops\n");
}

TEST_CASE_FIXTURE(run_fixture, "run ends with the exit status of the command that failed") {
  auto ahpd = start({"exit 7"});
  const auto turn = hub.greet_turn();
  start_tool(turn);
  SUBCASE("an exit code") {
    complete_tool(turn, false, {}, {{"exitCode", 7}});
    end(turn);
    CHECK(ahpd.wait() == 7);
    CHECK(ahpd.errors().empty()); // the command's own words are enough
  }
  SUBCASE("a signal") {
    complete_tool(turn, false, {}, {{"signal", 9}});
    end(turn);
    CHECK(ahpd.wait() == 137);
    CHECK(ahpd.errors() == "ahpd: how it ended\n");
  }
  SUBCASE("neither is known") {
    complete_tool(turn, false, {}, json::object{});
    end(turn);
    CHECK(ahpd.wait() == 1);
  }
}

TEST_CASE_FIXTURE(run_fixture,
                  "run writes bytes that are no text as they are, and says what was evicted") {
  auto ahpd = start({"cat /dev/random"});
  const auto turn = hub.greet_turn();
  const std::string bytes("\xff\x00\xfe", 3);
  start_tool(turn);
  const json::value blob{{"type", "embeddedResource"},
                         {"data", ahp::base64_encode(bytes)},
                         {"contentType", "application/octet-stream"},
                         {"_meta", {{"ahpd.stream", "stdout"}, {"ahpd.offset", 2}}}};
  say(turn, "chat/toolCallContentChanged", {{"content", json::array{out("ab", 0), blob}}});
  complete_tool(turn, true, {out("tail", 100)}, {{"exitCode", 0}});
  end(turn);
  CHECK(ahpd.wait() == 0);
  CHECK(ahpd.output() == "ab" + bytes + "tail");
  CHECK(ahpd.errors().find("95 bytes of standard output are left out") != std::string::npos);
}

TEST_CASE_FIXTURE(run_fixture, "run prints markdown as it grows and a failed turn's reason") {
  auto ahpd = start({"explain"});
  const auto turn = hub.greet_turn();
  say(turn, "chat/responsePart",
      {{"part", {{"kind", "markdown"}, {"id", "p1"}, {"content", "He"}}}});
  say(turn, "chat/delta", {{"partId", "p1"}, {"content", "llo"}});
  ahpd.wait_for_output("Hello");
  say(turn, "chat/error",
      {{"duration", 3},
       {"part",
        {{"kind", "error"}, {"error", {{"errorType", "x"}, {"message", "no more\x1b[31m"}}}}}});
  CHECK(ahpd.wait() == 1);
  CHECK(ahpd.output() == "Hello");
  CHECK(ahpd.errors() == "ahpd: the turn failed: no more [31m\n");
}

TEST_CASE_FIXTURE(run_fixture, "Ctrl-C cancels the turn and gives 130") {
  auto ahpd = start({"sleep 100"});
  const auto turn = hub.greet_turn();
  start_tool(turn);
  say(turn, "chat/toolCallContentChanged", {{"content", json::array{out("begun\n", 0)}}});
  ahpd.wait_for_output("begun");
  ahpd.signal(SIGINT);
  const auto cancel = hub.expect_action("chat/turnCancelled");
  CHECK(cancel.at("action").at("turnId") == turn.at("action").at("turnId"));
  SUBCASE("once the hub says so") {
    hub.action(fake_hub::chat, cancel.at("action"), cancel);
    CHECK(ahpd.wait() == 130);
    CHECK(ahpd.errors().find("the turn was cancelled") != std::string::npos);
  }
  SUBCASE("a second one leaves at once") {
    ahpd.signal(SIGINT);
    CHECK(ahpd.wait() == 130);
  }
}

TEST_CASE_FIXTURE(run_fixture, "a lost connection is taken up again without repeating a byte") {
  auto ahpd = start({"long"});
  const auto turn = hub.greet_turn();
  start_tool(turn);
  say(turn, "chat/toolCallContentChanged", {{"content", json::array{out("first ", 0)}}});
  ahpd.wait_for_output("first ");
  hub.drop();
  hub.greet();
  hub.answer_subscription({{"lifecycle", "ready"}, {"defaultChat", fake_hub::chat}});
  json::value active{
    {"id", turn.at("action").at("turnId")},
    {"startedAt", "2026-11-30T10:00:00.000Z"},
    {"message", turn.at("action").at("message")},
    {"responseParts", json::array{{{"kind", "toolCall"},
                                   {"toolCall",
                                    {{"status", "running"},
                                     {"toolCallId", "k1"},
                                     {"toolName", "shell"},
                                     {"displayName", "Shell"},
                                     {"invocationMessage", "Run"},
                                     {"confirmed", "not-needed"},
                                     {"content", json::array{out("first second ", 0)}}}}}}}};
  json::object state{{"resource", fake_hub::chat},
                     {"title", ""},
                     {"status", 8},
                     {"modifiedAt", "2026-11-30T10:00:00.000Z"},
                     {"turns", json::array{}}};
  SUBCASE("the turn still runs") {
    state["activeTurn"] = active;
    hub.answer_subscription(state);
    complete_tool(turn, true, {out("first second third", 0)}, {{"exitCode", 0}});
    end(turn);
    CHECK(ahpd.wait() == 0);
    CHECK(ahpd.output() == "first second third");
  }
  SUBCASE("it ended meanwhile") {
    active.get_object()["state"] = "complete";
    state["turns"] = json::array{active};
    hub.answer_subscription(state);
    CHECK(ahpd.wait() == 0);
    CHECK(ahpd.output() == "first second ");
  }
  SUBCASE("the hub does not know it") {
    hub.answer_subscription(state);
    CHECK(ahpd.wait() == 1);
    CHECK(ahpd.errors().find("the hub does not know the turn") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(run_fixture, "a turn that the hub does not take is an error with its reason") {
  auto ahpd = start({"hello"});
  hub.greet();
  const auto create = hub.expect("createSession");
  SUBCASE("no such agent") {
    hub.refuse(create, -32002, "No provider called nobody");
    CHECK(ahpd.wait() == 1);
    CHECK(ahpd.errors().find("-32002 (no such agent): No provider called nobody") !=
          std::string::npos);
  }
  SUBCASE("the session fails") {
    hub.answer(create, nullptr);
    hub.answer_subscription({{"lifecycle", "creating"}, {"chats", json::array{}}});
    hub.action(std::string(create.at("params").at("channel").as_string()),
               {{"type", "session/creationFailed"},
                {"error", {{"errorType", "x"}, {"message", "the image is gone"}}}});
    CHECK(ahpd.wait() == 1);
    CHECK(ahpd.errors().find("the image is gone") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(run_fixture, "a rejected turn ends run with the reason") {
  auto ahpd = start({"--session", "s1", "hello"});
  hub.greet();
  const auto asked = hub.answer_subscription(
    {{"lifecycle", "ready"}, {"chats", json::array{}}, {"defaultChat", fake_hub::chat}});
  CHECK(asked.at("channel") == "ahp-session:/s1");
  hub.answer_subscription({{"resource", fake_hub::chat}, {"turns", json::array{}}});
  hub.reject(hub.expect_action("chat/turnStarted"), "the machine is gone");
  CHECK(ahpd.wait() == 1);
  CHECK(ahpd.errors() == "ahpd: the hub did not take the turn: the machine is gone\n");
}

TEST_CASE_FIXTURE(run_fixture, "run --json gives a line for each event and the result last") {
  auto ahpd = start({"--json", "true"});
  const auto turn = hub.greet_turn();
  start_tool(turn);
  complete_tool(turn, false, {out("x", 0)}, {{"exitCode", 3}});
  end(turn);
  CHECK(ahpd.wait() == 3);
  std::vector<json::value> lines;
  std::istringstream text(ahpd.output());
  for (std::string line; std::getline(text, line);)
    lines.push_back(json::parse(line));
  REQUIRE(lines.size() == 6);
  CHECK(lines[0].at("action").at("type") == "chat/turnStarted");
  CHECK(lines[3].at("action").at("type") == "chat/toolCallComplete");
  CHECK(lines[5].at("type") == "result");
  CHECK(lines[5].at("exitCode") == 3);
  CHECK(lines[5].at("state") == "complete");
}

TEST_CASE_FIXTURE(run_fixture, "what would need a person's word is denied and said") {
  auto ahpd = start({"ask me"});
  const auto turn = hub.greet_turn();
  say(turn, "chat/toolCallStart", {{"toolName", "rm"}, {"displayName", "Remove"}});
  say(turn, "chat/toolCallReady", {{"invocationMessage", "Remove all"}});
  const auto denied = hub.expect_action("chat/toolCallConfirmed");
  CHECK(denied.at("action").at("approved") == false);
  CHECK(denied.at("action").at("reason") == "denied");
  hub.action(fake_hub::chat, denied.at("action"), denied);
  end(turn);
  CHECK(ahpd.wait() == 0);
  CHECK(ahpd.errors().find("it is denied") != std::string::npos);
}
