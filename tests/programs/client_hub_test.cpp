// The client's verbs against the real hub.

#include "protocol/json.hpp"
#include "tests/support/ahp_peer.hpp"
#include "tests/support/hub_process.hpp"
#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace ahpd;
using namespace std::chrono_literals;

namespace {

struct hub_fixture {
  tests::hub_process hub;

  explicit hub_fixture(tests::hub_options how = {}) : hub(std::move(how)) {}

  tests::program start(std::vector<std::string> words) const {
    words.insert(words.begin(), AHPD_BINARY);
    words.insert(words.begin() + 2, {"--remote", hub.url()});
    return tests::program({words, {{"XDG_CONFIG_HOME", hub.config_home()}}, {}});
  }

  tests::program_result run(const std::vector<std::string>& words) const {
    auto ahpd = start(words);
    const int code = ahpd.wait(120s);
    return {code, ahpd.output(), ahpd.errors()};
  }
};

/// Destroys a machine whatever becomes of the test that made it.
struct machine_guard {
  const hub_fixture& on;
  std::string name;
  ~machine_guard() { on.run({"computer", "rm", name}); }
};

bool engine_answers() {
  return ::access("/var/run/docker.sock", R_OK | W_OK) == 0;
}

} // namespace

TEST_CASE_FIXTURE(hub_fixture,
                  "run gives the bytes and the exit status of a command on this host") {
  const auto good = run({"run", "printf 'a\\377b'; echo err >&2"});
  CHECK(good.exit_code == 0);
  CHECK(good.output == "a\xff"
                       "b");
  CHECK(good.errors == "err\n");
  const auto bad = run({"run", "echo so; exit 9"});
  CHECK(bad.exit_code == 9);
  CHECK(bad.output == "so\n");
  const auto sessions = run({"session", "list", "--json"});
  CHECK(json::parse(sessions.output).as_array().size() == 2);
}

TEST_CASE_FIXTURE(hub_fixture, "a session goes on with --session and is gone after rm") {
  REQUIRE(run({"run", "echo one"}).exit_code == 0);
  auto uri = run({"session", "list", "--quiet"}).output;
  uri.pop_back();
  const auto again = run({"run", "--session", uri, "echo two"});
  CHECK(again.exit_code == 0);
  CHECK(again.output == "two\n");
  CHECK(run({"session", "rm", uri}).exit_code == 0);
  CHECK(run({"session", "list", "--quiet"}).output.empty());
  const auto gone = run({"run", "--session", uri, "echo three"});
  CHECK(gone.exit_code == 1);
  CHECK(gone.errors.find("-32001") != std::string::npos);
}

TEST_CASE_FIXTURE(hub_fixture, "Ctrl-C ends what the turn started") {
  auto ahpd = start({"run", "echo $$; exec sleep 1000"});
  ahpd.wait_for_output("\n");
  const pid_t shell = std::stoi(ahpd.output());
  const int its_end = static_cast<int>(::syscall(SYS_pidfd_open, shell, 0));
  REQUIRE(its_end >= 0);
  ahpd.signal(SIGINT);
  CHECK(ahpd.wait() == 130);
  pollfd ended{its_end, POLLIN, 0};
  CHECK(::poll(&ended, 1, 20'000) == 1);
  ::close(its_end);
}

TEST_CASE_FIXTURE(hub_fixture, "a turn that a killed hub cut off is told as such when it is back") {
  auto ahpd = start({"run", "echo begun; exec sleep 1000"});
  ahpd.wait_for_output("begun");
  hub.kill();
  hub.start(hub.port());
  CHECK(ahpd.wait() == 1);
  CHECK(ahpd.output() == "begun\n");
  CHECK(ahpd.errors().find("connecting again") != std::string::npos);
  CHECK(ahpd.errors().find("the turn failed") != std::string::npos);
}

TEST_CASE("a hub without the computer plugin says so") {
  hub_fixture on({{"--no-plugins"}, {}, {}});
  const auto refused = on.run({"computer", "create", "box"});
  CHECK(refused.exit_code == 1);
  CHECK(refused.errors.find("-32601") != std::string::npos);
}

TEST_CASE("the client makes a machine, runs in it, reads its stats and destroys it") {
  if (!engine_answers())
    return tests::skip("a Docker Engine");
  hub_fixture on;
  const std::string name = "ahpd-client-test-" + std::to_string(::getpid());
  const machine_guard guard{on, name};
  const auto made = on.run({"computer", "create", name, "--memory", "256m", "--cpus", "1"});
  REQUIRE_MESSAGE(made.exit_code == 0, made.errors);
  CHECK(made.output == "computer://" + name + "\n");
  const auto ran = on.run({"run", "--computer", name, "cat /etc/debian_version; exit 4"});
  CHECK_MESSAGE(ran.exit_code == 4, ran.errors);
  CHECK(ran.output.rfind("12.", 0) == 0);
  CHECK(on.run({"computer", "list"}).output.find(name + "  running") != std::string::npos);
  const auto stats = json::parse(on.run({"computer", "stats", name, "--json"}).output);
  CHECK(stats.at("running") == true);
  CHECK(stats.at("memory").at("limit") == 268435456);
  CHECK(on.run({"computer", "stop", name}).exit_code == 0);
  CHECK(on.run({"computer", "show", name}).output.find("stopped") != std::string::npos);
  CHECK(on.run({"computer", "rm", name}).exit_code == 0);
  CHECK(on.run({"computer", "list", "--quiet"}).output.find(name) == std::string::npos);
}

TEST_CASE_FIXTURE(hub_fixture, "the example bot runs a prompt and answers with its output") {
  if (!std::filesystem::exists("/usr/share/nodejs/ws") || !std::filesystem::exists("/usr/bin/node"))
    return tests::skip("node with its package ws");
  const auto bot = tests::run_program({{"/usr/bin/node", AHPD_SOURCE_DIR "/examples/bot/bot.js",
                                        hub.url(), "echo hello from $((40 + 2))"},
                                       {{"NODE_PATH", "/usr/share/nodejs"}},
                                       {}});
  CHECK_MESSAGE(bot.exit_code == 0, bot.errors);
  CHECK(bot.output == "hello from 42\n");
}

TEST_CASE("the example configuration is taken as it is, and the README shows it") {
  const auto text = tests::read_file(AHPD_SOURCE_DIR "/examples/config.json");
  tests::hub_process hub({{}, {}, text});
  CHECK(hub.announcement().find("skipped") == std::string::npos);
  CHECK(hub.announcement().find("plugins @ahpd/computer\n") != std::string::npos);
  CHECK(tests::read_file(AHPD_SOURCE_DIR "/README.md").find(text) != std::string::npos);
}
