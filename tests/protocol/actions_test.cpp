#include "protocol/ahp/actions.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
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

} // namespace

TEST_CASE("the table holds every action type of 1.0 and of this host") {
  std::map<std::string, int> per_kind;
  int clients = 0;
  for (const auto type : action_types()) {
    const auto* rule = find_action(type);
    REQUIRE(rule);
    CHECK(rule->type == type);
    ++per_kind[std::string(type.substr(0, type.find('/')))];
    const bool client = rule->by == origin_rule::client;
    clients += client ? 1 : 0;
    // Who may dispatch needs a grant to be asked for; who may not, none.
    CHECK_MESSAGE(client == !rule->grant.empty(), type);
  }
  const std::map<std::string, int> expected{
    {"root", 4},          {"session", 30},         {"chat", 37},         {"terminal", 11},
    {"changeset", 8},     {"annotations", 5},      {"resourceWatch", 1}, {"automation", 4},
    {"automationRun", 5}, {"x-ahpd-computers", 3},
  };
  CHECK(per_kind == expected);
  CHECK(clients == 47);
  CHECK(!find_action("chat/nonExistent"));
  CHECK(!find_action(""));
  CHECK(!find_action("zzz"));
}

TEST_CASE("grants are the words of the host's subjects") {
  const std::map<std::string, std::string> grants{
    {"session/titleChanged", "session:rename"},
    {"session/configChanged", "session:configure"},
    {"session/activeClientSet", "session:attach"},
    {"session/isReadChanged", "session:mark"},
    {"session/workingDirectorySet", "session:folders"},
    {"annotations/set", "session:review"},
    {"chat/turnStarted", "chat:send"},
    {"chat/turnCancelled", "chat:cancel"},
    {"chat/toolCallConfirmed", "chat:answer"},
    {"chat/toolCallComplete", "chat:tool"},
    {"chat/truncated", "chat:truncate"},
    {"chat/draftChanged", "chat:draft"},
    {"terminal/input", "terminal:input"},
    {"automation/createRequested", "automation:create"},
    {"root/configChanged", "config:change"},
  };
  for (const auto& [type, grant] : grants)
    CHECK_MESSAGE(find_action(type)->grant == grant, type);
}

TEST_CASE("what is no client's action is refused before its members are read") {
  CHECK(chat(idle, "{}") == "an action needs type to be a string");
  CHECK(chat(idle, "[]") == "an action needs type to be a string");
  CHECK(chat(idle, R"({"type":"chat/invented"})") == "this host knows no action chat/invented");
  CHECK(chat(idle, R"({"type":")" + std::string(5000, 'x') + "\"}") ==
        "this host knows no action with so long a name");
  CHECK(chat(idle, R"({"type":"session/titleChanged","title":"x"})") ==
        "session/titleChanged does not belong on this channel");
  for (const auto type : action_types()) {
    const auto* rule = find_action(type);
    const auto sentence = why(rule->kind, json::object{}, json::object{{"type", type}});
    const bool only_host = sentence == "only the host may originate " + std::string(type);
    CHECK_MESSAGE(only_host == (rule->by == origin_rule::server_only), type << ": " << sentence);
  }
}

TEST_CASE("each missing or mistyped member of an action is named") {
  CHECK(chat(idle, start(message)) == "");
  CHECK(chat(idle, start("null")) == "chat/turnStarted needs message to be an object");
  CHECK(chat(idle, start(R"({"origin":{"kind":"user"}})")) ==
        "chat/turnStarted needs message.text to be a string");
  CHECK(chat(idle, start(R"({"text":7,"origin":{"kind":"user"}})")) ==
        "chat/turnStarted needs message.text to be a string");
  CHECK(chat(idle, start(R"({"text":"Hi","origin":{"kind":"agent"}})")) ==
        "chat/turnStarted needs message.origin.kind to be user");
  CHECK(chat(idle, start(R"({"text":"Hi"})")) ==
        "chat/turnStarted needs message.origin.kind to be user");
  CHECK(
    chat(
      idle,
      start(
        R"({"text":"Hi","origin":{"kind":"user"},"attachments":[{"type":"resource","label":"a","uri":"no"}]})")) ==
    "chat/turnStarted needs message.attachments[0].uri to be a URI of at most 2048 bytes");
  CHECK(chat(idle, start(R"({"text":"Hi","origin":{"kind":"user"},"model":{"id":5}})")) ==
        "chat/turnStarted needs message.model.id to be a string");
  CHECK(chat(idle, R"({"type":"chat/turnStarted","turnId":"t1","startedAt":"now","message":{}})") ==
        "chat/turnStarted needs startedAt to be an ISO 8601 time such as 2026-11-30T10:00:00.000Z");
  CHECK(chat(idle, R"({"type":"chat/turnStarted","turnId":"","startedAt":"now","message":{}})") ==
        "chat/turnStarted needs turnId to be a string that is not empty");
  CHECK(chat(idle, R"({"type":"chat/isReadChanged","isRead":1})") ==
        "chat/isReadChanged needs isRead to be true or false");
  CHECK(chat(idle, R"({"type":"chat/isReadChanged","isRead":true,"_meta":3})") ==
        "chat/isReadChanged needs _meta to be an object");
  CHECK(
    chat(
      idle,
      R"({"type":"chat/pendingMessageSet","id":"q","kind":"later","message":{"text":"x","origin":{"kind":"user"}}})") ==
    "chat/pendingMessageSet needs kind to be steering or queued");
  CHECK(chat(idle, R"({"type":"chat/queuedMessagesReordered","order":["a",2]})") ==
        "chat/queuedMessagesReordered needs order[1] to be a string");
  CHECK(chat(idle, R"({"type":"chat/turnCancelled","turnId":"t","duration":-1})") ==
        "chat/turnCancelled needs duration to be a number that is not negative");
  CHECK(why(channel_kind::terminal, json::object{},
            parsed(R"({"type":"terminal/resized","cols":80,"rows":0})")) ==
        "terminal/resized needs rows to be an integer of 1 to 10000");
  CHECK(
    session(
      "{}",
      R"({"type":"session/customizationToggled","id":"p","enablement":[{"kind":"workspace","enabled":true}]})") ==
    "session/customizationToggled needs enablement[0].uri to be a URI of at most 2048 bytes");
  CHECK(
    why(
      channel_kind::automations, json::object{},
      parsed(
        R"({"type":"automation/createRequested","resource":"ahp-automation:/a","definition":{"title":"t","message":{"text":"x","origin":{"kind":"user"}}}})")) ==
    "automation/createRequested needs definition.message.origin.kind to be automation");
}

TEST_CASE("every client action with its members left out is refused by a sentence that names one") {
  for (const auto type : action_types()) {
    const auto* rule = find_action(type);
    const std::set<std::string_view> without{"terminal/cleared", "chat/truncated",
                                             "chat/draftChanged", "automationRun/cancelRequested"};
    if (rule->by != origin_rule::client || without.count(type))
      continue;
    const auto sentence = why(rule->kind, json::object{}, json::object{{"type", type}});
    CHECK_MESSAGE(sentence.rfind(std::string(type) + " needs ", 0) == 0, type << ": " << sentence);
  }
}

TEST_CASE("texts and ids are bounded") {
  const auto with_text = [](std::size_t n) {
    return start(R"({"origin":{"kind":"user"},"text":")" + std::string(n, 'x') + "\"}");
  };
  CHECK(chat(idle, with_text(4u << 20)) == "");
  CHECK(chat(idle, with_text((4u << 20) + 1)) ==
        "chat/turnStarted needs message.text to be at most 4194304 bytes long");
  CHECK(chat(idle, R"({"type":"chat/turnCancelled","duration":1,"turnId":")" +
                     std::string(257, 'x') + "\"}") ==
        "chat/turnCancelled needs turnId to be at most 256 bytes long");
  std::string many = "\"x\"";
  for (int i = 0; i < 4096; ++i)
    many += ",\"x\"";
  CHECK(chat(idle, R"({"type":"chat/queuedMessagesReordered","order":[)" + many + "]}") ==
        "chat/queuedMessagesReordered needs order to be an array of at most 4096 items");
}
