#include "config/store.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <random>

#include <csignal>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ahpd;
using config::store;

namespace {
std::atomic<int> syncs{0};
}

// These stand before the C library's, so that a test can see SQLite reach for the disk.
extern "C" int fsync(int fd) {
  ++syncs;
  return static_cast<int>(syscall(SYS_fsync, fd));
}

extern "C" int fdatasync(int fd) {
  ++syncs;
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}

namespace {

/// Writes turns for ever, telling the pipe each ordinal after its commit.
[[noreturn]] void write_until_killed(const std::string& file, int pipe) {
  store s(file);
  for (;;) {
    s.begin();
    const auto n = s.append_turn("c", json::value(std::string(3000, 'x')));
    s.set_number("turns", n);
    s.commit();
    if (write(pipe, &n, sizeof n) != sizeof n)
      _exit(1);
  }
}

/// Kills such a child after `reports` of them and gives the last one that was reported.
std::int64_t last_report_of_killed(const std::string& file, int reports) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    close(ends[0]);
    write_until_killed(file, ends[1]);
  }
  close(ends[1]);
  std::int64_t last = 0;
  std::int64_t n = 0;
  for (int seen = 0; read(ends[0], &n, sizeof n) == sizeof n; last = n)
    if (++seen == reports)
      kill(child, SIGKILL); // what it still reports until it is gone counts too
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  return last;
}

} // namespace

TEST_CASE("every reported commit is there after kill -9, and none is half there") {
  tests::scratch dir;
  const std::string file = dir.path() + "/ahpd.db";
  {
    store s(file);
    s.put_session({"a", "test:/a", 0, 0, json::object()});
    s.put_chat({"c", "a", 0, json::object()});
  }
  std::mt19937 random(1);
  std::int64_t before = 0;
  for (int round = 0; round < 12; ++round) {
    const auto reported =
      last_report_of_killed(file, std::uniform_int_distribution<int>(1, 60)(random));
    store s(file);
    CHECK(reported > before);
    before = s.count_turns("c");
    CHECK(before >= reported);
    CHECK(before <= reported + 1);
    CHECK(s.number("turns", 0) == before);
  }
}

TEST_CASE("a commit reaches the disk before it returns") {
  tests::scratch dir;
  store s(dir.path() + "/ahpd.db");
  for (int n = 0; n < 3; ++n) {
    const int before = syncs;
    s.set_number("n", n);
    CHECK(syncs > before);
  }
}
