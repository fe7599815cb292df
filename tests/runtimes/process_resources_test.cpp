#include "runtimes/process/children.hpp"
#include "runtimes/process/reaper.hpp"
#include "tests/runtimes/process_support.hpp"

#include <boost/asio/post.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace ahpd;
using tests::host_fixture;
using tests::request;
using tests::script;

namespace {

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Children of this process, zombies included.
std::vector<pid_t> child_pids() {
  std::vector<pid_t> out;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(task.path() / "children");
    for (pid_t pid = 0; children >> pid;)
      out.push_back(pid);
  }
  return out;
}

long resident_pages() {
  std::ifstream statm("/proc/self/statm");
  long size = 0, resident = 0;
  statm >> size >> resident;
  return resident;
}

/// Waits until what was posted to the io thread and the pool so far has run.
void settle(host_fixture& at) {
  at.sweep({"nobody"});
}

} // namespace

TEST_CASE_FIXTURE(host_fixture, "five hundred programs leave no zombie and no descriptor") {
  for (int i = 0; i < 3; ++i)
    sh("true")->wait_exit();
  settle(*this);
  const auto before = open_descriptors();
  for (int i = 0; i < 500; ++i) {
    auto what = request({i % 10 == 0 ? "no-such-program" : "true"});
    what.input = i % 2 == 0;
    if (i % 5 == 0)
      what.terminal = runtimes::window_size{};
    const auto run = start(what);
    if (run->program)
      REQUIRE(run->wait_exit().ok());
    else
      REQUIRE(i % 10 == 0);
  }
  settle(*this);
  CHECK(open_descriptors() == before);
  CHECK(child_pids().empty());
}

TEST_CASE_FIXTURE(host_fixture,
                  "a killed program leaves no zombie when nothing of its tree is left") {
  const auto run = sh("echo ready; exec sleep 1000");
  run->wait_output("ready");
  run->program->kill(std::chrono::hours(1));
  CHECK(run->wait_exit().signal == SIGTERM);
  for (int i = 0; i < 4; ++i)
    settle(*this); // the look for the rest goes to the pool and back
  CHECK(child_pids().empty());
}

TEST_CASE_FIXTURE(host_fixture,
                  "a program gets three descriptors, default signals and a group of its own") {
  const int leak = ::open("/dev/null", O_RDONLY); // not close-on-exec
  sigset_t blocked, before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR2);
  for (const bool terminal : {false, true}) {
    auto what =
      script("ls /proc/self/fd | tr '\\n' ' '; grep -E '^Sig(Blk|Ign)' /proc/self/status; "
             "read -r -a stat < /proc/$$/stat; "
             "[ ${stat[4]} = $$ ] && [ ${stat[5]} = $$ ] && echo leads");
    if (terminal)
      what.terminal = runtimes::window_size{};
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
    const auto run = start(what);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    CHECK(run->wait_exit().ok());
    std::string text = run->out();
    std::erase(text, '\r');
    CHECK(text == "0 1 2 3 SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nleads\n");
  }
  ::close(leak);
}

TEST_CASE_FIXTURE(host_fixture, "fifty programs run at once") {
  std::vector<std::shared_ptr<tests::watched>> runs;
  auto what = script("read -r line; echo $line; exit ${line#n}");
  what.input = true;
  for (int i = 0; i < 50; ++i)
    runs.push_back(start(what));
  for (int i = 49; i >= 0; --i)
    runs[static_cast<std::size_t>(i)]->program->write("n" + std::to_string(i) + "\n");
  for (int i = 0; i < 50; ++i) {
    const auto& run = runs[static_cast<std::size_t>(i)];
    CHECK(run->wait_exit().code == i);
    CHECK(run->out() == "n" + std::to_string(i) + "\n");
  }
}

TEST_CASE_FIXTURE(host_fixture, "programs started from several threads at once do not mix") {
  std::vector<std::shared_ptr<tests::watched>> runs(48);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([this, t, &runs] {
      for (std::size_t i = t; i < runs.size(); i += 4)
        runs[i] = sh("echo " + std::to_string(i));
    });
  std::thread second_io([this] { io.run(); });
  for (auto& each : threads)
    each.join();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    CHECK(runs[i]->wait_exit().ok());
    CHECK(runs[i]->out() == std::to_string(i) + "\n");
  }
  release();
  second_io.join();
}

TEST_CASE_FIXTURE(host_fixture, "output that nobody reads does not grow memory") {
  const auto warm = sh("head -c 30000000 /dev/zero");
  CHECK(warm->wait_exit().ok());
  const long before = resident_pages();
  const auto run = sh("head -c 300000000 /dev/zero");
  CHECK(run->wait_exit().ok());
  CHECK((resident_pages() - before) * ::sysconf(_SC_PAGESIZE) < 16 * 1024 * 1024);
  CHECK(run->program->read(runtimes::output::out, 0).end == 300'000'000);
}

TEST_CASE_FIXTURE(host_fixture, "a reaper collects orphans and leaves programs their exit status") {
  REQUIRE(process::become_subreaper());
  {
    const process::reaper collect(io);
    std::vector<std::shared_ptr<tests::watched>> runs;
    for (int i = 0; i < 30; ++i)
      runs.push_back(
        sh("(bash -c 'exec sleep 0.0' & echo $!); (exit 3 & ); exit " + std::to_string(i)));
    for (int i = 0; i < 30; ++i) {
      const auto& run = runs[static_cast<std::size_t>(i)];
      const auto how = run->wait_exit();
      CHECK(how.code == i);
      CHECK(how.lost.empty());
      CHECK(tests::gone(static_cast<pid_t>(std::stol(run->out()))));
    }
    for (int tries = 0; tries < 1000 && !child_pids().empty(); ++tries)
      settle(*this);
    CHECK(child_pids().empty());
    settle(*this);
  }
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == 0);
}

TEST_CASE_FIXTURE(host_fixture, "a status that somebody else collected is said to be lost") {
  auto what = script("echo ready; read -r line");
  what.input = true;
  const auto run = start(what);
  run->wait_output("ready");
  const auto pids = child_pids();
  REQUIRE(pids.size() == 1);
  // Reading ends when the io thread is held here, so that the thief comes first.
  std::mutex hold;
  std::unique_lock held(hold);
  boost::asio::post(io, [&hold] { const std::lock_guard wait(hold); });
  ::kill(pids.front(), SIGKILL);
  int status = 0;
  CHECK(::waitpid(pids.front(), &status, 0) == pids.front());
  held.unlock();
  const auto how = run->wait_exit();
  CHECK_FALSE(how.code);
  CHECK_FALSE(how.signal);
  CHECK(how.lost == "its exit status could not be read: No child processes");
}
