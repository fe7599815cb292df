#include "tests/actors/hub_fixture.hpp"

#include "actors/hub/chat.hpp"
#include "protocol/ahp/uris.hpp"

#include <csignal>

using namespace ahpd;
using namespace ahpd::tests;

namespace {

const std::string session = "ahp-session:/s";
const std::string chat = ahp::default_chat_uri(session);

void say(loop_client& c, const std::string& turn, const std::string& text) {
  c.dispatch(chat, {{"type", "chat/turnStarted"},
                    {"turnId", turn},
                    {"startedAt", "2026-01-01T00:00:00.000Z"},
                    {"message", {{"text", text}, {"origin", {{"kind", "user"}}}}}});
}

loop_client client(live_hub& hub) {
  auto c = hub.connect();
  c.result("subscribe", {});
  c.result("createSession", {{"channel", session}, {"workingDirectories", {"file:///usr"}}});
  c.result("subscribe", {{"channel", chat}});
  return c;
}

const json::value& action_of(const json::value& frame) {
  return frame.at("params").at("action");
}

/// The terminal that the running call shows.
std::string terminal_of(loop_client& c) {
  const auto shown = c.wait_action("chat/toolCallContentChanged", chat);
  const auto& content = action_of(shown).at("content").at(0);
  CHECK(content.at("type") == "terminal");
  CHECK(content.at("isPty") == true);
  return std::string(content.at("resource").as_string());
}

/// Waits for two actions in any order; gives both as text.
std::string wait_both(loop_client& c, const std::string& one, const std::string& other) {
  std::string all;
  c.socket->wait(one + " and " + other, [&, left = 2](const json::value& f) mutable {
    const auto text = json::serialize(f);
    if (text.find('"' + one + '"') == std::string::npos &&
        text.find('"' + other + '"') == std::string::npos)
      return false;
    all += text;
    return --left == 0;
  });
  return all;
}

} // namespace

TEST_CASE("a message that begins with ! runs in a terminal of the session's") {
  live_hub hub;
  auto c = client(hub);
  say(c, "t1", "!pwd; test -t 1 && printf '\\033[1mbold\\033[0m\\n'; exit 3");
  const auto uri = terminal_of(c);
  const auto done = c.wait_action("chat/toolCallComplete", chat);
  const auto& result = action_of(done).at("result");
  CHECK(result.at("success") == false);
  CHECK(result.at("structuredContent").at("exitCode") == 3);
  const auto& content = result.at("content").at(0);
  CHECK(content.at("resource").as_string() == uri);
  CHECK(content.at("result").at("exitCode") == 3);
  CHECK(content.at("result").at("preview") == "/usr\nbold\n");
  CHECK(content.at("result").at("truncated") == false);
  c.wait_action("chat/turnComplete", chat);
  // The terminal stays, claimed by its turn, until it is disposed of.
  const auto state = c.result("subscribe", {{"channel", uri}}).at("snapshot").at("state");
  CHECK(state.at("lifecycle").at("exitCode") == 3);
  CHECK(state.at("claim").at("turnId") == "t1");
  CHECK(state.at("claim").at("session").as_string() == session);
  c.result("disposeTerminal", {{"channel", uri}});
}

TEST_CASE("a command's terminal takes input from whoever works in the session") {
  live_hub hub;
  auto c = client(hub);
  say(c, "t1", "!read line; echo \"got $line\"");
  const auto uri = terminal_of(c);
  hub.connect("other").dispatch(uri, {{"type", "terminal/input"}, {"data", "it\r"}});
  const auto done = c.wait_action("chat/toolCallComplete", chat);
  const auto preview = action_of(done).at("result").at("content").at(0).at("result").at("preview");
  CHECK(preview.as_string().ends_with("got it\n"));
}

TEST_CASE("a cancelled command is killed, and the next turn runs") {
  live_hub hub;
  auto c = client(hub);
  say(c, "t1", "!sleep 300");
  const auto uri = terminal_of(c);
  c.result("subscribe", {{"channel", uri}});
  c.dispatch(chat, {{"type", "chat/turnCancelled"}, {"turnId", "t1"}, {"duration", 1}});
  const auto ends = wait_both(c, "chat/turnCancelled", "terminal/exited");
  CHECK(ends.find("\"exitCode\":" + std::to_string(128 + SIGTERM)) != std::string::npos);
  say(c, "t2", "echo by the engine");
  const auto done = c.wait_action("chat/toolCallComplete", chat);
  CHECK(action_of(done).at("result").at("content").at(0).at("text") == "by the engine\n");
  c.wait_action("chat/turnComplete", chat);
}

TEST_CASE("a command that cannot be run, or whose terminal is disposed of, says so") {
  live_hub hub;
  auto c = client(hub);
  hub.host->shell = "/no/such/shell";
  say(c, "t1", "!true");
  const auto failed = c.wait_action("chat/error", chat);
  CHECK(json::serialize(failed).find("/no/such/shell was not found") != std::string::npos);
  hub.host->shell = "/bin/sh";
  say(c, "t2", "!sleep 300");
  hub.connect("other").result("disposeTerminal", {{"channel", terminal_of(c)}});
  const auto done = c.wait_action("chat/toolCallComplete", chat);
  CHECK(action_of(done).at("result").at("error").at("message") ==
        "the terminal was disposed of while the command ran");
  c.wait_action("chat/turnComplete", chat);
}

TEST_CASE("a turn whose own actor is killed ends with an error, and its command is killed") {
  live_hub hub;
  auto c = client(hub);
  say(c, "t1", "!sleep 300");
  c.result("subscribe", {{"channel", terminal_of(c)}});
  // The chat has told all it does until the command ends, so its state stands still.
  const auto owner = hub.host->channels.owner_of(chat);
  const auto* chat_actor = dynamic_cast<caf::stateful_actor<hub::chat_state>*>(
    caf::actor_cast<caf::abstract_actor*>(owner));
  REQUIRE(chat_actor);
  caf::anon_send_exit(chat_actor->state.running->by, caf::exit_reason::kill);
  wait_both(c, "chat/error", "terminal/exited");
}

TEST_CASE("a killed chat's command is killed with it") {
  live_hub hub;
  auto c = client(hub);
  say(c, "t1", "!sleep 300");
  const auto uri = terminal_of(c);
  c.result("subscribe", {{"channel", uri}});
  caf::anon_send_exit(hub.host->channels.owner_of(chat), caf::exit_reason::kill);
  wait_both(c, "chat/error", "terminal/exited");
}
