#include "tests/runtimes/process_support.hpp"
#include "tests/support/support.hpp"

#include <boost/asio/post.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

using namespace ahpd;
using tests::host_fixture;
using tests::request;
using tests::script;

TEST_CASE_FIXTURE(host_fixture, "a program's output and exit code are told exactly") {
  const auto run = sh("printf out; printf err >&2; exit 7");
  REQUIRE(run->program);
  const auto how = run->wait_exit();
  CHECK(how.code == 7);
  CHECK_FALSE(how.signal);
  CHECK(how.lost.empty());
  CHECK(run->out() == "out");
  CHECK(run->err() == "err");
  CHECK(run->order.front() == "started");
  CHECK(run->order.back() == "exit");
}

TEST_CASE_FIXTURE(host_fixture,
                  "every byte value comes through, zero and half a character included") {
  const auto run = sh(R"(printf '\x00\xff\xc3'; printf '\xa9\x00\n\r')");
  CHECK(run->wait_exit().ok());
  CHECK(run->out() == std::string("\x00\xff\xc3\xa9\x00\n\r", 7));
}

TEST_CASE_FIXTURE(host_fixture, "what is written in the last moment is there at the exit") {
  for (int i = 0; i < 50; ++i) {
    const auto run = sh("head -c 60000 /dev/zero; printf 'the end'");
    CHECK(run->wait_exit().ok());
    const std::string all = run->out();
    REQUIRE(all.size() == 60007);
    REQUIRE(all.substr(60000) == "the end");
  }
}

TEST_CASE_FIXTURE(host_fixture, "what the pipe still holds is read before the exit is told") {
  // A pipe that holds more than is read in a turn, filled while the io thread is held.
  const tests::scratch folder;
  const std::string gate = folder.path() + "/gate";
  REQUIRE(::mkfifo(gate.c_str(), 0600) == 0);
  const auto run = start(request({"perl", "-e", R"(
    fcntl(STDOUT, 1031, 1 << 20) or die; # F_SETPIPE_SZ
    syswrite(STDOUT, sprintf("%08d", $$)); open(my $gate, '<', $ARGV[0]) or die;
    syswrite(STDOUT, 'x' x 900000) == 900000 or die; syswrite(STDOUT, 'the end');)",
                                  gate}));
  const auto pid = static_cast<pid_t>(std::stol(run->wait_output("0")));
  boost::asio::post(io, [pid, gate] {
    ::close(::open(gate.c_str(), O_WRONLY));
    CHECK(tests::gone(pid));
  });
  CHECK(run->wait_exit().ok());
  CHECK(run->err().empty());
  const std::string all = run->out();
  REQUIRE(all.size() == 8 + 900'000 + 7);
  CHECK(all.substr(all.size() - 7) == "the end");
}

TEST_CASE_FIXTURE(host_fixture, "more output than is kept is read from where it still is") {
  auto what = script("head -c 100000000 /dev/zero; printf tail");
  what.keep_bytes = 100'000;
  const auto run = start(what);
  CHECK(run->wait_exit().ok());
  const auto got = run->program->read(runtimes::output::out, 0);
  CHECK(got.end == 100'000'004);
  CHECK(got.offset == 100'000'004 - 100'000);
  CHECK(got.bytes.size() == 100'000);
  CHECK(got.bytes.substr(99'996) == "tail");
}

TEST_CASE_FIXTURE(host_fixture, "an owner that does not read is told once") {
  const auto run = sh("for i in 1 2 3 4 5 6 7 8; do head -c 100000 /dev/zero; done");
  CHECK(run->wait_exit().ok());
  CHECK(run->order == std::vector<std::string>{"started", "output", "exit"});
  CHECK(run->program->read(runtimes::output::out, 0, 10).bytes.size() == 10);
}

TEST_CASE_FIXTURE(host_fixture, "a program killed by a signal has that signal and no code") {
  const auto how = sh("kill -SEGV $$")->wait_exit();
  CHECK(how.signal == SIGSEGV);
  CHECK_FALSE(how.code);
  CHECK(how.lost.empty());
}

TEST_CASE_FIXTURE(host_fixture, "without input a program reads an empty one") {
  const auto run = sh("cat; echo done");
  CHECK(run->wait_exit().ok());
  CHECK(run->out() == "done\n");
}

TEST_CASE_FIXTURE(host_fixture, "input is given in order and ends when it is closed") {
  auto what = request({"cat"});
  what.input = true;
  const auto run = start(what);
  run->program->write("one ");
  run->program->write("");
  run->program->write("two");
  run->wait_output("one two");
  CHECK_FALSE(run->ended());
  run->program->close_input();
  run->program->write("never");
  CHECK(run->wait_exit().ok());
  CHECK(run->out() == "one two");
}

TEST_CASE_FIXTURE(host_fixture, "a large input arrives whole") {
  auto what = request({"sha256sum"});
  what.input = true;
  const auto run = start(what);
  run->program->write(std::string(40'000'000, 'a'));
  run->program->close_input();
  CHECK(run->wait_exit().ok());
  const auto expected = sh("head -c 40000000 /dev/zero | tr '\\0' a | sha256sum");
  CHECK(expected->wait_exit().ok());
  CHECK(run->out() == expected->out());
}

TEST_CASE_FIXTURE(host_fixture, "input beyond what may wait ends the input without a hole in it") {
  auto what = script("trap : USR1; sleep 1000 & echo ready; wait; wc -c");
  what.input = true;
  const auto run = start(what);
  run->wait_output("ready");
  for (int i = 0; i < 64; ++i)
    run->program->write(std::string(1u << 20, 'x'));
  run->program->signal(SIGUSR1);
  CHECK(run->wait_exit().ok());
  // The seventeenth came while 16 MiB less a pipe were waiting; the eighteenth was one too many.
  CHECK(run->out() == "ready\n" + std::to_string(17u << 20) + "\n");
}

TEST_CASE_FIXTURE(host_fixture, "a program that does not read its input and ends does no harm") {
  auto what = request({"true"});
  what.input = true;
  const auto run = start(what);
  run->program->write(std::string(5'000'000, 'x'));
  CHECK(run->wait_exit().ok());
  run->program->write("more");
  run->program->close_input();
  run->program->signal(SIGTERM);
  run->program->kill(std::chrono::milliseconds(0));
}

TEST_CASE_FIXTURE(host_fixture, "a child that keeps the output open does not delay the end") {
  auto what = request({"sh", "-c", "(sleep 300 &); echo bg"});
  what.marker = marker();
  const auto run = start(what);
  CHECK(run->wait_exit().ok());
  CHECK(run->out() == "bg\n");
  CHECK(sweep({what.marker}) == std::pair<std::size_t, std::string>{1, ""});
}

TEST_CASE_FIXTURE(host_fixture, "a child that floods the output does not delay the end") {
  auto what = script("yes & exit 3");
  what.marker = marker();
  const auto run = start(what);
  CHECK(run->wait_exit().code == 3);
}

TEST_CASE_FIXTURE(host_fixture, "a missing program is a sentence") {
  const auto run = start(request({"no-such-program"}));
  CHECK_FALSE(run->program);
  CHECK(run->refused ==
        "no-such-program was not found; install it, or put its directory on the PATH the daemon "
        "runs with");
  CHECK(start(request({"/no/such/program"}))->refused ==
        "/no/such/program was not found; install it, or put its directory on the PATH the daemon "
        "runs with");
}

TEST_CASE_FIXTURE(host_fixture, "a missing directory is a sentence") {
  auto what = request({"true"});
  what.directory = "/no/such/place";
  CHECK(start(what)->refused ==
        "true could not be started in /no/such/place, which does not exist");
  what.directory = "/etc/passwd";
  CHECK(start(what)->refused ==
        "true could not be started in /etc/passwd, which is not a directory");
  what.terminal = runtimes::window_size{};
  CHECK(start(what)->refused ==
        "true could not be started in /etc/passwd, which is not a directory");
}

TEST_CASE_FIXTURE(host_fixture, "other failures to start say why") {
  const tests::scratch folder;
  const std::string plain = folder.path() + "/plain";
  std::ofstream(plain) << "text";
  CHECK(start(request({plain}))->refused == plain + " could not be started: Permission denied");
  auto what = request({"plain"});
  what.env["PATH"] = folder.path();
  CHECK(start(what)->refused == "plain could not be started: Permission denied");

  const std::string lost = folder.path() + "/lost";
  std::ofstream(lost) << "#!/no/such/shell\n";
  std::filesystem::permissions(lost, std::filesystem::perms::owner_all);
  CHECK(start(request({lost}))->refused ==
        lost + " could not be started: the interpreter it names does not exist");

  CHECK(start(request({"true", std::string(1u << 20, 'x')}))->refused ==
        "true could not be started: Argument list too long");
  CHECK(start(request({}))->refused == "argv is empty; expected a program and its arguments");
  CHECK(start(request({"true", std::string("a\0b", 3)}))->refused ==
        "argv holds a zero byte; expected text");
  what.env["A=B"] = "c";
  CHECK(start(what)->refused ==
        "env holds the name 'A=B'; expected one that is not empty and has neither '=' nor a zero "
        "byte");
}

TEST_CASE_FIXTURE(host_fixture, "the environment is the place's with the request's over it") {
  auto what = request({"env", "-0"});
  what.env = {{"LANG", "de"}, {"MORE", "a\nb=c"}};
  what.marker = marker();
  const auto run = start(what);
  CHECK(run->wait_exit().ok());
  std::string expected;
  for (const std::string& entry :
       {"AHPD_RUN=" + what.marker, std::string("LANG=de"), std::string("MORE=a\nb=c"),
        std::string("PATH=/usr/local/bin:/usr/bin:/bin")})
    expected += entry + '\0';
  CHECK(run->out() == expected);
}

TEST_CASE_FIXTURE(host_fixture, "the request's PATH finds the program") {
  const tests::scratch folder;
  const std::string file = folder.path() + "/greet";
  std::ofstream(file) << "#!/bin/sh\necho hello from $0\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  auto what = request({"greet"});
  CHECK_FALSE(start(what)->program);
  what.env["PATH"] = "relative::/nowhere:" + folder.path();
  const auto run = start(what);
  REQUIRE(run->program);
  CHECK(run->wait_exit().ok());
  CHECK(run->out() == "hello from " + file + "\n");
}

TEST_CASE_FIXTURE(host_fixture, "a program starts in the directory asked for") {
  const tests::scratch folder;
  auto what = request({"pwd"});
  what.directory = folder.path();
  const auto run = start(what);
  CHECK(run->wait_exit().ok());
  CHECK(run->out() == std::filesystem::canonical(folder.path()).string() + "\n");
}

TEST_CASE_FIXTURE(host_fixture, "output is still there when the program has long ended") {
  const auto run = sh("echo kept");
  CHECK(run->wait_exit().ok());
  const auto other = sh("exit 0");
  CHECK(other->wait_exit().ok());
  CHECK(run->program->read(runtimes::output::out, 2).bytes == "pt\n");
}
