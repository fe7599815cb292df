#include "config/agents.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace ahpd;

namespace {

using strings = std::vector<std::string>;

struct fixture {
  tests::scratch files;
  strings skipped;

  fixture() { std::filesystem::create_directory(files.path() + "/agents"); }

  std::string file(const std::string& id) const { return files.path() + "/agents/" + id + ".json"; }
  void write(const std::string& id, const std::string& text) { std::ofstream(file(id)) << text; }
  std::vector<config::acp_agent> read(const std::map<std::string, std::string>& env = {}) {
    skipped.clear();
    return config::read_agents(files.path(), env, skipped);
  }
  /// What a record that is left out is left out for.
  std::string refused(const std::string& text) {
    write("x", text);
    CHECK(read().empty());
    REQUIRE(skipped.size() == 1);
    return skipped[0].substr(file("x").size() + 2);
  }
};

} // namespace

TEST_CASE_FIXTURE(fixture, "a record says how an agent is started") {
  write("mine", R"({"id": "mine", "engine": "acp", "owner": "host", "name": "Mine", "config": {
    "command": "node", "args": ["/srv/a.mjs"], "env": {"A": "1", "B": {"fromEnv": "C"}}, "cwd": "/w",
    "description": "about", "model": "m", "authenticate": {"methodId": "key"}, "hostTools": false,
    "machine": {"env": {"D": "2"}}}})");
  const auto all = read({{"C", "3"}});
  CHECK(skipped.empty());
  REQUIRE(all.size() == 1);
  const auto& a = all[0];
  CHECK(a.id == "mine");
  CHECK(a.name == "Mine");
  CHECK(a.command == "node");
  CHECK(a.args == strings{"/srv/a.mjs"});
  CHECK(a.env == std::map<std::string, std::string>{{"A", "1"}, {"B", "3"}});
  CHECK(a.machine_env == std::map<std::string, std::string>{{"D", "2"}});
  CHECK(a.cwd == "/w");
  CHECK(a.description == "about");
  CHECK(a.model == "m");
  CHECK(a.sign_in == "key");
  CHECK_FALSE(a.host_tools);
  CHECK(a.lacks.empty());
}

TEST_CASE_FIXTURE(fixture, "a record with a template's id is laid over the template") {
  write("codex", R"({"engine": "acp", "config": {"machine": {"env": {"CODEX_API_KEY": "k"}}}})");
  write("gemini", R"({"engine": "acp", "name": "G", "config": {"args": ["--experimental-acp"]}})");
  const auto all = read();
  CHECK(skipped.empty());
  REQUIRE(all.size() == 2);
  CHECK(all[0].command == "codex-acp");
  CHECK(all[0].name == "Codex");
  CHECK(all[0].machine_env ==
        std::map<std::string, std::string>{{"CODEX_HOME", "/ahpd/codex"}, {"CODEX_API_KEY", "k"}});
  CHECK(all[1].command == "gemini");
  CHECK(all[1].args == strings{"--experimental-acp"});
  CHECK(all[1].name == "G");
}

TEST_CASE_FIXTURE(fixture, "a secret loads and is what a session lacks") {
  write("codex", R"({"engine": "acp", "config": {"env": {"A": {"$secret": "s"}},
    "machine": {"env": {"OPENAI_API_KEY": {"$secret": "user:ada/openai"}}}}})");
  const auto all = read();
  CHECK(skipped.empty());
  REQUIRE(all.size() == 1);
  CHECK(all[0].lacks == strings{"codex: config.env.A names the secret s, and this version has no "
                                "vault to read it from"});
  CHECK(all[0].machine_lacks ==
        strings{"codex: config.machine.env.OPENAI_API_KEY names the secret user:ada/openai, and "
                "this version has no vault to read it from"});
}

TEST_CASE_FIXTURE(fixture, "a bad record is left out with a sentence and the others load") {
  write("good", R"({"engine": "acp", "config": {"command": "a"}})");
  write("bad", "{");
  CHECK(read().size() == 1);
  CHECK(skipped.size() == 1);
  std::filesystem::remove(file("good"));
  std::filesystem::remove(file("bad"));

  const std::string out = "; the agent is left out";
  CHECK(refused("[]") == "it must hold a JSON object" + out);
  CHECK(refused("{}") == "engine must be the name of an engine, such as \"acp\"" + out);
  CHECK(refused(R"({"engine": 4})") == "engine must be a string that is not empty" + out);
  CHECK(refused(R"({"engine": "claude"})") ==
        "engine claude is not served by this version; the agent x is left out");
  CHECK(refused(R"({"engine": "acp", "id": "y"})") == "id must be x, as its file is called" + out);
  CHECK(refused(R"({"engine": "acp"})") ==
        "config.command must name the program to run: there is no template called x" + out);
  CHECK(refused(R"({"engine": "acp", "config": []})") == "config must be an object" + out);
  CHECK(refused(R"({"engine": "acp", "config": {"command": ""}})") ==
        "config.command must be a string that is not empty" + out);
  CHECK(refused(R"({"engine": "acp", "config": {"command": "a", "args": "b"}})") ==
        "config.args must be an array of strings" + out);
  CHECK(refused(R"({"engine": "acp", "config": {"command": "a", "env": {"A": 1}}})") ==
        "config.env.A must be a string, {\"$secret\": …} or {\"fromEnv\": …}" + out);
  CHECK(
    refused(R"({"engine": "acp", "config": {"command": "a", "env": {"A": {"fromEnv": "B"}}}})") ==
    "config.env.A reads B, which the daemon's environment does not have" + out);
  CHECK(refused(R"({"engine": "acp", "config": {"command": "a", "cwd": "b"}})") ==
        "config.cwd must be an absolute path" + out);
  CHECK(refused(R"({"engine": "acp", "config": {"command": "a", "authenticate": {}}})") ==
        "config.authenticate.methodId must be a string that is not empty" + out);
}

TEST_CASE_FIXTURE(fixture, "a key that nobody knows is one sentence and no fault") {
  write(
    "x",
    R"({"engine": "acp", "colour": 1, "config": {"command": "a", "comand": "b", "machine": {"part": "p"}}})");
  CHECK(read().size() == 1);
  CHECK(skipped ==
        strings{file("x") + ": config.machine.part is not a key ahpd knows here; ignored",
                file("x") + ": config.comand is not a key ahpd knows here; ignored",
                file("x") + ": colour is not a key ahpd knows here; ignored"});
}

TEST_CASE_FIXTURE(fixture, "without the folder there are no records and nothing to say") {
  std::filesystem::remove(files.path() + "/agents");
  CHECK(read().empty());
  CHECK(skipped.empty());
}

TEST_CASE("every template names a command and one of a kind") {
  std::vector<std::string> ids;
  for (const auto& one : config::agent_templates()) {
    ids.push_back(one.id);
    CHECK_FALSE(one.command.empty());
    CHECK(one.lacks.empty());
  }
  CHECK(ids == strings{"codex", "gemini", "copilot", "opencode", "kilo", "goose", "pi", "dsh",
                       "devin", "cursor", "amp", "qwen"});
}
