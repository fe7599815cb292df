#include "protocol/transport/server.hpp"
#include "runtimes/docker/address.hpp"
#include "tests/runtimes/docker_support.hpp"

#include <doctest/doctest.h>

#include <fstream>

using namespace ahpd;
using namespace ahpd::runtimes;
using namespace ahpd::tests;

namespace {

std::string no_address(std::map<std::string, std::string> env) {
  const auto found = find_engine(env);
  REQUIRE(std::holds_alternative<std::string>(found));
  return std::get<std::string>(found);
}

engine_address address(std::map<std::string, std::string> env) {
  auto found = find_engine(env);
  if (const auto* why = std::get_if<std::string>(&found))
    FAIL(*why);
  return std::get<engine_address>(found);
}

/// A server that answers as the test says, on a Unix socket, and a runtime that takes it for
/// Docker.
struct fake_engine {
  fake_engine() {
    listen();
    docker_options options;
    options.host_id = "h1";
    options.env = {{"DOCKER_HOST", "unix://" + path()}, {"DOCKER_CONFIG", folder.path()}};
    sut = make_docker_runtime(io, options);
  }

  ~fake_engine() {
    sut.reset();
    server.reset();
    io.restart();
    io.poll();
  }

  std::string path() const { return folder.path() + "/engine.sock"; }

  void listen() {
    std::string error;
    transport::server_handlers handlers;
    handlers.on_request = [this](transport::http_request what,
                                 std::function<void(transport::http_response)> reply) {
      asked.push_back(what.method + " " + what.target);
      reply(answer(what));
    };
    transport::endpoint where;
    where.unix_path = path();
    server = transport::listen(io, where, handlers, {}, error);
    REQUIRE_MESSAGE(server, error);
  }

  transport::http_response answer(const transport::http_request& what) {
    transport::http_response out;
    if (what.target == "/_ping") {
      if (!version.empty())
        out.headers["Api-Version"] = version;
      out.headers["Date"] = "Mon, 30 Nov 2026 17:26:40 GMT";
      return out;
    }
    sign_in = what.headers.count("X-Registry-Auth") ? what.headers.at("X-Registry-Auth") : sign_in;
    for (const auto& [start, response] : answers)
      if ((what.method + " " + what.target).rfind(start, 0) == 0)
        return response;
    out.status = 404;
    out.body = R"({"message":"no such thing"})";
    return out;
  }

  bool was_asked(const std::string& start) const {
    for (const auto& one : asked)
      if (one.rfind(start, 0) == 0)
        return true;
    return false;
  }

  void until(const char* what, const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done()) {
      if (std::chrono::steady_clock::now() > end)
        FAIL("no " << std::string(what) << " came");
      io.restart();
      io.run_one_for(std::chrono::milliseconds(200));
    }
  }

  template <class T> outcome<T> ask(const std::function<void(done<T>)>& verb) {
    std::optional<outcome<T>> got;
    verb([&](outcome<T> result) { got = std::move(result); });
    until("an answer", [&] { return got.has_value(); });
    return std::move(*got);
  }

  refusal refused_list() {
    const auto got = ask<std::vector<machine_record>>([&](auto d) { sut->list(std::move(d)); });
    REQUIRE(std::holds_alternative<refusal>(got));
    return std::get<refusal>(got);
  }

  outcome<machine_record> create(std::function<void(progress)> on_progress = {}) {
    machine_spec spec;
    spec.name = "box";
    spec.image = "ghcr.io/acme/x:1";
    return ask<machine_record>([&](auto d) { sut->create(spec, on_progress, std::move(d)); });
  }

  static transport::http_response says(unsigned status, std::string body) {
    return {status, {}, std::move(body)};
  }

  boost::asio::io_context io;
  scratch folder;
  std::string version = "1.43";
  std::vector<std::pair<std::string, transport::http_response>>
    answers; ///< by start of the request
  std::vector<std::string> asked;
  std::string sign_in;
  std::shared_ptr<transport::server> server;
  std::shared_ptr<runtime> sut;
};

} // namespace

TEST_CASE("an engine is found as the docker program finds it") {
  CHECK(address({}).where.unix_path == "/var/run/docker.sock");
  CHECK(address({{"DOCKER_HOST", ""}}).words == "unix:///var/run/docker.sock");
  CHECK(address({{"DOCKER_HOST", "unix:///tmp/d.sock"}}).where.unix_path == "/tmp/d.sock");
  const auto plain = address({{"DOCKER_HOST", "tcp://10.0.0.1:2375"}}).where;
  CHECK(plain.host == "10.0.0.1");
  CHECK(plain.port == 2375);
  CHECK_FALSE(plain.tls);
  CHECK(address({{"DOCKER_HOST", "tcp://[::1]:2375"}}).where.host == "::1");
  const auto secure =
    address({{"DOCKER_HOST", "tcp://dev:2376"}, {"DOCKER_TLS_VERIFY", "1"}, {"HOME", "/h"}}).where;
  CHECK(secure.tls);
  CHECK(secure.tls_roots == "/h/.docker/ca.pem");
  CHECK(address({{"DOCKER_HOST", "tcp://dev:2376"}, {"DOCKER_CERT_PATH", "/c"}}).where.tls_key ==
        "/c/key.pem");
}

TEST_CASE("an engine that cannot be spoken to is said with its name") {
  CHECK(
    no_address({{"DOCKER_HOST", "ssh://dev"}}) ==
    "DOCKER_HOST names ssh://dev, and this host reaches no Docker over ssh yet; forward its socket "
    "and name that as unix://");
  CHECK(no_address({{"DOCKER_HOST", "npipe:////./x"}}) ==
        "DOCKER_HOST names npipe:////./x, which is neither unix:// nor tcp://");
  for (const auto* bad :
       {"tcp://dev", "tcp://dev:x", "tcp://:2375", "tcp://dev:0", "tcp://dev:99999"})
    CHECK(no_address({{"DOCKER_HOST", bad}}).find("tcp:// takes a host and a port") !=
          std::string::npos);
  CHECK(no_address({{"DOCKER_HOST", "unix://x"}}).find("absolute path") != std::string::npos);
}

TEST_CASE("every verb is refused with a sentence where there is no engine") {
  boost::asio::io_context io;
  scratch folder;
  docker_options options;
  options.host_id = "h";
  options.env = {{"DOCKER_HOST", "unix://" + folder.path() + "/none.sock"}};
  const auto sut = make_docker_runtime(io, options);
  std::vector<refusal> got;
  const auto keep = [&](const auto& result) { got.push_back(std::get<refusal>(result)); };
  sut->list([&](auto r) { keep(r); });
  sut->inspect("box", [&](auto r) { keep(r); });
  machine_spec spec;
  spec.name = "box";
  spec.image = "debian";
  sut->create(spec, {}, [&](auto r) { keep(r); });
  sut->start("box", [&](auto r) { keep(r); });
  sut->stop("box", [&](auto r) { keep(r); });
  sut->restart("box", [&](auto r) { keep(r); });
  sut->remove("box", [&](auto r) { keep(r); });
  sut->stats("box", [&](auto r) { keep(r); });
  std::string exec;
  std::string sweep;
  std::string lost;
  sut->inside("box")->exec(program({"true"}), {}, [&](exec_result r) { exec = r.refused; });
  sut->inside("box")->sweep({"m"}, [&](std::size_t, std::string r) { sweep = r; });
  sut->watch([](machine_event) {}, [] {}, [&](std::string r) { lost = r; });
  CHECK(got.empty()); // never inside the call
  while (got.size() < 8 || exec.empty() || sweep.empty() || lost.empty())
    REQUIRE(io.run_one_for(std::chrono::seconds(30)) == 1);
  const auto begin = "Docker at unix://" + folder.path() + "/none.sock did not answer: ";
  for (const auto& no : got) {
    CHECK(no.what == fault::unreachable);
    CHECK(no.sentence.rfind(begin, 0) == 0);
    CHECK(no.sentence.size() > begin.size());
  }
  CHECK(exec.rfind(begin, 0) == 0);
  CHECK(sweep.rfind(begin, 0) == 0);
  CHECK(lost.rfind(begin, 0) == 0);
}

TEST_CASE("an engine without a usable address refuses with that") {
  boost::asio::io_context io;
  docker_options options;
  options.env = {{"DOCKER_HOST", "ssh://dev"}};
  const auto sut = make_docker_runtime(io, options);
  std::string said;
  sut->list([&](auto result) { said = std::get<refusal>(result).sentence; });
  while (said.empty())
    REQUIRE(io.run_one_for(std::chrono::seconds(30)) == 1);
  CHECK(said.rfind("DOCKER_HOST names ssh://dev", 0) == 0);
}

TEST_CASE("the version is the engine's up to ours, and an older engine is refused with both") {
  fake_engine on;
  on.answers = {{"GET /v1.43/containers/json", fake_engine::says(200, "[]")}};
  CHECK(std::holds_alternative<std::vector<machine_record>>(
    on.ask<std::vector<machine_record>>([&](auto d) { on.sut->list(std::move(d)); })));

  fake_engine newer;
  newer.version = "1.99";
  newer.answers = {{"GET /v1.47/containers/json", fake_engine::says(200, "[]")}};
  CHECK(std::holds_alternative<std::vector<machine_record>>(
    newer.ask<std::vector<machine_record>>([&](auto d) { newer.sut->list(std::move(d)); })));

  fake_engine old;
  old.version = "1.40";
  auto no = old.refused_list();
  CHECK(no.what == fault::unsupported);
  CHECK(no.sentence ==
        "Docker at unix://" + old.path() +
          " speaks API 1.40, and this host needs 1.41 (Docker Engine 20.10) or newer");
  old.version = "1.41"; // updated meanwhile
  old.answers = {
    {"GET /v1.41/containers/json", fake_engine::says(500, R"({"message":"on fire"})")}};
  no = old.refused_list();
  CHECK(no.what == fault::failed);
  CHECK(no.sentence == "on fire");

  fake_engine none;
  none.version = "";
  CHECK(none.refused_list().sentence.find("it names no API version") != std::string::npos);
}

TEST_CASE("answers that are no records are refused and nothing is made of them") {
  fake_engine on;
  on.answers = {{"GET /v1.43/containers/json", fake_engine::says(200, "{]")},
                {"GET /v1.43/containers/box/json", fake_engine::says(200, "[]")}};
  CHECK(on.refused_list().sentence == "Docker's list of containers cannot be read");
  const auto got = on.ask<machine_record>([&](auto d) { on.sut->inspect("box", std::move(d)); });
  CHECK(std::get<refusal>(got).sentence == "Docker's record of box cannot be read");
}

TEST_CASE("an absent image is pulled with its sign-in and its progress is told") {
  fake_engine on;
  std::ofstream(on.folder.path() + "/config.json")
    << R"({"auths":{"ghcr.io":{"auth":"YWRhOnB3"}}})";
  const auto record =
    R"({"Id":"abc","Name":"/box","State":{"Running":true},"Config":{"Labels":{}}})";
  on.answers = {
    {"POST /v1.43/images/create?fromImage=ghcr.io%2Facme%2Fx&tag=1",
     fake_engine::says(200,
                       "{\"status\":\"Pulling from acme/x\",\"id\":\"1\"}\r\n"
                       "{\"status\":\"Downloading\",\"progressDetail\":{\"current\":5,\"total\":9},"
                       "\"id\":\"a\"}\r\n")},
    {"POST /v1.43/containers/create?name=box", fake_engine::says(201, R"({"Id":"abc"})")},
    {"POST /v1.43/containers/abc/start", fake_engine::says(204, "")},
    {"GET /v1.43/containers/abc/json", fake_engine::says(200, record)}};
  std::vector<progress> told;
  const auto made = on.create([&](progress p) { told.push_back(p); });
  if (const auto* no = std::get_if<refusal>(&made))
    FAIL(no->sentence);
  CHECK(std::get<machine_record>(made).handle == "abc");
  REQUIRE_FALSE(told.empty());
  CHECK(told.back().current == 5);
  CHECK(told.back().total == 9);
  CHECK(on.sign_in ==
        "eyJ1c2VybmFtZSI6ImFkYSIsInBhc3N3b3JkIjoicHciLCJzZXJ2ZXJhZGRyZXNzIjoiZ2hjci5pbyJ9");
}

TEST_CASE("a pull that fails in its stream, or cannot sign in, makes nothing") {
  fake_engine on;
  on.answers = {{"POST /v1.43/images/create",
                 fake_engine::says(200, "{\"errorDetail\":{\"message\":\"manifest unknown\"}}\n")}};
  CHECK(std::get<refusal>(on.create()).sentence ==
        "The image ghcr.io/acme/x:1 could not be pulled: manifest unknown");
  on.answers = {{"POST /v1.43/images/create", fake_engine::says(500, R"({"message":"denied"})")}};
  CHECK(std::get<refusal>(on.create()).sentence ==
        "The image ghcr.io/acme/x:1 could not be pulled: denied");
  on.asked.clear();
  std::ofstream(on.folder.path() + "/config.json") << R"({"credHelpers":{"ghcr.io":"pass"}})";
  CHECK(std::get<refusal>(on.create()).sentence.find("docker-credential-pass") !=
        std::string::npos);
  CHECK_FALSE(on.was_asked("POST"));
}

TEST_CASE("a failed start removes what was made and keeps the engine's words") {
  fake_engine on;
  on.answers = {
    {"GET /v1.43/images/", fake_engine::says(200, "{}")},
    {"POST /v1.43/containers/create?name=box", fake_engine::says(201, R"({"Id":"abc"})")},
    {"POST /v1.43/containers/abc/start", fake_engine::says(500, R"({"message":"no cgroup"})")},
    {"DELETE /v1.43/containers/abc?force=1&v=1", fake_engine::says(204, "")}};
  auto got = on.create();
  CHECK(std::get<refusal>(got).what == fault::failed);
  CHECK(std::get<refusal>(got).sentence == "no cgroup");
  CHECK(on.was_asked("DELETE /v1.43/containers/abc?force=1&v=1"));

  on.answers.back().second = fake_engine::says(500, R"({"message":"busy"})");
  got = on.create();
  CHECK(std::get<refusal>(got).sentence ==
        "no cgroup; and what was made of it could not be removed: busy");
}

TEST_CASE("a name taken between the question and the making is taken") {
  fake_engine on;
  on.answers = {
    {"GET /v1.43/images/", fake_engine::says(200, "{}")},
    {"POST /v1.43/containers/create", fake_engine::says(409, R"({"message":"in use"})")}};
  const auto got = on.create();
  CHECK(std::get<refusal>(got).what == fault::taken);
  CHECK(std::get<refusal>(got).sentence == "in use");
}

TEST_CASE("an event stream that ends is followed again, and the gap is told once each time") {
  fake_engine on;
  const auto event = [](const char* name, const char* host, const char* what) {
    return std::string(R"({"Type":"container","Action":")") + what +
           R"(","Actor":{"ID":"1","Attributes":{"name":")" + name + R"(","ahpd.host":")" + host +
           "\"}}}\n";
  };
  on.answers = {
    {"GET /v1.43/events?since=1796059599&",
     fake_engine::says(200, event("box", "h1", "die") + "{broken\n" + event("far", "h2", "die") +
                              event("box", "h1", "exec_die"))}};
  std::vector<std::string> seen;
  on.sut->watch([&](machine_event e) { seen.push_back(e.what + " " + e.id); },
                [&] { seen.push_back("gap"); }, [&](std::string) { seen.push_back("lost"); });
  on.until("gaps", [&] { return std::count(seen.begin(), seen.end(), "gap") == 2; });
  seen.resize(6);
  CHECK(seen == std::vector<std::string>{"die box", "lost", "gap", "die box", "lost", "gap"});

  // The engine goes and comes back.
  on.server.reset();
  std::size_t before = 0;
  on.until("loss", [&] { return seen.back() == "lost"; });
  before = seen.size();
  on.listen();
  on.until("gap", [&] { return seen.size() > before; });
  CHECK(seen[before] == "gap");
}

TEST_CASE("a watcher of an engine that is not there yet hears a loss, then a gap") {
  fake_engine on;
  on.server.reset();
  on.answers = {{"GET /v1.43/events", fake_engine::says(200, "")}};
  std::vector<std::string> seen;
  on.sut->watch([](machine_event) {}, [&] { seen.push_back("gap"); },
                [&](std::string why) { seen.push_back(why.substr(0, 9)); });
  on.until("loss", [&] { return !seen.empty(); });
  on.listen();
  on.until("gap", [&] { return seen.size() > 1; });
  CHECK(seen[0] == "Docker at");
  CHECK(seen[1] == "gap");
}
