#include "config/daemon_record.hpp"
#include "config/process_id.hpp"
#include "tests/programs/fake_hub.hpp"
#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace ahpd;
using tests::fake_hub;

namespace {

const std::string secret = "s3cr3t-of-the-hub";

struct verbs_fixture {
  fake_hub hub{secret};
  tests::scratch home;
  std::map<std::string, std::string> env{{"XDG_CONFIG_HOME", home.path()}, {"AHPD_TOKEN", secret}};

  tests::program start(std::vector<std::string> words) const {
    words.insert(words.begin(), AHPD_BINARY);
    words.insert(words.end(), {"--remote", hub.url()});
    return tests::program({words, env, {}});
  }
};

tests::program_result run(const std::vector<std::string>& words,
                          const std::map<std::string, std::string>& env) {
  std::vector<std::string> argv{AHPD_BINARY};
  argv.insert(argv.end(), words.begin(), words.end());
  return tests::run_program({argv, env, {}});
}

} // namespace

TEST_CASE("without a hub the verbs say how to start one") {
  tests::scratch home;
  const std::map<std::string, std::string> env{{"XDG_CONFIG_HOME", home.path()}};
  std::filesystem::create_directory(home.path() + "/ahpd");
  const auto none = run({"session", "list"}, env);
  CHECK(none.exit_code == 1);
  CHECK(none.errors.find("no hub is running here") != std::string::npos);
  CHECK(none.errors.find("`ahpd start`") != std::string::npos);
  config::daemon_record gone;
  gone.pid = 2147483646;
  gone.url = "ws://127.0.0.1:1";
  gone.connect_url = config::connect_url(gone.url, "x");
  config::write_daemon(home.path() + "/ahpd", gone);
  CHECK(run({"session", "list"}, env).errors.find("no hub is running here") != std::string::npos);
}

TEST_CASE("wrong words end with 2 and name the verb's help") {
  tests::scratch home;
  const std::map<std::string, std::string> env{{"XDG_CONFIG_HOME", home.path()}};
  const std::vector<std::vector<std::string>> wrong{
    {"run"},
    {"run", "--compuer", "x", "hi"},
    {"run", "--computer"},
    {"run", "--session", "s", "--agent", "a", "hi"},
    {"run", "--json", "--json", "hi"},
    {"session"},
    {"session", "show"},
    {"computer", "create"},
    {"computer", "list", "more"},
    {"computer", "list", "--image", "x"},
    {"computer", "list", "--json", "--quiet"},
    {"computer", "fly", "box"},
    {"session", "list", "--token", "a", "--token-file", "b"},
    {"session", "list", "--remote", "ftp://x"},
    {"session", "list", "--remote", "ws:?"},
    {"session", "list", "--remote", "ws://x:99999999"},
  };
  for (const auto& words : wrong) {
    CAPTURE(words.back());
    const auto ran = run(words, env);
    CHECK(ran.exit_code == 2);
    CHECK(ran.output.empty());
    CHECK(ran.errors.find("ahpd: ") == 0);
  }
  CHECK(run({"computer", "fly"}, env).errors.find("`ahpd computer --help`") != std::string::npos);
}

TEST_CASE("--help of each verb goes to standard output") {
  for (const char* verb : {"run", "session", "computer"}) {
    const auto ran = run({verb, "--help"}, {});
    CHECK(ran.exit_code == 0);
    CHECK(ran.output.find("Usage: ahpd " + std::string(verb)) == 0);
  }
}

TEST_CASE("the token opens the door and is never printed") {
  fake_hub hub(secret);
  tests::scratch home;
  std::map<std::string, std::string> env{{"XDG_CONFIG_HOME", home.path()}};
  const auto refused = run({"session", "list", "--remote", hub.url() + "/?tkn=wrong"}, env);
  CHECK(refused.exit_code == 1);
  CHECK(refused.errors.find("asks for a token, and does not know this one") != std::string::npos);
  CHECK(refused.errors.find("wrong") == std::string::npos);
  std::filesystem::create_directory(home.path() + "/ahpd");
  std::ofstream(home.path() + "/token") << secret << "\n";
  config::daemon_record record;
  record.pid = ::getpid();
  record.process = config::start_of(record.pid);
  record.url = hub.url();
  record.connect_url = config::connect_url(record.url, secret);
  config::write_daemon(home.path() + "/ahpd", record);
  std::vector<std::string> words{"session", "list"};
  SUBCASE("from the running daemon's record, whatever was exported for another hub") {
    env["AHPD_TOKEN"] = "another";
  }
  SUBCASE("from a file") {
    words.insert(words.end(), {"--remote", hub.url(), "--token-file", home.path() + "/token"});
  }
  SUBCASE("from the URL") {
    words.insert(words.end(), {"--remote", hub.url() + "/?tkn=" + secret});
  }
  words.insert(words.begin(), AHPD_BINARY);
  tests::program ahpd({words, env, {}});
  hub.greet();
  hub.answer(hub.expect("listSessions"), {{"items", json::array{}}});
  CHECK(ahpd.wait() == 0);
  CHECK(hub.last_authorization() == "Bearer " + secret);
  CHECK((ahpd.output() + ahpd.errors()).find(secret) == std::string::npos);
}

TEST_CASE_FIXTURE(verbs_fixture, "session list reads every page") {
  auto ahpd = start({"session", "list"});
  hub.greet();
  const auto first = hub.expect("listSessions");
  CHECK_FALSE(first.at("params").as_object().contains("cursor"));
  const auto row = [](const char* uri, const char* title, int status) {
    return json::value{{"resource", uri},
                       {"provider", "shell"},
                       {"title", title},
                       {"status", status},
                       {"createdAt", "2026-11-30T10:00:00.000Z"},
                       {"modifiedAt", "2026-11-30T10:00:00.000Z"}};
  };
  hub.answer(first,
             {{"items", json::array{row("ahp-session:/a", "one\nevil", 8)}}, {"nextCursor", "n"}});
  const auto second = hub.expect("listSessions");
  CHECK(second.at("params").at("cursor") == "n");
  hub.answer(second, {{"items", json::array{row("ahp-session:/b", "two", 1)}}});
  CHECK(ahpd.wait() == 0);
  CHECK(ahpd.output().find("ahp-session:/a  shell  running") != std::string::npos);
  CHECK(ahpd.output().find("one evil\n") != std::string::npos);
  CHECK(ahpd.output().find("ahp-session:/b  shell  idle") != std::string::npos);
}

TEST_CASE_FIXTURE(verbs_fixture, "session rm disposes of each and stops at a refusal") {
  auto ahpd = start({"session", "rm", "a", "ahp-session:/b"});
  hub.greet();
  const auto first = hub.expect("disposeSession");
  CHECK(first.at("params").at("channel") == "ahp-session:/a");
  hub.answer(first, nullptr);
  hub.refuse(hub.expect("disposeSession"), -32001, "No agent for session ahp-session:/b");
  CHECK(ahpd.wait() == 1);
  CHECK(ahpd.output() == "ahp-session:/a\n");
  CHECK(ahpd.errors().find("-32001 (no such session): No agent for session ahp-session:/b") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(verbs_fixture, "computer create sends the manifest and shows progress") {
  std::ofstream(home.path() + "/m.json") << R"({"image": "alpine", "profile": "small"})";
  auto ahpd = start({"computer", "create", "computer://box", "--manifest", home.path() + "/m.json",
                     "--cpus=2", "--memory", "512m"});
  hub.greet();
  const auto create = hub.expect("x-ahpd/computers/create");
  const auto& params = create.at("params");
  CHECK(params.at("channel") == "x-ahpd-computers://");
  CHECK(params.at("name") == "box");
  CHECK(params.at("manifest") ==
        json::value{{"image", "alpine"}, {"profile", "small"}, {"cpus", "2"}, {"memory", "512m"}});
  hub.notify("root/progress", {{"channel", "ahp-root://"},
                               {"progressToken", params.at("progressToken")},
                               {"progress", 1},
                               {"total", 2},
                               {"message", "pulling alpine"}});
  hub.answer(create, json::object{});
  CHECK(ahpd.wait() == 0);
  CHECK(ahpd.output() == "computer://box\n");
  CHECK(ahpd.errors() == "ahpd: pulling alpine\n");
}

TEST_CASE_FIXTURE(verbs_fixture,
                  "computer create leaves the image to the hub, and says why it failed") {
  auto ahpd = start({"computer", "create", "box"});
  hub.greet();
  const auto create = hub.expect("x-ahpd/computers/create");
  CHECK(create.at("params").at("manifest") == json::value(json::object{}));
  hub.refuse(create, -32010, "box is taken");
  CHECK(ahpd.wait() == 1);
  CHECK(ahpd.errors().find("-32010 (it exists already): box is taken") != std::string::npos);
}

TEST_CASE_FIXTURE(verbs_fixture, "computer list, show and stats are readable and exact") {
  const json::value status{{"Id", "0123456789abcdef"},
                           {"Created", "2026-11-30T10:00:00.123456789Z"},
                           {"Config", {{"Image", "debian:bookworm-slim"}, {"WorkingDir", "/work"}}},
                           {"HostConfig", {{"NanoCpus", 1500000000}, {"Memory", 536870912}}}};
  SUBCASE("list") {
    auto ahpd = start({"computer", "list"});
    hub.greet();
    const auto asked = hub.answer_subscription(
      {{"records",
        json::array{{{"id", "box"}, {"record", {{"state", "running"}, {"status", status}}}}}}});
    CHECK(asked.at("channel") == "x-ahpd-computers://");
    CHECK(ahpd.wait() == 0);
    CHECK(ahpd.output() == "NAME  STATE    IMAGE                 CREATED\n"
                           "box   running  debian:bookworm-slim  2026-11-30T10:00:00Z\n");
  }
  SUBCASE("show") {
    auto ahpd = start({"computer", "show", "box"});
    hub.greet();
    const auto state = hub.expect("resourceRead");
    CHECK(state.at("params").at("uri") == "computer://box/state");
    hub.answer(state, {{"data", "running\n"}, {"encoding", "utf-8"}});
    hub.answer(hub.expect("resourceRead"),
               {{"data", json::serialize(status)}, {"encoding", "utf-8"}});
    CHECK(ahpd.wait() == 0);
    CHECK(ahpd.output().find("state      running\n") != std::string::npos);
    CHECK(ahpd.output().find("cpus       1.5\n") != std::string::npos);
    CHECK(ahpd.output().find("memory     512.0 MiB\n") != std::string::npos);
  }
  SUBCASE("stats") {
    auto ahpd = start({"computer", "stats", "box"});
    hub.greet();
    hub.answer(hub.expect("resourceRead"),
               {{"data", R"({"running":true,"cpu":{"percent":34.2,"cores":2},
                 "memory":{"used":421888,"limit":536870912,"percent":0.08},"pids":7,
                 "network":{"rx":266,"tx":84},"block":{"read":4100,"write":0}})"},
                {"encoding", "utf-8"}});
    CHECK(ahpd.wait() == 0);
    CHECK(ahpd.output() == "running    yes\n"
                           "cpu        34.2 % of one core, at most 2.0 cores\n"
                           "memory     412.0 KiB of 512.0 MiB (0.1 %)\n"
                           "processes  7\n"
                           "network    received 266 B, sent 84 B\n"
                           "disk       read 4.0 KiB, written 0 B\n");
  }
}

TEST_CASE_FIXTURE(verbs_fixture, "computer stop, start, restart and rm name the machine") {
  for (const auto& [verb, method] : std::map<std::string, std::string>{
         {"stop", "stop"}, {"start", "start"}, {"restart", "restart"}, {"rm", "remove"}}) {
    auto ahpd = start({"computer", verb, "box"});
    hub.greet();
    const auto asked = hub.expect("x-ahpd/computers/" + method);
    CHECK(asked.at("params").at("name") == "box");
    hub.answer(asked, json::object{});
    CHECK(ahpd.wait() == 0);
    CHECK(ahpd.output() == "computer://box\n");
  }
}
