#include "tests/actors/hub_fixture.hpp"

#include "actors/hub/terminals.hpp"
#include "protocol/ahp/uris.hpp"

#include <filesystem>
#include <fstream>

using namespace ahpd;
using namespace ahpd::tests;

namespace {

const std::string term = "ahp-terminal:/t";

json::object opening(const std::string& uri, const std::string& client = "c") {
  return {{"channel", uri},
          {"claim", {{"kind", "client"}, {"clientId", client}}},
          {"cols", 100},
          {"rows", 40}};
}

/// Processes whose environment says that a hub of this process started them.
std::size_t running() {
  std::size_t n = 0;
  for (const auto& p : std::filesystem::directory_iterator("/proc")) {
    std::ifstream in(p.path() / "environ", std::ios::binary);
    const std::string env{std::istreambuf_iterator<char>(in), {}};
    if (env.find("AHPD_TEST_HUB=" + std::to_string(getpid()) + '\0') != std::string::npos)
      ++n;
  }
  return n;
}

std::size_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

void type(loop_client& c, const std::string& text, const std::string& uri = term) {
  c.dispatch(uri, {{"type", "terminal/input"}, {"data", text}});
}

const json::value& action_of(const json::value& frame) {
  return frame.at("params").at("action");
}

/// All data of a terminal that came behind the last frame given, up to and with `text`.
std::string wait_data(loop_client& c, const std::string& text, const std::string& uri = term) {
  std::string all;
  while (all.find(text) == std::string::npos)
    all += action_of(c.wait_action("terminal/data", uri)).at("data").as_string();
  return all;
}

/// Opens a terminal and follows it.
void open(loop_client& c, const std::string& uri = term) {
  c.result("createTerminal", opening(uri));
  c.result("subscribe", {{"channel", uri}});
}

json::value state_of(live_hub& hub, const std::string& uri = term) {
  auto other = hub.connect("reader");
  auto state = other.result("subscribe", {{"channel", uri}}).at("snapshot").at("state");
  other.events.on_closed({});
  return state;
}

/// Waits until the root channel lists `count` terminals, and gives them.
json::array wait_list(loop_client& c, std::size_t count) {
  const auto frame = c.socket->wait("root/terminalsChanged", [&](const json::value& f) {
    const auto* p = f.as_object().if_contains("params");
    return p && p->as_object().contains("action") &&
           p->at("action").at("type") == "root/terminalsChanged" &&
           p->at("action").at("terminals").as_array().size() == count;
  });
  return action_of(frame).at("terminals").as_array();
}

json::array root_list(live_hub& hub) {
  return state_of(hub, "ahp-root://").at("terminals").as_array();
}

std::string refusal_of(loop_client& c, const std::string& uri, json::value action) {
  c.dispatch(uri, action);
  const auto frame = c.socket->wait("refusal", [&](const json::value& f) {
    const auto* p = f.as_object().if_contains("params");
    return p && p->as_object().contains("rejectionReason") && p->at("action") == action;
  });
  return std::string(frame.at("params").at("rejectionReason").as_string());
}

} // namespace

TEST_CASE("a client's terminal echoes what is typed and ends with the shell's exit code") {
  live_hub hub;
  auto c = hub.connect();
  open(c);
  const auto list = root_list(hub);
  REQUIRE(list.size() == 1);
  const auto& listed = list.at(0);
  CHECK(listed.at("resource").as_string() == term);
  CHECK(listed.at("lifecycle").at("status") == "running");
  type(c, "echo $((40 + 2)) in $PWD on $TERM; exit 7\r");
  // One frame may hold both the echo and the answer.
  const auto shown = wait_data(c, "42 in /tmp on xterm-256color");
  CHECK(shown.find("echo $((40 + 2)) in $PWD on $TERM; exit 7") != std::string::npos);
  CHECK(action_of(c.wait_action("terminal/exited", term)).at("exitCode") == 7);
  const auto state = state_of(hub);
  CHECK(state.at("lifecycle").at("status") == "exited");
  CHECK(state.at("isPty") == true);
  CHECK(state.at("cwd") == "file:///tmp");
  CHECK(refusal_of(c, term, {{"type", "terminal/input"}, {"data", "x"}}) ==
        "the terminal's program has ended");
  c.result("disposeTerminal", {{"channel", term}});
  CHECK(c.request("disposeTerminal", {{"channel", term}}).at("error").at("code") == -32008);
  CHECK(c.request("subscribe", {{"channel", term}}).at("error").at("code") == -32008);
}

TEST_CASE("a terminal's program learns of its size, at first and later") {
  live_hub hub;
  auto c = hub.connect();
  open(c);
  type(c, "stty size\r");
  wait_data(c, "40 100");
  c.dispatch(term, {{"type", "terminal/resized"}, {"cols", 132}, {"rows", 50}});
  c.wait_action("terminal/resized", term);
  type(c, "stty size\r");
  wait_data(c, "50 132");
  const auto state = state_of(hub);
  CHECK(state.at("cols") == 132);
  CHECK(state.at("rows") == 50);
  for (const std::int64_t wrong : {0, -1, 10'001})
    CHECK(refusal_of(c, term, {{"type", "terminal/resized"}, {"cols", wrong}, {"rows", 5}})
            .find("cols") != std::string::npos);
}

TEST_CASE("only who holds a terminal types into it and hands it on") {
  live_hub hub;
  auto c = hub.connect("c");
  auto other = hub.connect("other");
  open(c);
  other.result("subscribe", {{"channel", term}});
  const json::value input{{"type", "terminal/input"}, {"data", "echo no\r"}};
  const json::value to_other{{"type", "terminal/claimed"},
                             {"claim", {{"kind", "client"}, {"clientId", "other"}}}};
  for (const auto& action : {input, to_other, json::value{{"type", "terminal/cleared"}},
                             json::value{{"type", "terminal/resized"}, {"cols", 9}, {"rows", 9}}})
    CHECK(refusal_of(other, term, action) == "the terminal is claimed by another");
  c.dispatch(term, to_other);
  c.wait_action("terminal/claimed", term);
  CHECK(refusal_of(c, term, input) == "the terminal is claimed by another");
  type(other, "echo $((1 + 1))nd\r");
  wait_data(c, "2nd");
  CHECK(refusal_of(other, term, {{"type", "terminal/claimed"}, {"claim", {{"kind", "robot"}}}})
          .find("claim.kind") != std::string::npos);
}

TEST_CASE("a client goes and its terminal stays for others") {
  live_hub hub;
  auto c = hub.connect();
  open(c);
  type(c, "echo $((5 * 5))\r");
  wait_data(c, "25");
  c.events.on_closed({});
  CHECK(c.socket->wait_closed());
  auto again = hub.connect();
  again.result("subscribe", {{"channel", term}});
  type(again, "echo $((6 * 6))\r");
  wait_data(again, "36");
  again.result("disposeTerminal", {{"channel", term}});
  CHECK(running() == 0);
}

TEST_CASE("a flood is bounded in the state, and neither starves nor outlives the host") {
  live_hub hub([](hub::services& s) { s.delta_window = std::chrono::milliseconds(5); });
  auto c = hub.connect();
  open(c);
  type(c, "yes 'a line of the flood'\r");
  std::size_t bytes = 0;
  while (bytes < 3'000'000)
    bytes += action_of(c.wait_action("terminal/data", term)).at("data").as_string().size();
  auto other = hub.connect("other");
  other.result("listSessions", {});
  const auto state = state_of(hub);
  std::size_t shown = 0;
  for (const auto& part : state.at("content").as_array())
    shown += part.at("value").as_string().size();
  CHECK(shown <= 256 * 1024);
  CHECK(shown > 150'000);
  CHECK(state.at("content").at(0).at("value").as_string().starts_with("a line of the flood\r\n"));
  type(c, "\x03");
  type(c, "echo over $((7 * 7))\r");
  wait_data(c, "over 49");
  c.result("disposeTerminal", {{"channel", term}});
  CHECK(running() == 0);
}

TEST_CASE("what a program writes comes whole and in order, in UTF-8") {
  live_hub hub;
  auto c = hub.connect();
  open(c);
  type(c,
       "stty -echo; PS1=; printf 'h\\303\\244\\377.'; seq 200000; printf '\\033]0;a title\\007'; "
       "exit\r");
  std::string all;
  while (all.find("\r\n200000\r\n") == std::string::npos)
    all += action_of(c.wait_action("terminal/data", term)).at("data").as_string();
  c.wait_action("terminal/exited", term);
  const auto begin = all.find("h\xC3\xA4\xEF\xBF\xBD.1\r\n");
  REQUIRE(begin != std::string::npos);
  std::string expected = "h\xC3\xA4\xEF\xBF\xBD.";
  for (int i = 1; i <= 200000; ++i)
    expected += std::to_string(i) + "\r\n";
  CHECK(all.substr(begin, expected.size()) == expected);
  CHECK(state_of(hub).at("title") == "a title");
}

TEST_CASE("a killed terminal leaves no process, and its followers hear of the end") {
  live_hub hub;
  auto c = hub.connect();
  c.result("subscribe", {});
  open(c);
  type(c, "(setsid sleep 300 &) ; echo $((2 + 2))\r");
  wait_data(c, "4\r");
  CHECK(running() >= 1);
  caf::anon_send_exit(hub.host->channels.owner_of(term), caf::exit_reason::kill);
  c.wait_action("terminal/exited", term);
  wait_list(c, 0);
  CHECK(running() == 0);
  CHECK(hub.database->runs().empty());
  open(c); // the name is free again
  CHECK(hub.database->runs().size() == 1);
}

TEST_CASE("the killed keeper of terminals comes back, and nothing of theirs runs on") {
  live_hub hub;
  auto c = hub.connect();
  c.result("subscribe", {});
  open(c);
  type(c, "(setsid sleep 300 &) ; echo $((2 + 2))\r");
  wait_data(c, "4\r");
  caf::anon_send_exit(hub.host->terminals->get(), caf::exit_reason::kill);
  wait_list(c, 0);
  open(c);
  type(c, "echo $((3 + 3))rd\r");
  wait_data(c, "6rd");
  c.result("disposeTerminal", {{"channel", term}});
  CHECK(running() == 0);
}

TEST_CASE("a session's terminals end with it") {
  live_hub hub;
  auto c = hub.connect();
  c.result("subscribe", {});
  const std::string session = "ahp-session:/s";
  auto what = opening(term);
  what["claim"] = json::object{
    {"kind", "session"}, {"session", session}, {"chat", ahp::default_chat_uri(session)}};
  CHECK(c.request("createTerminal", what).at("error").at("code") == -32001);
  c.result("createSession", {{"channel", session}, {"workingDirectories", {"file:///usr"}}});
  c.result("createTerminal", what);
  c.result("subscribe", {{"channel", term}});
  type(c, "pwd; (setsid sleep 300 &)\r");
  wait_data(c, "/usr\r");
  c.result("disposeSession", {{"channel", session}});
  wait_list(c, 0);
  CHECK(running() == 0);
}

TEST_CASE("what a terminal cannot be made from is refused by name") {
  live_hub hub;
  auto c = hub.connect();
  const auto refused = [&](json::object what) {
    const auto answer = c.request("createTerminal", std::move(what));
    return std::string(answer.at("error").at("message").as_string());
  };
  auto what = opening("ahp-session:/x");
  CHECK(refused(what) == "channel must be an ahp-terminal: URI");
  what = opening(term);
  what["claim"] = json::object{{"kind", "client"}, {"clientId", "another"}};
  CHECK(refused(what) == "claim.clientId must be this client's own");
  what["claim"] = json::object{{"kind", "robot"}};
  CHECK(refused(what).find("claim.kind") != std::string::npos);
  what = opening(term);
  what["cwd"] = "file:///no/such/folder";
  CHECK(refused(what) == "cwd names /no/such/folder, and that folder is not there");
  what["cwd"] = "https://example.com/";
  CHECK(refused(what) == "cwd must be a file: URI");
  what = opening(term);
  what["cols"] = 0;
  CHECK(refused(what).find("cols") != std::string::npos);
  hub.host->shell = "/no/such/shell";
  CHECK(refused(opening(term)).find("/no/such/shell was not found") != std::string::npos);
  CHECK(hub.database->runs().empty());
  hub.host->shell = "/bin/sh";
  open(c);
  CHECK(c.request("createTerminal", opening(term)).at("error").at("code") == -32010);
}

TEST_CASE("terminals are bounded in number: those that run by a refusal, those that ended by age") {
  live_hub hub([](hub::services& s) { s.shell = "/bin/cat"; });
  auto c = hub.connect();
  c.result("subscribe", {});
  for (int i = 0; i < 100; ++i)
    c.result("createTerminal", opening(term + std::to_string(i)));
  const auto answer = c.request("createTerminal", opening(term));
  CHECK(answer.at("error").at("message") ==
        "This host runs 100 terminals, and this one would be one more; dispose of one");
  for (int i = 0; i < 100; ++i)
    type(c, "\x04", term + std::to_string(i));
  wait_list(c, 50);
  open(c);
}

TEST_CASE("hundreds of terminals leave no process and no descriptor") {
  const auto before = descriptors();
  {
    live_hub hub([](hub::services& s) { s.shell = "/bin/cat"; });
    auto c = hub.connect();
    for (int i = 0; i < 300; ++i) {
      c.result("createTerminal", opening(term));
      c.result("disposeTerminal", {{"channel", term}});
    }
    CHECK(running() == 0);
    CHECK(hub.database->runs().empty());
    open(c);
  }
  CHECK(running() == 0);
  CHECK(descriptors() == before);
}

namespace {

/// Asks the keeper of terminals as an engine does; fails the test when it refuses.
template <class Answer, class Message> Answer ask(live_hub& hub, Message what) {
  caf::scoped_actor self(hub.system);
  Answer out;
  self->request(hub.host->terminals->get(), std::chrono::seconds(20), std::move(what))
    .receive([&](Answer& given) { out = std::move(given); },
             [&](const caf::error& why) { FAIL(hub.system.render(why)); });
  return out;
}

template <class Message> bool told(live_hub& hub, Message what) {
  caf::scoped_actor self(hub.system);
  bool done = false;
  self->request(hub.host->terminals->get(), std::chrono::seconds(20), std::move(what))
    .receive([&] { done = true; }, [](const caf::error&) {});
  return done;
}

hub::open_terminal program(std::vector<std::string> argv) {
  hub::open_terminal out;
  out.claim = std::make_shared<const json::value>(
    json::object{{"kind", "session"}, {"session", "ahp-session:/s"}, {"chat", "ahp-chat:/c"}});
  out.directory = "/tmp";
  out.argv = std::move(argv);
  return out;
}

} // namespace

TEST_CASE("an engine's program without a PTY keeps the tail of its output and its status") {
  live_hub hub;
  auto what = program({"sh", "-c", "test ! -t 1 || exit 9; echo \"$WORD\"; seq 10000; exit 4"});
  what.env["WORD"] = "first";
  what.output_bytes = 100;
  const auto uri = ask<hub::terminal_opened>(hub, what).uri;
  const auto out = ask<hub::terminal_output>(hub, hub::wait_terminal{uri});
  CHECK(out.truncated);
  CHECK(out.text.size() == 100);
  CHECK(out.text.ends_with("\n9999\n10000\n"));
  REQUIRE(out.ended);
  CHECK(out.ended->code == 4);
  const auto state = state_of(hub, uri);
  CHECK(state.at("isPty") == false);
  CHECK(state.at("title") == "sh");
  CHECK(state.at("content").at(0).at("value").as_string().starts_with("first\n1\n"));
  CHECK(ask<hub::terminal_output>(hub, hub::read_terminal{uri}).text == out.text);
  CHECK(told(hub, hub::close_terminal{uri}));
  CHECK_FALSE(told(hub, hub::close_terminal{uri}));
  CHECK(root_list(hub).empty());
}

TEST_CASE("an engine kills its program and keeps the terminal, or releases both") {
  live_hub hub;
  auto what = program({"sh", "-c", "echo on; sleep 300"});
  what.output_bytes = 100;
  const auto uri = ask<hub::terminal_opened>(hub, what).uri;
  auto c = hub.connect();
  c.result("subscribe", {{"channel", uri}});
  CHECK(refusal_of(c, uri, {{"type", "terminal/input"}, {"data", "x"}}) ==
        "the terminal's program has no PTY: it takes no input and has no size");
  CHECK(told(hub, hub::kill_terminal{uri}));
  const auto out = ask<hub::terminal_output>(hub, hub::wait_terminal{uri});
  CHECK(out.ended->signal == 15);
  CHECK_FALSE(out.truncated);
  CHECK(running() == 0);
  CHECK(root_list(hub).size() == 1);

  const auto other = ask<hub::terminal_opened>(hub, what).uri;
  caf::scoped_actor waiter(hub.system);
  auto waits = waiter->request(hub.host->terminals->get(), std::chrono::seconds(20),
                               hub::wait_terminal{other});
  CHECK(told(hub, hub::close_terminal{other}));
  waits.receive([](const hub::terminal_output&) { FAIL("a closed terminal has no end"); },
                [](const caf::error& why) { CHECK(why.code() != 0); });
  CHECK(running() == 0);
  CHECK_FALSE(told(hub, hub::kill_terminal{other}));
  CHECK_FALSE(told(hub, hub::read_terminal{"ahp-terminal:/none"}));
}
