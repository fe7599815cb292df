#include "tests/runtimes/process_support.hpp"

#include <doctest/doctest.h>

#include <csignal>

using namespace ahpd;
using namespace std::chrono_literals;
using tests::host_fixture;
using tests::script;

namespace {

runtimes::exec_request in_terminal(const std::string& text) {
  auto out = script(text);
  out.terminal = runtimes::window_size{100, 40};
  out.env["TERM"] = "dumb";
  return out;
}

} // namespace

TEST_CASE_FIXTURE(host_fixture, "a program in a terminal has one on all three streams") {
  const auto run = start(in_terminal("test -t 0 && test -t 1 && test -t 2 && stty size && "
                                     "echo to-tty >/dev/tty && ls /proc/self/fd | tr '\\n' ' '"));
  CHECK(run->wait_exit().ok());
  CHECK(run->out() == "40 100\r\nto-tty\r\n0 1 2 3 ");
  CHECK(run->err().empty());
}

TEST_CASE_FIXTURE(host_fixture, "a terminal's program learns of a new size") {
  const auto run = start(
    in_terminal("trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 1000 & wait; done"));
  run->wait_output("ready");
  run->program->resize({132, 50});
  CHECK(run->wait_exit().ok());
  CHECK(run->out() == "ready\r\n50 132\r\n");
}

TEST_CASE_FIXTURE(host_fixture,
                  "typing into a terminal reaches its program, and closing ends the input") {
  const auto run = start(in_terminal("stty -echo; echo ready; cat; echo over"));
  run->wait_output("ready");
  run->program->write("hällo\n");
  run->wait_output("hällo");
  run->program->close_input();
  CHECK(run->wait_exit().ok());
  CHECK(run->out() == "ready\r\nhällo\r\nover\r\n");
}

TEST_CASE_FIXTURE(host_fixture, "control-C in a terminal interrupts") {
  const auto run = start(in_terminal("echo ready; exec sleep 1000"));
  run->wait_output("ready");
  run->program->write("\x03");
  CHECK(run->wait_exit().signal == SIGINT);
}

TEST_CASE_FIXTURE(host_fixture, "the last words in a terminal are there at the exit") {
  for (int i = 0; i < 50; ++i) {
    const auto run = start(in_terminal("head -c 30000 /dev/zero | tr '\\0' x; printf 'the end'"));
    CHECK(run->wait_exit().ok());
    REQUIRE(run->out() == std::string(30000, 'x') + "the end");
  }
}

TEST_CASE_FIXTURE(host_fixture, "a kill ends the jobs of an interactive shell without any marker") {
  auto what = tests::request({"bash", "--norc", "--noprofile", "-i"});
  what.terminal = runtimes::window_size{};
  const auto run = start(what);
  run->program->write("bash -c \"trap '' HUP; exec sleep 1000\" & echo job=$((${!} + 0)).\n");
  std::string text;
  std::size_t at = std::string::npos;
  // The echo of what was typed has no number behind it.
  for (int digit = 1; digit < 10 && at == std::string::npos; ++digit) {
    text = run->wait_output(".\r\n");
    at = text.find("job=" + std::to_string(digit));
  }
  if (at == std::string::npos) {
    run->program->write("echo again; echo job=$!.\n");
    text = run->wait_output("again\r\njob=");
    at = text.rfind("job=");
  }
  const auto job = static_cast<pid_t>(std::stol(text.substr(at + 4)));
  CHECK(tests::lives(job));
  run->program->kill(0ms);
  CHECK(run->wait_exit().signal == SIGKILL);
  CHECK(tests::gone(job));
}

TEST_CASE_FIXTURE(host_fixture, "a program that waits for its reader loses nothing to a slow one") {
  auto what = in_terminal("stty -opost; seq 300000");
  what.keep_bytes = 256 * 1024;
  what.wait_for_reader = true;
  const auto run = start(what);
  run->wait_output("1\n2\n3\n");
  std::string all;
  for (bool ended = false, more = true; !ended || more;) {
    ended = run->ended();
    const auto got = run->program->read(runtimes::output::out, all.size(), 4000);
    REQUIRE(got.offset == all.size());
    all += got.bytes;
    more = all.size() < got.end;
    if (!more)
      std::this_thread::yield();
  }
  std::string expected;
  for (int i = 1; i <= 300000; ++i)
    expected += std::to_string(i) + "\n";
  CHECK(all == expected);
}
