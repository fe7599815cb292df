#include "config/daemon_record.hpp"
#include "config/process_id.hpp"
#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include <csignal>
#include <sys/stat.h>
#include <unistd.h>

using namespace ahpd;
namespace fs = std::filesystem;

namespace {

using strings = std::vector<std::string>;

constexpr const char* secret = "hush+hush/hush";

/// A person's home, with the daemon ended at the end.
struct home {
  tests::scratch dir;

  home() { fs::create_directories(work()); }
  ~home() {
    if (const auto record = config::find_daemon(settings()))
      ::kill(record->pid, SIGKILL);
  }

  std::string work() const { return dir.path() + "/work"; }
  std::string settings() const { return dir.path() + "/ahpd"; }

  tests::program_options command(strings words, const std::string& where = {}) const {
    words.insert(words.begin(), AHPD_BINARY);
    return {std::move(words), {{"XDG_CONFIG_HOME", dir.path()}}, where.empty() ? work() : where};
  }
  tests::program_result ahpd(const strings& words, const std::string& where = {}) const {
    return tests::run_program(command(words, where));
  }
  config::daemon_record record() const {
    const auto found = config::find_daemon(settings());
    REQUIRE_MESSAGE(found, "a daemon runs");
    return *found;
  }
};

/// Words of a process as `ps` shows them, each ended by a NUL.
std::string process_file(pid_t pid, const char* name) {
  return tests::read_file("/proc/" + std::to_string(pid) + '/' + name);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE_FIXTURE(home, "with nothing running status, stop and restart say so") {
  for (const char* verb : {"status", "stop", "restart"}) {
    const auto result = ahpd({verb});
    CHECK(result.exit_code == 1);
    CHECK(result.output.empty());
    CHECK(result.errors == "Nothing is running.\n");
  }
  CHECK_FALSE(fs::exists(settings()));
}

TEST_CASE_FIXTURE(home, "a daemon starts, is found, is not started twice, and stops") {
  const auto started = ahpd({"start", "--port", "0"});
  REQUIRE_MESSAGE(started.exit_code == 0, started.errors);
  const auto kept = record();
  const std::string pid = std::to_string(kept.pid);
  CHECK(holds(started.output, "ahpd on " + kept.url + " ("));
  CHECK(holds(started.output, "\npid " + pid + "\n"));
  CHECK(holds(tests::read_file(settings() + "/daemon.log"), started.output));
  CHECK(getsid(kept.pid) == kept.pid);

  CHECK(ahpd({"status"}).output ==
        "ahpd on " + kept.url + " (pid " + pid + "), started " + kept.started_at + "\n");
  CHECK(holds(ahpd({"status", "--json"}).output, "\"pid\":" + pid));
  const auto again = ahpd({"start"});
  CHECK(again.exit_code == 1);
  CHECK(again.errors == "One is already running: " + kept.url + " (pid " + pid + ")\n");

  const auto stopped = ahpd({"stop"});
  CHECK(stopped.exit_code == 0);
  CHECK(stopped.output == "Stopped ahpd (pid " + pid + ").\n");
  CHECK_FALSE(fs::exists(settings() + "/daemon.json"));
  CHECK(ahpd({"status"}).exit_code == 1);
}

TEST_CASE_FIXTURE(home, "a typed token is seen nowhere, and a restart from elsewhere keeps it") {
  for (const strings& token : {strings{"--connection-token", secret},
                               strings{std::string("--connection-token=") + secret}}) {
    strings words{"start", "--path", ".", "--port", "0"};
    words.insert(words.end(), token.begin(), token.end());
    const auto started = ahpd(words);
    REQUIRE_MESSAGE(started.exit_code == 0, started.errors);
    CHECK_FALSE(holds(started.output, secret));
    CHECK(ahpd({"restart"}, "/").exit_code == 0);
    const auto kept = record();
    CHECK(kept.argv == strings{"--path", ".", "--port", "0"});
    CHECK(kept.paths == strings{work()});
    CHECK(config::token_of(kept.connect_url) == secret);
    CHECK(holds(process_file(kept.pid, "cmdline"), "--port"));
    CHECK_FALSE(holds(process_file(kept.pid, "cmdline"), secret));
    CHECK_FALSE(holds(process_file(kept.pid, "environ"), secret));
    CHECK_FALSE(holds(tests::read_file(settings() + "/daemon.log"), secret));
    CHECK_FALSE(holds(ahpd({"status", "--json"}).output, secret));
    CHECK(ahpd({"stop"}).exit_code == 0);
  }
}

TEST_CASE_FIXTURE(home, "in the foreground a typed token leaves the command line") {
  tests::program hub(command({"--port", "0", "--connection-token", secret}));
  hub.wait_for_output("\npid ");
  CHECK(holds(process_file(hub.pid(), "cmdline"), "--connection-token"));
  CHECK_FALSE(holds(process_file(hub.pid(), "cmdline"), secret));
  hub.signal(SIGTERM);
  CHECK(hub.wait() == 0);
  CHECK_FALSE(fs::exists(settings() + "/daemon.json"));
}

TEST_CASE_FIXTURE(home, "a wrong flag is refused before anything is started") {
  const auto result = ahpd({"start", "--prot", "0"});
  CHECK(result.exit_code == 2);
  CHECK(result.errors == "--prot is not an option of ahpd; did you mean --port?\n");
  CHECK_FALSE(fs::exists(settings()));
}

TEST_CASE_FIXTURE(home, "a killed daemon is forgotten, and another can be started") {
  REQUIRE(ahpd({"start", "--port", "0"}).exit_code == 0);
  const auto first = record().pid;
  kill(first, SIGKILL);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!config::start_of(first).empty()) { // it is not our child, so there is nothing to wait for
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    sched_yield();
  }
  CHECK(ahpd({"status"}).exit_code == 1);
  CHECK_FALSE(fs::exists(settings() + "/daemon.json"));
  CHECK(ahpd({"start", "--port", "0"}).exit_code == 0);
  CHECK(record().pid != first);
}

TEST_CASE_FIXTURE(home, "of two starts at once one is told of the other") {
  tests::program one(command({"start", "--port", "0"}));
  tests::program two(command({"start", "--port", "0"}));
  int failed = 0;
  for (auto* start : {&one, &two})
    if (start->wait() != 0) {
      ++failed;
      CHECK(holds(start->errors(), "One is already running: " + record().url));
    }
  CHECK(failed == 1);
}

TEST_CASE_FIXTURE(home, "a hub in the foreground keeps a second one from its sessions") {
  tests::program hub(command({"--port", "0"}));
  hub.wait_for_output("\npid ");
  const std::string sentence =
    "Another ahpd (pid " + std::to_string(hub.pid()) + ") keeps its sessions in " + settings();
  for (const strings& words : {strings{"--port", "0"}, strings{"start", "--port", "0"}}) {
    const auto second = ahpd(words);
    CHECK(second.exit_code == 1);
    CHECK(holds(second.errors, sentence));
  }
  CHECK(ahpd({"start", "--port", "0", "--sessions", "memory"}).exit_code == 0);
}

TEST_CASE_FIXTURE(home, "a log that grew large is put aside at the next start") {
  fs::create_directories(settings());
  std::ofstream(settings() + "/daemon.log") << std::string((5 << 20) + 1, 'x');
  REQUIRE(ahpd({"start", "--port", "0"}).exit_code == 0);
  CHECK(fs::file_size(settings() + "/daemon.log.1") == (5 << 20) + 1);
  CHECK(fs::file_size(settings() + "/daemon.log") < 5000);
}
