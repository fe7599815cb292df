#include "protocol/ahp/actions.hpp"
#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/reducers.hpp"
#include "protocol/ahp/status.hpp"

#include <doctest/doctest.h>

#include <string>

namespace json = ahpd::json;
namespace status = ahpd::ahp::status;
using namespace ahpd::ahp;
using namespace ahpd::ahp::build;

namespace {

/// A chat that the actions folded into, each of a type that the table knows.
json::value folded(json::value state, std::initializer_list<json::value> actions,
                   channel_kind kind = channel_kind::chat) {
  for (const auto& action : actions) {
    const auto* rule = find_action(*json::string_member(action, "type"));
    REQUIRE(rule);
    CHECK(rule->kind == kind);
    CHECK_MESSAGE(reduce(kind, state, action), json::serialize(action));
  }
  return state;
}

json::object chat_row(std::string_view uri, std::int64_t bits, std::string_view at) {
  return {{"resource", uri}, {"title", uri}, {"status", bits}, {"modifiedAt", at}};
}

json::value summary_of(json::array chats, std::string_view first, std::int64_t own = 1) {
  auto state = session_state("acp", "Work");
  state.as_object()["chats"] = std::move(chats);
  state.as_object()["status"] = own;
  if (!first.empty())
    state.as_object()["defaultChat"] = first;
  return session_summary("acp:/s", state, 1000);
}

} // namespace

TEST_CASE("times are written and read in milliseconds") {
  CHECK(iso8601(0) == "1970-01-01T00:00:00.000Z");
  CHECK(iso8601(9999) == "1970-01-01T00:00:09.999Z");
  CHECK(iso8601(1'796'032'800'000) == "2026-11-30T10:00:00.000Z");
  CHECK(iso8601(-1) == "1969-12-31T23:59:59.999Z");
  CHECK(iso8601(INT64_MAX) == "9999-12-31T23:59:59.999Z");
  CHECK(iso8601(INT64_MIN) == "0000-01-01T00:00:00.000Z");
  for (const std::int64_t ms : {std::int64_t{0}, std::int64_t{951'782'400'123}, std::int64_t{-5}})
    CHECK(parse_iso8601(iso8601(ms)) == ms);
  CHECK(parse_iso8601("2026-11-30T10:00:00Z") == 1'796'032'800'000);
  CHECK(parse_iso8601("2026-11-30T11:30:00.5+01:30") == 1'796'032'800'500);
  CHECK(parse_iso8601("2026-11-30T10:00:00.123456Z") == 1'796'032'800'123);
  for (const char* bad : {"", "2026-11-30", "2026-11-30T10:00:00", "2026-02-30T10:00:00Z",
                          "2026-11-30T24:00:00Z", "2026-11-30T10:60:00Z", "2026-11-30T10:00:00.Z",
                          "2026-11-30 10:00:00Z", "2026-11-30T10:00:00Zx", "26-11-30T10:00:00Z"})
    CHECK_MESSAGE(!parse_iso8601(bad), bad);
}

TEST_CASE("a turn built here folds into a finished turn") {
  const auto state = folded(
    chat_state("ahp-chat:/c", "Work", 0, json::object{{"kind", "user"}}),
    {turn_started("t1", 1000, message("Hello")), response_part("t1", text_part("reasoning", "r1")),
     reasoning("t1", "r1", "Hm."), response_part("t1", text_part("markdown", "p1")),
     delta("t1", "p1", "One "), delta("t1", "p1", "two"),
     tool_call_start("t1", "k1", "shell", "Run command", "Count"),
     tool_call_ready("t1", "k1", "Run wc", "{}"),
     tool_call_content("t1", "k1", {text_content("4")}),
     tool_call_complete("t1", "k1", true, "Ran wc", {text_content("42")}),
     tool_call_start("t1", "k2", "shell", "Run command"), tool_call_ready("t1", "k2", "Run x"),
     tool_call_complete("t1", "k2", false, "Could not run x", {}, "no such program"),
     response_part("t1", system_notification("The machine was restarted")),
     usage("t1", json::object{{"inputTokens", 5}}), activity_changed("Writing"),
     turn_complete("t1", 250)});
  CHECK(state.at("status") == json::value(status::idle));
  CHECK(state.at("modifiedAt") == json::value("1970-01-01T00:00:01.250Z"));
  CHECK(state.at("activity") == json::value("Writing"));
  CHECK(!json::member(state, "activeTurn"));
  const auto& turn = state.at("turns").at(0);
  CHECK(turn.at("state") == json::value("complete"));
  CHECK(turn.at("duration") == json::value(250));
  CHECK(turn.at("usage").at("inputTokens") == json::value(5));
  const auto& parts = turn.at("responseParts").as_array();
  REQUIRE(parts.size() == 5);
  CHECK(parts[0].at("content") == json::value("Hm."));
  CHECK(parts[1].at("content") == json::value("One two"));
  const auto& first = parts[2].at("toolCall");
  CHECK(first.at("status") == json::value("completed"));
  CHECK(first.at("confirmed") == json::value("not-needed"));
  CHECK(first.at("intention") == json::value("Count"));
  CHECK(first.at("toolInput") == json::value("{}"));
  CHECK(first.at("content").at(0).at("text") == json::value("42"));
  CHECK(parts[3].at("toolCall").at("success") == json::value(false));
  CHECK(parts[3].at("toolCall").at("error").at("message") == json::value("no such program"));
  CHECK(!parts[3].at("toolCall").as_object().contains("content"));
}

TEST_CASE("a call that asks waits, and a cancelled or failed turn ends it") {
  auto state =
    folded(chat_state("ahp-chat:/c", "Work", 0, json::object{{"kind", "user"}}),
           {turn_started("t1", 1000, message("Hello")), tool_call_start("t1", "k1", "shell", "Run"),
            tool_call_asks("t1", "k1", "Run rm", "{}",
                           {json::object{{"id", "once"}, {"kind", "approve"}}})});
  CHECK(state.at("status") == json::value(status::input_needed));
  state = folded(state, {turn_cancelled("t1", -5)});
  CHECK(state.at("status") == json::value(status::idle));
  CHECK(state.at("turns").at(0).at("duration") == json::value(0));
  CHECK(state.at("turns").at(0).at("responseParts").at(0).at("toolCall").at("reason") ==
        json::value("skipped"));
  state = folded(state, {turn_started("t2", 2000, message("Again")),
                         chat_error("t2", 10, "crash", "The agent ended")});
  CHECK(state.at("status") == json::value(status::error));
  const auto& part = state.at("turns").at(1).at("responseParts").at(0);
  CHECK(part.at("kind") == json::value("error"));
  CHECK(part.at("resumable") == json::value(false));
  CHECK(part.at("error").at("errorType") == json::value("crash"));
  CHECK(part.at("error").at("message") == json::value("The agent ended"));
}

TEST_CASE("queued messages leave the queue with their turn") {
  json::value state = chat_state("ahp-chat:/c", "Work", 0, json::object{{"kind", "user"}});
  state.as_object()["queuedMessages"] =
    json::array{json::object{{"id", "q1"}, {"message", message("x")}},
                json::object{{"id", "q2"}, {"message", message("y")}}};
  state = folded(
    state, {turn_started("t1", 0, message("x"), "q1"), pending_message_removed("queued", "q2")});
  CHECK(!json::member(state, "queuedMessages"));
}

TEST_CASE("sessions, the root and the machines are changed by what is built here") {
  auto session = session_state("acp", "Work");
  CHECK(session.at("lifecycle") == json::value("creating"));
  const json::value chat = chat_row("ahp-chat:/c", 1, iso8601(5));
  session = folded(
    session,
    {chat_added(chat), default_chat_changed("ahp-chat:/c"), session_ready(),
     title_changed("Better"), chat_updated("ahp-chat:/c", {{"status", 8}, {"activity", nullptr}}),
     input_needed_set(json::object{{"id", "i"}, {"kind", "chatInput"}}), input_needed_removed("i")},
    channel_kind::session);
  CHECK(session.at("lifecycle") == json::value("ready"));
  CHECK(session.at("title") == json::value("Better"));
  CHECK(session.at("chats").at(0).at("status") == json::value(8));
  CHECK(!session.at("chats").at(0).as_object().contains("activity"));
  session = folded(session, {chat_removed("ahp-chat:/c"), creation_failed("init", "No machine")},
                   channel_kind::session);
  CHECK(!json::member(session, "defaultChat"));
  CHECK(session.at("lifecycle") == json::value("failed"));
  CHECK(session.at("creationError").at("message") == json::value("No machine"));
  session.as_object()["activeClients"] = json::array{json::object{{"clientId", "c"}}};
  session = folded(session, {active_client_removed("c")}, channel_kind::session);
  CHECK(session.at("activeClients").as_array().empty());

  const auto root =
    folded(json::object{},
           {agents_changed({json::object{{"provider", "acp"}}}), active_sessions_changed(3)},
           channel_kind::root);
  CHECK(root.at("agents").at(0).at("provider") == json::value("acp"));
  CHECK(root.at("activeSessions") == json::value(3));

  auto machines = folded(json::object{{"records", json::array{}}},
                         {computer_added("box", json::object{{"state", "running"}}),
                          computer_added("pot", json::object{{"state", "running"}}),
                          computer_changed("box", json::object{{"state", "stopped"}})},
                         channel_kind::computers);
  CHECK(machines.at("records").at(0).at("record").at("state") == json::value("stopped"));
  machines = folded(machines, {computer_removed("box")}, channel_kind::computers);
  CHECK(machines.at("records").as_array().size() == 1);
}

TEST_CASE("a chat's summary is the summary part of its state") {
  auto state = chat_state("ahp-chat:/c", "Work", 5, json::object{{"kind", "user"}});
  state.as_object()["draft"] = message("x");
  state.as_object()["movable"] = true;
  const auto summary = chat_summary(state);
  CHECK(
    json::serialize(summary) ==
    R"({"resource":"ahp-chat:/c","title":"Work","status":1,"modifiedAt":"1970-01-01T00:00:00.005Z",)"
    R"("origin":{"kind":"user"},"movable":true})");
}

TEST_CASE("a session's summary takes its activity from the chat that matters most") {
  const auto bits = [](const json::value& summary) {
    return summary.at("status").to_number<int>();
  };
  const auto early = iso8601(2000);
  const auto late = iso8601(3000);
  auto none = summary_of({}, "", 33);
  CHECK(bits(none) == 33);
  CHECK(none.at("createdAt") == json::value(iso8601(1000)));
  CHECK(none.at("modifiedAt") == json::value(iso8601(1000)));
  CHECK(none.at("resource") == json::value("acp:/s"));
  CHECK(none.at("provider") == json::value("acp"));
  CHECK(!none.as_object().contains("lifecycle"));

  // The default chat speaks, whatever changed last; the flags are the session's own.
  CHECK(bits(summary_of({chat_row("a", 8, early), chat_row("b", 33, late)}, "a", 64 + 24)) ==
        64 + 8);
  CHECK(bits(summary_of({chat_row("a", 8, early), chat_row("b", 1, late)}, "")) == 1);
  CHECK(bits(summary_of({chat_row("a", 8, late), chat_row("b", 1, early)}, "")) == 8);
  CHECK(bits(summary_of({chat_row("a", 8, early), chat_row("b", 2, late)}, "a")) == 2);
  CHECK(bits(summary_of({chat_row("a", 2, early), chat_row("b", 24 + 32, late)}, "a")) == 24);
  const auto both = summary_of({chat_row("a", 1, late), chat_row("b", 1, early)}, "b");
  CHECK(both.at("modifiedAt") == json::value(late));
  CHECK(both.at("chats").as_array().size() == 2);
  CHECK(both.at("defaultChat") == json::value("b"));
  auto busy = chat_row("b", 24, early);
  busy["activity"] = "Asking";
  CHECK(summary_of({chat_row("a", 1, late), busy}, "a").at("activity") == json::value("Asking"));
}

TEST_CASE("summary changes hold what differs and never the identity") {
  const json::value before = json::object{
    {"resource", "a"}, {"provider", "p"}, {"createdAt", "1"}, {"title", "x"}, {"status", 1}};
  json::value now = before;
  CHECK(summary_changes(before, now).empty());
  now.as_object()["status"] = 8;
  now.as_object()["resource"] = "b";
  now.as_object()["activity"] = "Writing";
  CHECK(json::serialize(summary_changes(before, now)) == R"({"status":8,"activity":"Writing"})");
  CHECK(summary_changes(now, before).at("activity") == json::value(""));
}

TEST_CASE("envelopes carry origin and refusal only when there is one") {
  const auto action = json::serialize(title_changed("Hi"));
  CHECK(action_frame("acp:/s", action, 7, std::nullopt) ==
        R"({"jsonrpc":"2.0","method":"action","params":{"channel":"acp:/s",)"
        R"("action":{"type":"session/titleChanged","title":"Hi"},"serverSeq":7}})");
  const origin from{"c-\"1\"", 3};
  CHECK(action_frame("acp:/s", action, 9'007'199'254'740'991, from, "no \"x\"") ==
        R"({"jsonrpc":"2.0","method":"action","params":{"channel":"acp:/s",)"
        R"("action":{"type":"session/titleChanged","title":"Hi"},"serverSeq":9007199254740991,)"
        R"("origin":{"clientId":"c-\"1\"","clientSeq":3},"rejectionReason":"no \"x\""}})");
}
