#include "tests/programs/aiod_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

using namespace ahpd;
using tests::aiod_process;

namespace {

tests::program_result aiod(std::vector<std::string> words,
                           std::map<std::string, std::string> env = {}) {
  words.insert(words.begin(), AIOD_BINARY);
  return tests::run_program({words, std::move(env), {}});
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

} // namespace

TEST_CASE("aiod tells what it is, and what it does not know") {
  CHECK(aiod({"version"}).output.starts_with("aio-daemon " AHPD_VERSION "+"));
  CHECK(aiod({"-h"}).output.find("print-openapi") != std::string::npos);
  const auto help = aiod({"start", "--help"}).output;
  for (const char* word : {"--api-key", "AIO_API_KEY", "AIO_SHELL_MAX_SESSIONS", "[18091]"})
    CHECK(help.find(word) != std::string::npos);
  const auto unknown = aiod({"start", "--prot", "1"});
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.errors == "aiod: aiod start does not know --prot; did you mean --port?\n");
  CHECK(aiod({"start", "--port", "many"}).errors ==
        "aiod: --port is 'many'; expected a port from 0 to 65535.\n");
  CHECK(aiod({"start"}, {{"AIO_API_SURFACE", "v3"}}).errors ==
        "aiod: AIO_API_SURFACE is 'v3'; expected full or v2.\n");
  CHECK(aiod({"strat"}).errors == "aiod: aiod has no verb strat; did you mean start?\n");
}

TEST_CASE("aiod doctor has a line for every probe, and the same as JSON") {
  const auto lines = aiod({"doctor"});
  CHECK(lines.exit_code == 0);
  for (const char* probe : {"bash", "rg", "tmux", "browser", "cdp"})
    CHECK(("\n" + lines.output).find("\n" + std::string(probe) + " ") != std::string::npos);
  const auto all = json::parse(aiod({"doctor", "--json"}).output);
  for (const char* section : {"files", "exec", "code_interpreter", "browser", "computer"})
    CHECK(all.as_object().contains(section));
}

TEST_CASE("a port that is taken is told, and the daemon does not stay") {
  aiod_process first;
  const auto second = aiod({"start", "--host", "127.0.0.1", "--port", std::to_string(first.port())},
                           {{"AIO_RUNTIME_DIR", first.folder() + "/other"}});
  CHECK(second.exit_code == 1);
  CHECK(second.errors.find("address already in use") != std::string::npos);
}

TEST_CASE("a flag wins over its variable, and the runtime directory is for its owner alone") {
  tests::scratch files;
  aiod_process sut({"--runtime-dir", files.path() + "/flag"},
                   {{"AIO_RUNTIME_DIR", files.path() + "/variable"}});
  struct stat s {};
  REQUIRE(::stat((files.path() + "/flag").c_str(), &s) == 0);
  CHECK((s.st_mode & 07777) == 0700);
  CHECK(::stat((files.path() + "/variable").c_str(), &s) != 0);
  CHECK(sut.ask("GET", "/v2/sandbox").text("runtime_dir") == files.path() + "/flag");
}

TEST_CASE("a daemon with a key answers to it in every form, and to nothing else") {
  aiod_process sut({"--api-key", "a key/with+all"});
  const auto status = [&](transport::fields headers, const std::string& query = "") {
    return sut.ask("GET", "/v1/capabilities" + query, std::nullopt, std::move(headers)).status;
  };
  const auto refused = sut.ask("GET", "/v1/capabilities");
  CHECK(refused.status == 401);
  CHECK(refused.body == R"({"success":false,"message":"Unauthorized","data":null,"hint":null})");
  CHECK(status({{"Authorization", "Bearer a key/with+all"}}) == 200);
  CHECK(status({{"x-api-key", "a key/with+all"}}) == 200);
  CHECK(status({{"X-AIO-API-Key", "a key/with+all"}}) == 200);
  CHECK(status({}, "?api_key=a%20key%2Fwith%2Ball") == 200);
  CHECK(status({{"Authorization", "Bearer wrong"}, {"x-api-key", "a key/with+all"}}) == 200);
  for (const char* wrong : {"", "a", "a key/with+al", "a key/with+all!", "A key/with+all"})
    CHECK(status({{"x-api-key", wrong}}) == 401);
  CHECK(status({{"Authorization", "Basic a key/with+all"}}) == 401);
  for (const char* open : {"/health", "/v1/ping", "/v1/openapi.json", "/v2/openapi.json"})
    CHECK(sut.ask("GET", open).status == 200);
  for (const char* shut : {"/metrics", "/openapi.json", "/healthz", "/v1/sandbox", "/nothing"})
    CHECK(sut.ask("GET", shut).status == 401);
  CHECK(sut.ask("GET", "/").status == 404);
  CHECK(sut.ask("GET", "/health/details").status == 404);
}

TEST_CASE("a proxy may ask whether a request may pass") {
  aiod_process sut({"--api-key", "secret"});
  const auto ask = [&](transport::fields headers) {
    const auto got = sut.ask("GET", "/internal/auth", std::nullopt, std::move(headers));
    CHECK(got.body.empty());
    return got.status;
  };
  CHECK(ask({}) == 401);
  CHECK(ask({{"x-api-key", "secret"}}) == 204);
  CHECK(ask({{"X-Original-URI", "/v2/sandbox"}}) == 401);
  CHECK(ask({{"X-Original-URI", "/v2/sandbox?api_key=secret"}}) == 204);
  CHECK(ask({{"X-Original-URI", "/v2/sandbox"}, {"Authorization", "Bearer secret"}}) == 204);
  CHECK(ask({{"X-Original-URI", "/health"}}) == 204);
}

TEST_CASE("the key is in no child's environment, in no log and no longer the daemon's own") {
  const std::string key = "kA9-unmistakable";
  for (const bool by_flag : {true, false}) {
    aiod_process sut(by_flag ? std::vector<std::string>{"--api-key", key}
                             : std::vector<std::string>{},
                     by_flag ? std::map<std::string, std::string>{}
                             : std::map<std::string, std::string>{{"AIO_API_KEY", key}});
    const auto ran = sut.ask("POST", "/v2/commands?api_key=" + key,
                             json::value{{"command", "env; echo " + key}}, {{"x-api-key", key}});
    CHECK(ran.text("stdout").find("API_KEY") == std::string::npos);
    CHECK(ran.text("stdout").find(key) == ran.text("stdout").rfind(key));
    const auto proc = "/proc/" + std::to_string(sut.pid());
    CHECK(bytes_of(proc + "/environ").find(key) == std::string::npos);
    CHECK(bytes_of(proc + "/cmdline").find(key) == std::string::npos);
    CHECK(sut.log().find(key) == std::string::npos);
  }
}

TEST_CASE("what is wrong with a request is told by its place in it") {
  aiod_process sut;
  const auto errors = [&](const std::string& body) {
    const auto got =
      sut.send({"POST", "/v2/commands", {{"Content-Type", "application/json"}}, body, {}});
    CHECK(got.status == 422);
    return json::serialize(got.json().at("errors"));
  };
  CHECK(
    errors("") ==
    R"([{"location":["body","command"],"message":"missing field `command` at line 1 column 2","type":"value_error.missing"}])");
  CHECK(
    errors(R"({"command":5})") ==
    R"([{"location":["body","command"],"message":"invalid type: integer `5`, expected a string","type":"type_error"}])");
  CHECK(errors(R"({"command":"x","timeout":-1})").find("must be between 0 and") !=
        std::string::npos);
  CHECK(errors(R"({"command":"x","shell":"fish"})").find("unknown variant `fish`") !=
        std::string::npos);
  CHECK(errors("{\"command\":").find("json_invalid") != std::string::npos);
  CHECK(errors("[]").find("expected an object") != std::string::npos);
  CHECK(sut.ask("GET", "/v2/sandbox/packages").json().at("errors").at(0).at("location") ==
        json::value{"query", "lang"});
  CHECK(sut.ask("GET", "/v1/capabilities?refresh=perhaps").status == 422);
  CHECK(sut.ask("GET", "/v2/sandbox/packages?lang=py").status == 400);
  CHECK(sut.send({"POST", "/v2/commands", {{"Content-Type", "text/plain"}}, "{}", {}}).status ==
        415);
  CHECK(sut.send({"POST", "/v2/commands", {}, R"({"command":"true","none":1})", {}}).status == 200);
  CHECK(sut.ask("GET", "/v2/commands/sessions").data().as_array().size() == 1);
}

TEST_CASE("what is not served is told apart from what is asked for in the wrong way") {
  aiod_process sut;
  for (const char* gone : {"/v1/skills/list", "/v1/proxy/x", "/tickets", "/auth", "/v3", "/"})
    CHECK(sut.ask("GET", gone).status == 404);
  const auto wrong = sut.ask("PUT", "/v2/commands");
  CHECK(wrong.status == 405);
  CHECK(wrong.headers.at("Allow") == "POST");
  aiod_process only({"--api-surface", "v2"});
  CHECK(only.ask("POST", "/v1/bash/exec", json::value{{"command", "true"}}).status == 404);
  CHECK(only.ask("POST", "/v2/commands", json::value{{"command", "true"}}).status == 200);
}

TEST_CASE("pages of other sites may ask, and learn so before they send a key") {
  aiod_process sut({"--api-key", "secret"});
  const auto asked = sut.ask("OPTIONS", "/v2/commands", std::nullopt,
                             {{"Origin", "https://editor.example"},
                              {"Access-Control-Request-Method", "POST"},
                              {"Access-Control-Request-Headers", "authorization, content-type"}});
  CHECK(asked.status == 204);
  CHECK(asked.headers.at("Access-Control-Allow-Origin") == "*");
  CHECK(asked.headers.at("Access-Control-Allow-Headers") == "authorization, content-type");
  CHECK(sut.ask("GET", "/metrics").headers.at("Access-Control-Allow-Origin") == "*");
}

TEST_CASE("every request has an id and one line in the log, without its secrets") {
  aiod_process sut;
  CHECK(
    sut.ask("GET", "/health", std::nullopt, {{"x-request-id", "r1"}}).headers.at("x-tt-logid") ==
    "r1");
  CHECK(sut.ask("GET", "/health", std::nullopt, {{"x-request-id", "r1"}, {"x-logid", "l1"}})
          .headers.at("x-tt-logid") == "l1");
  const auto made = sut.ask("GET", "/health").headers.at("x-tt-logid");
  CHECK(made.size() == 32);
  sut.ask("POST", "/v2/commands?token=hidden1&plain=shown1",
          json::value{{"command", "true"}, {"env", {{"MY_PASSWORD", "hidden2"}}}},
          {{"x-tt-logid", "the-one"}});
  std::istringstream lines(sut.log());
  std::size_t found = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("the-one") == std::string::npos)
      continue;
    ++found;
    const auto said = json::parse(line);
    CHECK(said.at("tag") == json::value("HTTP_REQUEST"));
    CHECK(said.at("route") == json::value("/v2/commands"));
    CHECK(said.at("status").to_number<int>() == 200);
    CHECK(said.at("query").at("plain") == json::value("shown1"));
    CHECK(said.at("query").at("token").at("len").to_number<int>() == 7);
    CHECK(said.at("request").at("captured") == json::value(true));
    CHECK(line.find("hidden") == std::string::npos);
  }
  CHECK(found == 1);
}

TEST_CASE("requests and commands are counted for Prometheus") {
  aiod_process sut;
  sut.sh("true");
  sut.ask("GET", "/nowhere/1");
  sut.ask("GET", "/nowhere/2");
  const auto text = sut.ask("GET", "/metrics").body;
  for (const char* line :
       {"http_requests_total{method=\"POST\",route=\"/v2/commands\",status=\"200\"} 1\n",
        "http_requests_total{method=\"GET\",route=\"<unmatched>\",status=\"404\"} 2\n",
        "command_exec_total 1\n", "command_exec_duration_seconds_count 1\n",
        "http_request_duration_seconds_count 3\n"})
    CHECK_MESSAGE(text.find(line) != std::string::npos, line << " is not in " << text);
}

TEST_CASE("the documents tell of every route, each of its own version") {
  aiod_process sut;
  const auto paths = [&](const std::string& target) {
    std::set<std::string> out;
    const auto document = sut.ask("GET", target).json();
    for (const auto& [path, item] : document.at("paths").as_object())
      out.emplace(path);
    return out;
  };
  const auto all = paths("/openapi.json"), v1 = paths("/v1/openapi.json"),
             v2 = paths("/v2/openapi.json");
  CHECK(all.count("/v1/bash/exec") + all.count("/v2/commands") + all.count("/health") == 3);
  CHECK(v1.count("/v1/bash/exec") == 1);
  CHECK(v1.count("/v2/commands") == 0);
  CHECK(v2.count("/v2/commands") == 1);
  CHECK(v2.count("/v1/bash/exec") == 0);
}

TEST_CASE("the daemon tells what it runs on") {
  aiod_process sut;
  const auto here = sut.ask("GET", "/v2/sandbox").data();
  CHECK(here.at("ports").at("aiod").to_number<int>() == sut.port());
  CHECK(here.at("uid").to_number<uid_t>() == ::geteuid());
  const auto v1 = sut.ask("GET", "/v1/sandbox").json();
  CHECK(v1.at("home_dir") == here.at("home_dir"));
  CHECK(v1.at("detail").at("system").at("occupied_ports").is_array());
  CHECK(sut.ask("GET", "/v1/ping").data() == json::value("pong"));
  const auto all = sut.ask("GET", "/v1/capabilities?refresh=true").data();
  CHECK(all.at("exec").at("status") == json::value("ready"));
  CHECK(all.at("computer").at("missing") == json::value(json::array{"computer-use"}));
}
