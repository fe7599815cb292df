#include "tests/runtimes/docker_support.hpp"

#include <doctest/doctest.h>

#include <csignal>

using namespace ahpd;
using namespace ahpd::runtimes;
using namespace ahpd::tests;

TEST_CASE("a program's two streams come apart byte for byte with its code") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  const auto box = on.create(on.name("exec")).id;
  auto it = on.sh(box, R"(printf 'a\000b\377\n'; printf 'wrong\n' >&2; exit 3)");
  CHECK(it->out() == std::string("a\0b\xff\n", 5));
  CHECK(it->err() == "wrong\n");
  CHECK(it->status->code == 3);
  CHECK(it->status->lost.empty());
  for (const int code : {0, 1, 255})
    CHECK(on.sh(box, "exit " + std::to_string(code))->status->code == code);
  CHECK(on.sh(box, "kill -9 $$")->status->code == 137); // all that an engine tells of a signal
}

TEST_CASE("arguments, environment, directory and user reach a program as they are") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  const auto box = on.create(on.name("args")).id;
  auto what = program({"sh", "-c", R"_(printf '%s|' "$@" "$TOKEN" "$PWD" "$(id -u)" "$AHPD_RUN")_",
                       "sh", "a b", "$(x)", "", "ä'\"\n"});
  what.env = {{"TOKEN", "s3cret=\n x"}};
  what.directory = "/tmp";
  what.user = "1234:1234";
  what.marker = "marker-1";
  const auto it = on.run(box, what);
  CHECK(it->out() == "a b|$(x)||ä'\"\n|s3cret=\n x|/tmp|1234|marker-1|");
  const auto inspected = docker_says("inspect " + box);
  CHECK(inspected.find("s3cret") == std::string::npos);
  CHECK(inspected.find("TOKEN") == std::string::npos);
}

TEST_CASE("a program that cannot be started is refused with the engine's words") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  const auto box = on.create(on.name("refused")).id;
  auto it = on.start(box, program({"no-such-program"}));
  CHECK_FALSE(it->program);
  CHECK(it->refused.find("\"no-such-program\": executable file not found") != std::string::npos);
  auto what = program({"true"});
  what.directory = "/no/such/place";
  CHECK(on.start(box, what)->refused.find("/no/such/place") != std::string::npos);
  what = program({"true"});
  what.user = "nobody-of-that-name";
  CHECK(on.start(box, what)->refused.find("nobody-of-that-name") != std::string::npos);
  what = program({"no-such-program"});
  what.terminal = window_size{};
  CHECK(on.start(box, what)->refused.find("executable file not found") != std::string::npos);

  docker_says("pause " + box);
  CHECK(on.start(box, program({"true"}))->refused.find("is paused, unpause the container") !=
        std::string::npos);
  docker_says("unpause " + box);
  docker_says("stop -t 5 " + box);
  CHECK(on.start(box, program({"true"}))->refused.find("is not running") != std::string::npos);
}

TEST_CASE("twenty megabytes arrive whole, and what a ring no longer keeps is said") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  const auto box = on.create(on.name("much")).id;
  constexpr std::uint64_t size = 20u << 20;
  auto what = program({"sh", "-c", "yes 0123456789abcde | head -c 20971520; printf end"});
  what.keep_bytes = 1u << 20;
  auto it = on.run(box, what);
  CHECK(it->status->code == 0);
  auto got = it->program->read(output::out, 0);
  CHECK(got.end == size + 3);
  CHECK(got.offset == size + 3 - (1u << 20));
  CHECK(got.bytes.size() == 1u << 20);
  CHECK(got.bytes.ends_with("0123456789abcde\nend"));

  // Read as it comes, nothing of it is missed.
  what = program({"sh", "-c", "yes 0123456789abcde | head -c 20971520"});
  what.keep_bytes = 32u << 20;
  it = on.run(box, what);
  got = it->program->read(output::out, 0);
  CHECK(got.offset == 0);
  REQUIRE(got.bytes.size() == size);
  bool same = true;
  for (std::size_t i = 0; i < size; ++i)
    same = same && got.bytes[i] == "0123456789abcde\n"[i % 16];
  CHECK(same);
}

TEST_CASE("input goes in as it is and its end is heard") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  const auto box = on.create(on.name("input")).id;
  auto what = program({"sh", "-c", "cat; echo over"});
  what.input = true;
  what.keep_bytes = 8u << 20;
  auto it = on.start(box, what);
  REQUIRE(it->program);
  std::string sent;
  for (int i = 0; i < 256 * 1024; ++i)
    sent += static_cast<char>(i * 7);
  it->program->write(sent);
  it->program->write("tail");
  it->program->close_input();
  on.until("exit", [&] { return it->status.has_value(); });
  CHECK(it->out() == sent + "tailover\n");
  CHECK(on.run(box, program({"cat"}))->out().empty()); // no input: its end at once
}

TEST_CASE("output is told once until it is read") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  const auto box = on.create(on.name("told")).id;
  auto what = program({"sh", "-c", "while read -r line; do echo \"$line\"; done"});
  what.input = true;
  auto it = on.start(box, what);
  REQUIRE(it->program);
  it->program->write("one\n");
  on.until("first", [&] { return it->told > 0; });
  CHECK(it->told == 1);
  CHECK(it->out() == "one\n");
  it->program->write("two\n");
  on.until("second", [&] { return it->told == 2; });
  it->program->write("three\n");
  it->program->close_input();
  on.until("exit", [&] { return it->status.has_value(); });
  CHECK(it->told == 2);
  CHECK(it->out() == "one\ntwo\nthree\n");
}

TEST_CASE("a terminal has its size, mixes its streams and takes every key") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  const auto box = on.create(on.name("tty")).id;
  auto what = program({"sh", "-c",
                       "stty -echo -icanon; trap 'stty size' WINCH; echo ready >&2; "
                       "while :; do k=$(dd bs=1 count=1 2>/dev/null | od -An -tx1); echo key$k; "
                       "[ \"$k\" = ' 71' ] && stty size && exit 4; done"});
  what.terminal = window_size{101, 37};
  what.input = true;
  auto it = on.start(box, what);
  REQUIRE(it->program);
  const auto shows = [&](const std::string& text) {
    on.until(text.c_str(), [&] { return it->out().find(text) != std::string::npos; });
  };
  shows("ready");
  it->program->write("\x10"); // ctrl-p, which an engine's default would hold back
  shows("key 10");
  it->program->resize({90, 20});
  it->program->write("x");
  shows("20 90");
  it->program->write("q");
  on.until("exit", [&] { return it->status.has_value(); });
  CHECK(it->status->code == 4);
  CHECK(it->err().empty());
}

TEST_CASE("the end is the program's own, whatever keeps its output open") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  const auto box = on.create(on.name("ends")).id;
  CHECK(on.sh(box, "(sleep 300 &); echo hi; exit 5")->status->code == 5);
  CHECK(on.sh(box, "exec >&- 2>&-; sleep 1; exit 6")->status->code == 6);
}

TEST_CASE("a signal reaches the whole tree, a grandchild in a session of its own too") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  const auto box = on.create(on.name("tree")).id;
  for (const std::string user : {"", "1234:1234"}) {
    CAPTURE(user);
    auto what = program({"sh", "-c",
                         "setsid sh -c 'trap \"\" TERM; echo child; while :; do sleep 1; done' & "
                         "trap 'exit 9' TERM; echo up; while :; do sleep 1; done"});
    what.user = user;
    what.marker = "tree-" + user;
    const auto it = on.start(box, what);
    REQUIRE(it->program);
    on.until("tree", [&] {
      return it->out().find("child") != std::string::npos &&
             it->out().find("up") != std::string::npos;
    });
    it->program->kill(std::chrono::milliseconds(1500));
    on.until("exit", [&] { return it->status.has_value(); });
    CHECK(it->status->code == 9);
    // Ends when the grandchild is gone; the pattern does not match its own command.
    on.sh(box,
          "while cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -q 'echo chil[d]'; "
          "do sleep 0.1; done");
  }
}

TEST_CASE("kill without grace ends a program that ignores signals, and other programs live on") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  const auto box = on.create(on.name("kill")).id;
  const auto loop = program({"sh", "-c", "trap '' TERM INT; echo up; while :; do sleep 1; done"});
  const auto one = on.start(box, loop);
  const auto two = on.start(box, loop);
  REQUIRE(one->program);
  REQUIRE(two->program);
  on.until("both", [&] { return !one->out().empty() && !two->out().empty(); });
  one->program->signal(SIGTERM);
  one->program->kill(std::chrono::milliseconds(0));
  on.until("exit", [&] { return one->status.has_value(); });
  CHECK(one->status->code == 137);
  CHECK_FALSE(two->status);
  CHECK(on.sh(box, "pgrep -c sleep || ls /proc | grep -c '^[0-9]'")->status->code.has_value());
  two->program->kill(std::chrono::milliseconds(0));
  on.until("exit", [&] { return two->status.has_value(); });
}

TEST_CASE("a sweep kills what carries a marker and counts it") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  const auto box = on.create(on.name("sweep")).id;
  auto what = program({"sh", "-c", "setsid sleep 300 & echo up; exec sleep 300"});
  what.marker = "mark-a";
  const auto root = on.start(box, what);
  what.marker = "mark-b";
  what.user = "1234:1234";
  const auto other = on.start(box, what);
  what.marker = "mark-c";
  const auto kept = on.start(box, what);
  for (const auto& it : {root, other, kept}) {
    REQUIRE(it->program);
    on.until("program", [&] { return !it->out().empty(); });
  }
  std::optional<std::size_t> killed;
  std::string why;
  on.sut->inside(box)->sweep({"mark-a", "mark-b", "mark"}, [&](std::size_t n, std::string said) {
    killed = n;
    why = std::move(said);
  });
  on.until("sweep", [&] { return killed.has_value(); });
  CHECK(why == "");
  CHECK(*killed == 4);
  on.until("both ends", [&] { return root->status && other->status; });
  CHECK(root->status->code == 137);
  CHECK_FALSE(kept->status);

  killed.reset();
  on.sut->inside("nothing-of-that-name")->sweep({"x"}, [&](std::size_t n, std::string said) {
    killed = n;
    why = std::move(said);
  });
  on.until("sweep", [&] { return killed.has_value(); });
  CHECK(*killed == 0);
  CHECK(why == "There is no computer called nothing-of-that-name on this host");
}

TEST_CASE("a machine that goes away ends its programs and no code is made up") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  const auto box = on.create(on.name("gone")).id;
  const auto it = on.start(box, program({"sleep", "300"}));
  REQUIRE(it->program);
  docker_says("rm -f " + box);
  on.until("exit", [&] { return it->status.has_value(); });
  CHECK_FALSE(it->status->ok());
  CHECK((it->status->code == 137 || it->status->lost.find("how it ended is not known") == 0));
}

TEST_CASE("dropping the runtime answers what is open and loses what runs") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  const auto box = on.create(on.name("dropped")).id;
  const auto it = on.start(box, program({"sleep", "300"}));
  REQUIRE(it->program);
  const auto place = on.sut->inside(box);
  std::optional<outcome<json::value>> answer;
  on.sut->stats(box, [&](outcome<json::value> result) { answer = std::move(result); });
  on.io.restart();
  on.io.poll();
  on.sut.reset();
  on.until("answers", [&] { return answer && it->status; });
  CHECK(std::get<refusal>(*answer).what == fault::unreachable);
  CHECK(it->status->lost.find("let go of it") != std::string::npos);
  std::string refused;
  place->exec(program({"true"}), {}, [&](exec_result result) { refused = result.refused; });
  on.until("refusal", [&] { return !refused.empty(); });
  CHECK(docker_says("inspect --format '{{.State.Running}}' " + box) == "true");
}
