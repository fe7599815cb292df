#include "tests/programs/aiod_support.hpp"
#include "tests/programs/hub_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ahpd;
using tests::aiod_process;

namespace {

std::int64_t number(const json::value& of, const char* key) {
  return of.at(key).to_number<std::int64_t>();
}

std::string text(const json::value& of, const char* key) {
  return json::text(of, key);
}

/// Starts one that runs on, and gives its path.
std::string begin(aiod_process& sut, json::object what) {
  what["mode"] = "async";
  const auto ran = sut.run(std::move(what));
  CHECK(text(ran, "status") == "running");
  CHECK(ran.at("exit_code").is_null());
  return "/v2/commands/" + text(ran, "command_id");
}

/// Reads until the command has ended, and gives all of its output.
std::string read_to_end(aiod_process& sut, const std::string& command,
                        json::value* last = nullptr) {
  std::string out;
  std::int64_t offset = 0, error_offset = 0;
  for (;;) {
    const auto got = sut
                       .ask("GET", command + "?wait=true&offset=" + std::to_string(offset) +
                                     "&stderr_offset=" + std::to_string(error_offset))
                       .data();
    out += text(got, "stdout");
    const bool more = number(got, "offset") > offset || number(got, "stderr_offset") > error_offset;
    offset = number(got, "offset");
    error_offset = number(got, "stderr_offset");
    if (last)
      *last = got;
    if (!more && text(got.at("command"), "status") != "running")
      return out;
  }
}

std::size_t descriptors_of(pid_t pid) {
  std::size_t out = 0;
  for ([[maybe_unused]] const auto& each :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd"))
    ++out;
  return out;
}

std::size_t children_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  std::size_t out = 0;
  for (std::string each; file >> each;)
    ++out;
  return out;
}

} // namespace

TEST_CASE("a command's two streams are told apart, and in the order in which they came") {
  aiod_process sut;
  const auto ran = sut.sh("echo out; echo err >&2; exit 3");
  CHECK(text(ran, "status") == "completed");
  CHECK(number(ran, "exit_code") == 3);
  CHECK(text(ran, "stdout") == "out\n");
  CHECK(text(ran, "stderr") == "err\n");
  CHECK(text(ran, "output").size() == 8);
  CHECK(number(ran, "offset") == 4);
  CHECK(number(ran, "stderr_offset") == 4);
}

TEST_CASE("a command that takes longer than its caller waits goes on") {
  aiod_process sut;
  const auto ran = sut.run({{"command", "echo a; read -r line; echo $line"}, {"timeout", 0}});
  CHECK(text(ran, "status") == "running");
  CHECK(ran.at("exit_code").is_null());
  const auto command = "/v2/commands/" + text(ran, "command_id");
  const auto wrote = sut.ask("POST", command + "/stdin", json::value{{"input", "b\n"}});
  CHECK(wrote.body == R"({"success":true,"message":"Operation successful","data":{},"hint":null})");
  CHECK(read_to_end(sut, command) == "a\nb\n");
  const auto late = sut.ask("POST", command + "/stdin", json::value{{"input", "c\n"}});
  CHECK(late.status == 400);
  CHECK(late.message() == "Command is not running");
}

TEST_CASE("a hard limit ends a command with all that it started, wherever that went") {
  aiod_process sut;
  const tests::lifeline line(sut.folder() + "/line");
  const auto ran = sut.run(
    {{"command", line.take() + "(setsid sleep 1000 &) ; sleep 1000"}, {"hard_timeout", 0.3}});
  CHECK(text(ran, "status") == "timed_out");
  CHECK(number(ran, "exit_code") == -1);
  line.wait_let_go();
}

TEST_CASE("a signal reaches all that a command started") {
  aiod_process sut;
  const tests::lifeline line(sut.folder() + "/line");
  const auto command = begin(
    sut, {{"command", line.take() + "(setsid sh -c 'echo up; exec sleep 1000' &) ; sleep 1000"}});
  sut.ask("GET", command + "?wait=true");
  CHECK(sut.ask("POST", command + "/kill", json::value{{"signal", "SIGNOT"}}).status == 400);
  CHECK(sut.ask("POST", command + "/kill", json::value{{"signal", "KILL"}}).status == 200);
  json::value last;
  read_to_end(sut, command, &last);
  CHECK(text(last.at("command"), "status") == "completed");
  CHECK(number(last.at("command"), "exit_code") == -1);
  line.wait_let_go();
  CHECK(sut.ask("POST", command + "/kill").status == 200); // of no effect
  const auto polite = begin(sut, {{"command", "trap 'echo bye; exit 7' TERM; echo up; read -r"}});
  sut.ask("GET", polite + "?wait=true");
  sut.ask("POST", polite + "/kill");
  CHECK(read_to_end(sut, polite, &last) == "up\nbye\n");
  CHECK(number(last.at("command"), "exit_code") == 7);
}

TEST_CASE("a call ends with its command, whatever holds the pipes, and nothing is lost") {
  aiod_process sut;
  ::mkfifo((sut.folder() + "/go").c_str(), 0600);
  const auto ran = sut.run(
    {{"command", "(read -r <" + sut.folder() + "/go; echo late; echo later >&2) & echo early"}});
  CHECK(text(ran, "status") == "completed");
  CHECK(text(ran, "stdout") == "early\n");
  std::ofstream(sut.folder() + "/go") << "\n";
  const auto command = "/v2/commands/" + text(ran, "command_id");
  const auto late = sut.ask("GET", command + "?offset=6&stderr_offset=6").data();
  std::string heard = text(late, "stdout");
  while (heard.empty())
    heard = text(sut.ask("GET", command + "?offset=6").data(), "stdout");
  CHECK(heard == "late\n");
}

TEST_CASE("bytes are exact: any of them, characters that are cut, and no newline at the end") {
  aiod_process sut;
  // a two-byte character whose halves come apart
  const auto cut = begin(sut, {{"command", "printf 'a\\303'; read -r; printf '\\251z'"}});
  const auto half = sut.ask("GET", cut + "?wait=true").data();
  CHECK(text(half, "stdout") == "a");
  CHECK(number(half, "offset") == 1);
  sut.ask("POST", cut + "/stdin", json::value{{"input", "\n"}});
  std::string rest;
  while (rest.size() < 3)
    rest = text(sut.ask("GET", cut + "?wait=true&offset=1").data(), "stdout");
  CHECK(rest == "\xc3\xa9z");
  CHECK(text(sut.sh("printf '\\377\\000x'"), "stdout") == std::string("\xef\xbf\xbd\0x", 5));
  CHECK(text(sut.sh("printf end"), "stdout") == "end");
  const auto big =
    sut.run({{"command", "head -c 100000000 /dev/zero | tr '\\0' x"}, {"max_output_length", 0}});
  CHECK(number(big, "offset") == 100'000'000);
  CHECK(text(big, "stdout").size() == 100'000'000);
}

TEST_CASE("long output is cut in the middle where it is told at the end, and nowhere else") {
  aiod_process sut;
  const auto ran = sut.run({{"command", "seq 1000"}, {"max_output_length", 100}});
  const auto shown = text(ran, "stdout");
  CHECK(shown.size() <= 200);
  CHECK(shown.starts_with("1\n2\n3\n"));
  CHECK(shown.ends_with("999\n1000\n"));
  CHECK(shown.find("...[truncated 3793 characters]...") != std::string::npos);
  const auto all = sut.ask("GET", "/v2/commands/" + text(ran, "command_id")).data();
  CHECK(text(all, "stdout").size() == 3893);
}

TEST_CASE("a stream of frames is followed while the command runs") {
  aiod_process sut;
  tests::program follower({{"/usr/bin/curl", "-sN", "-H", "Content-Type: application/json", "-d",
                            R"({"command":"echo a; read -r; echo b >&2; exit 4","mode":"stream"})",
                            sut.url("/v2/commands")},
                           {},
                           {}});
  follower.wait_for_output("\"data\":\"a\\n\"");
  const auto& said = follower.output();
  const auto at = said.find("\"command_id\":\"") + 14;
  sut.ask("POST", "/v2/commands/" + said.substr(at, 36) + "/stdin",
          json::value{{"input", "\n"}, {"close", true}});
  CHECK(follower.wait() == 0);
  CHECK(said.find(R"({"type":"stderr","data":"b\n","stderr_offset":2})") != std::string::npos);
  CHECK(said.ends_with("{\"type\":\"exit\",\"status\":\"completed\",\"exit_code\":4,\"offset\":2,"
                       "\"stderr_offset\":2}\n"));
}

TEST_CASE("a client that is killed leaves its command running, to be read from its offset") {
  aiod_process sut;
  tests::program follower(
    {{"/usr/bin/curl", "-sN", "-H", "Content-Type: application/json", "-d",
      R"({"command":"echo a; read -r; echo b","mode":"stream"})", sut.url("/v2/commands")},
     {},
     {}});
  follower.wait_for_output("\"data\":\"a\\n\"");
  const auto at = follower.output().find("\"command_id\":\"") + 14;
  const auto command = "/v2/commands/" + follower.output().substr(at, 36);
  follower.kill();
  sut.ask("POST", command + "/stdin", json::value{{"input", "\n"}});
  CHECK(read_to_end(sut, command) == "a\nb\n");
}

TEST_CASE("a command's shell, words, directory and variables are what was asked for") {
  aiod_process sut;
  CHECK(text(sut.run({{"command", "printf"}, {"shell", "none"}, {"args", {"%s|", "$HOME", "a b"}}}),
             "stdout") == "$HOME|a b|");
  CHECK(text(sut.run({{"command", "echo $0"}, {"shell", "sh"}}), "stdout").find("sh") !=
        std::string::npos);
  const auto refuse = [&](json::object what) {
    const auto got = sut.ask("POST", "/v2/commands", json::value(std::move(what)));
    return std::to_string(got.status) + " " + got.message();
  };
  CHECK(refuse({{"command", "x"}, {"args", {"a"}}}).starts_with("400 "));
  CHECK(refuse({{"command", "x"}, {"shell", "powershell"}}).starts_with("503 "));
  CHECK(refuse({{"command", "x"}, {"cwd", "/nowhere"}}) ==
        "400 Working directory does not exist: /nowhere");
  CHECK(refuse({{"command", "x"}, {"session", "nobody"}}) == "404 Session not found: nobody");
  CHECK(refuse({{"command", "/nowhere/x"}, {"shell", "none"}}).starts_with("400 /nowhere/x"));
  CHECK(sut.ask("GET", "/v2/commands/sessions").data().as_array().size() == 2);
  const auto ran = sut.run({{"command", "pwd; echo $A"}, {"cwd", "/usr"}, {"env", {{"A", "1"}}}});
  CHECK(text(ran, "stdout") == "/usr\n1\n");
}

TEST_CASE("a session keeps directory and variables, and no command changes them") {
  aiod_process sut;
  const auto made = sut.ask("POST", "/v2/commands/sessions",
                            json::value{{"id", "s/1 ü"}, {"cwd", "/usr"}, {"env", {{"A", "1"}}}});
  CHECK(made.text("working_dir") == "/usr");
  CHECK(made.text("status") == "ready");
  CHECK(sut.ask("POST", "/v2/commands/sessions", json::value{{"id", "s/1 ü"}}).text("created_at") ==
        made.text("created_at"));
  const json::object in{{"command", "pwd; echo $A; cd /; export A=2"}, {"session", "s/1 ü"}};
  CHECK(text(sut.run(in), "stdout") == "/usr\n1\n");
  CHECK(text(sut.run(in), "stdout") == "/usr\n1\n");
  const auto all = sut.ask("GET", "/v2/commands/sessions").data();
  REQUIRE(all.as_array().size() == 1);
  CHECK(number(all.at(0), "command_count") == 2);
  CHECK(sut.ask("DELETE", "/v2/commands/sessions/s%2F1%20%C3%BC").status == 200);
  CHECK(sut.ask("DELETE", "/v2/commands/sessions/s%2F1%20%C3%BC").status == 404);
}

TEST_CASE("a session that is deleted takes with it what runs, also what was left behind") {
  aiod_process sut;
  const tests::lifeline one(sut.folder() + "/one"), two(sut.folder() + "/two");
  const auto left = sut.sh(one.take() + "(setsid sleep 1000 >/dev/null 2>&1 &)");
  const auto session = text(left, "session_id");
  const auto going =
    begin(sut, {{"command", two.take() + "echo up; sleep 1000"}, {"session", session}});
  sut.ask("GET", going + "?wait=true");
  CHECK(one.held());
  CHECK(sut.ask("DELETE", "/v2/commands/sessions/" + session).status == 200);
  one.wait_let_go();
  two.wait_let_go();
  CHECK(sut.ask("GET", "/v2/commands/" + text(left, "command_id")).status == 404);
}

TEST_CASE("version 1 has the same engine") {
  aiod_process sut;
  const auto ask = [&](const std::string& route, json::object body) {
    return sut.ask("POST", "/v1/bash/" + route, json::value(std::move(body)));
  };
  const auto ran =
    ask("exec", {{"command", "echo hi; pwd"}, {"session_id", "s"}, {"exec_dir", "/usr"}});
  CHECK(ran.text("session_id") == "s");
  CHECK(ran.text("stdout") == "hi\n/usr\n");
  CHECK(ran.data().at("stderr").is_null());
  CHECK(ask("exec", {{"command", "pwd"}, {"session_id", "s"}}).text("stdout") == "/usr\n");
  const auto going =
    ask("exec", {{"command", "read -r x; echo $x"}, {"session_id", "s"}, {"async_mode", true}});
  CHECK(going.text("status") == "running");
  CHECK(ask("write", {{"session_id", "s"}, {"input", "there\n"}}).status == 200);
  const auto read = ask("output", {{"session_id", "s"}, {"wait", true}});
  CHECK(read.text("stdout") == "there\n");
  CHECK(ask("kill", {{"session_id", "s"}}).message() == "Signal SIGTERM sent");
  CHECK(ask("output", {{"session_id", "none"}}).status == 404);
  CHECK(sut.ask("GET", "/v1/bash/sessions").data().as_array().size() == 1);
  std::ofstream(sut.folder() + "/setup") << "greet() { echo hello; }\n";
  CHECK(ask("sessions/create", {{"session_id", "snap"}, {"snapshot_path", sut.folder() + "/setup"}})
          .status == 200);
  CHECK(ask("exec", {{"command", "greet"}, {"session_id", "snap"}}).text("stdout") == "hello\n");
  CHECK(sut.ask("POST", "/v1/bash/sessions/s/close").status == 200);
}

TEST_CASE("a command runs as the account that is asked for, with all that belongs to it") {
  if (::geteuid() != 0)
    return tests::skip("root");
  const auto* other = ::getpwnam("nobody");
  REQUIRE(other);
  aiod_process sut;
  const auto ran = sut.run({{"command", "id -un; id -g; echo $HOME $USER $LOGNAME; pwd"},
                            {"user", "nobody"},
                            {"cwd", "/"}});
  CHECK(text(ran, "stdout") ==
        "nobody\n" + std::to_string(other->pw_gid) + "\n" + other->pw_dir + " nobody nobody\n/\n");
  const auto wrong =
    sut.ask("POST", "/v2/commands", json::value{{"command", "x"}, {"user", "alice-is-none"}});
  CHECK(wrong.status == 400);
  CHECK(wrong.message() == "no such user: alice-is-none");
  const auto changed =
    sut.ask("POST", "/v2/commands",
            json::value{{"command", "x"}, {"user", "root"}, {"session", text(ran, "session_id")}});
  CHECK(changed.status == 400);
  aiod_process by_default({"--default-user", "nobody"});
  CHECK(text(by_default.run({{"command", "id -un"}, {"cwd", "/"}}), "stdout") == "nobody\n");
  aiod_process unknown({"--default-user", "alice-is-none"});
  CHECK(unknown.ask("POST", "/v2/commands", json::value{{"command", "true"}}).status == 503);
}

TEST_CASE("thousands of commands leave no process and no descriptor") {
  aiod_process sut;
  sut.sh("true");
  const auto before = descriptors_of(sut.pid());
  for (int i = 0; i < 2000; ++i)
    sut.run({{"command", "true"}, {"shell", "none"}});
  CHECK(descriptors_of(sut.pid()) == before);
  CHECK(children_of(sut.pid()) == 0);
}

TEST_CASE("commands that write much at the same time all come to their end") {
  aiod_process sut;
  std::vector<std::string> all;
  for (int i = 0; i < 50; ++i)
    all.push_back(begin(sut, {{"command", "head -c 10000000 /dev/zero"}, {"shell", "bash"}}));
  for (const auto& each : all) {
    json::value last;
    do
      last = sut.ask("GET", each + "?wait=true&offset=9999999&wait_timeout=60").data();
    while (text(last.at("command"), "status") == "running");
    CHECK(number(last, "offset") == 10'000'000);
  }
}

TEST_CASE("a daemon that is told to end takes what it started with it, politely at first") {
  auto sut = std::make_unique<aiod_process>();
  const tests::lifeline line(sut->folder() + "/line");
  const auto said = sut->folder() + "/said";
  const auto going =
    begin(*sut, {{"command", line.take() + "trap 'echo bye >" + said +
                               "; exit' TERM; (setsid sleep 1000 &); echo up; read -r"}});
  sut->ask("GET", going + "?wait=true");
  sut->program().signal(SIGTERM);
  CHECK(sut->program().wait() == 0);
  line.wait_let_go();
  CHECK(tests::read_file(said) == "bye\n");
}
