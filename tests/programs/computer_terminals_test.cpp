// Terminals of sessions in machines on a real Docker Engine.

#include "tests/programs/computer_support.hpp"
#include "tests/programs/terminal_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace ahpd;

namespace {

json::object claim_of(const tests::session& in) {
  return {{"kind", "session"}, {"session", in.uri}, {"chat", in.chat}};
}

std::string processes(const std::string& machine) {
  return tests::docker({"top", machine, "-eo", "pid,args"});
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string fresh_terminal() {
  return "ahp-terminal:/" + tests::unique_name("t");
}

/// Starts a `!` turn and gives its terminal.
std::string run_command(tests::ahp_peer& peer, const tests::session& in, const std::string& text,
                        std::string& turn) {
  turn = tests::begin_turn(peer, in, text);
  const auto shown = peer.wait_action("chat/toolCallContentChanged", in.chat);
  const auto& content = shown.at("action").at("content").at(0);
  CHECK(content.at("type") == "terminal");
  return std::string(content.at("resource").as_string());
}

} // namespace

TEST_CASE("a session's terminal is a PTY in its machine and folder, with its size and its status") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub({{"bodyMounts", true}});
  auto peer = hub.peer();
  peer.initialize();
  const tests::scratch files;
  const auto app = files.path() + "/app";
  std::filesystem::create_directories(app + "/deep");
  const auto name =
    tests::make_machine(peer, "term", {{"mounts", json::array{app + ":/workspaces/app"}}});
  const auto in =
    tests::begin_session(peer, {{"computer", "computer://" + name}},
                         {{"workingDirectories", json::array{"file://" + app + "/deep"}}});
  const auto uri = fresh_terminal();
  tests::terminal_reader shell(peer, uri);
  shell.open(claim_of(in), {{"cols", 101}, {"rows", 37}});
  shell.type("echo \"$(hostname) $PWD $TERM ${BASH_VERSION:+bash} $(stty size)\"\r");
  const auto host = std::string(tests::inspect(name).at("Config").at("Hostname").as_string());
  shell.wait(host + " /workspaces/app/deep xterm-256color bash 37 101\r\n");
  peer.dispatch(uri, {{"type", "terminal/resized"}, {"cols", 90}, {"rows", 20}});
  shell.type("trap 'echo resi''zed' WINCH; until [ \"$(stty size)\" = '20 90' ]; do :; done; "
             "stty size\r");
  shell.wait("20 90\r\n");
  shell.type("yes flood | head -n 500000; printf 'the e''nd'; exit 5\r");
  shell.wait("the end");
  CHECK(peer.wait_action("terminal/exited", uri).at("action").at("exitCode") == 5);

  // One inside it that names its folder there, and one whose folder is not there.
  const auto other = fresh_terminal();
  tests::terminal_reader etc(peer, other);
  etc.open(claim_of(in), {{"cwd", "file:///etc"}});
  etc.type("pwd; (setsid sleep 7781 &); sleep 7782\r");
  etc.wait("/etc\r\n");
  CHECK(holds(
    tests::refused(
      peer, "createTerminal",
      {{"channel", fresh_terminal()}, {"claim", claim_of(in)}, {"cwd", "file:///no/such/folder"}}),
    "no/such/folder"));
  peer.request("disposeTerminal", {{"channel", other}});
  CHECK_FALSE(holds(processes(name), "sleep 778"));
}

TEST_CASE("a session that is disposed of takes its terminals in the machine with it") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  auto peer = hub.peer();
  peer.initialize();
  peer.subscribe("ahp-root://");
  const auto name = tests::make_machine(peer, "termgone");
  const auto in = tests::begin_session(peer, {{"computer", "computer://" + name}});
  tests::terminal_reader shell(peer, fresh_terminal());
  shell.open(claim_of(in));
  shell.type("sleep 7783 & echo rea''dy; sleep 7784\r");
  shell.wait("ready");
  peer.request("disposeSession", {{"channel", in.uri}});
  peer.wait_action("root/terminalsChanged", "ahp-root://", [](const json::value& envelope) {
    return envelope.at("action").at("terminals").as_array().empty();
  });
  CHECK_FALSE(holds(processes(name), "sleep 778"));
}

TEST_CASE("a ! command runs in the machine, says its status, and is killed when cancelled") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  auto peer = hub.peer();
  peer.initialize();
  const auto name = tests::make_machine(peer, "termcmd", {{"workdir", "/var"}});
  const auto in = tests::begin_session(peer, {{"computer", "computer://" + name}});
  const auto host = std::string(tests::inspect(name).at("Config").at("Hostname").as_string());
  std::string turn;
  run_command(peer, in, "!hostname; pwd; exit 9", turn);
  const auto end = tests::end_of_turn(peer, in, turn);
  CHECK(end.type == "chat/turnComplete");
  CHECK(end.code() == 9);
  CHECK(end.result.at("content").at(0).at("result").at("preview").as_string() == host + "\n/var\n");

  const auto uri = run_command(peer, in, "!trap '' TERM; sleep 7785; sleep 7786", turn);
  peer.subscribe(uri);
  peer.dispatch(in.chat, {{"type", "chat/turnCancelled"}, {"turnId", turn}, {"duration", 1}});
  peer.wait_action("terminal/exited", uri);
  CHECK_FALSE(holds(processes(name), "sleep 778"));
  CHECK(tests::run_turn(peer, in, "echo next").out == "next\n");
}

TEST_CASE("what a killed hub's terminals ran in a machine is gone after the next start") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  std::string name;
  {
    auto peer = hub.peer();
    peer.initialize();
    name = tests::make_machine(peer, "termkill");
    const auto in = tests::begin_session(peer, {{"computer", "computer://" + name}});
    tests::terminal_reader shell(peer, fresh_terminal());
    shell.open(claim_of(in));
    shell.type("trap '' HUP; (setsid sleep 7787 &) ; echo rea''dy; sleep 7788\r");
    shell.wait("ready");
    hub.process().kill();
  }
  CHECK(holds(processes(name), "sleep 7787"));
  hub.process().start();
  auto peer = hub.peer();
  peer.initialize();
  const auto in = tests::begin_session(peer, {{"computer", "computer://" + name}});
  // A turn's program looks until the sweep is done, bounded by the wait for the turn's end.
  const auto end = tests::run_turn(peer, in,
                                   "while cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | "
                                   "grep -q 'sleep 77[8]'; do :; done");
  CHECK(end.code() == 0);
}
