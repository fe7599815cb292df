// Who the real hub lets in, what it answers to plain requests, and that its token is seen nowhere.

#include "tests/programs/hub_support.hpp"

#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace ahpd;

namespace {

const std::string secret = "hush+hush/hush 100%";
const std::string encoded = "hush%2Bhush%2Fhush%20100%25";

struct door_fixture {
  tests::hub_process hub{{{"--connection-token", secret}, {}, {}}};

  std::string url(const std::string& rest) const { return hub.url() + rest; }
  unsigned refusal(const std::string& rest, transport::fields headers = {}) const {
    tests::peer_options how;
    how.headers = std::move(headers);
    const auto answer = tests::ahp_peer::refused(url(rest), how);
    if (answer.status == 401)
      CHECK(answer.body == "A connection token is required");
    CHECK(answer.body.find(secret) == std::string::npos);
    return answer.status;
  }
  bool admitted(const std::string& rest, transport::fields headers = {}) const {
    tests::peer_options how;
    how.headers = std::move(headers);
    tests::ahp_peer peer(url(rest), how);
    return peer.initialize().at("protocolVersion") == "1.0.0";
  }
};

const transport::fields bearer{{"Authorization", "Bearer " + secret}};

transport::fields with(const std::string& name, const std::string& value) {
  auto out = bearer;
  out[name] = value;
  return out;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE_FIXTURE(door_fixture, "the token opens the door in a field or in the query, and nothing "
                                "else does") {
  CHECK(admitted("/", bearer));
  CHECK(admitted("/", {{"Authorization", "bearer " + secret}}));
  CHECK(admitted("/?tkn=" + encoded));
  CHECK(admitted("/any/path?a=b&tkn=" + encoded));
  CHECK(refusal("/") == 401);
  CHECK(refusal("/?tkn=") == 401);
  CHECK(refusal("/?tkn=wrong") == 401);
  CHECK(refusal("/?xtkn=" + encoded) == 401);
  CHECK(refusal("/?tkn=wrong", bearer) == 401); // the query is looked at first
  for (const std::string& value :
       {"Bearer " + secret + "x", "Bearer " + secret.substr(1), std::string("Bearer"),
        std::string("Bearer "), "Basic " + secret, secret, std::string(8000, 'x')})
    CHECK_MESSAGE(refusal("/", {{"Authorization", value}}) == 401, value);
}

TEST_CASE_FIXTURE(door_fixture, "a page of another site and a request for another host stay out") {
  CHECK(refusal("/", with("Host", "example.org")) == 403);
  CHECK(refusal("/", with("Host", "127.0.0.1.example.org:" + std::to_string(hub.port()))) == 403);
  CHECK(refusal("/", with("Origin", "https://example.org")) == 403);
  CHECK(refusal("/", with("Origin", "http://127.0.0.1.example.org")) == 403);
  CHECK(admitted("/", with("Host", "localhost:" + std::to_string(hub.port()))));
  CHECK(admitted("/", with("Origin", "http://localhost:3000")));
  CHECK(admitted("/", with("Origin", "vscode-file://vscode-app")));
}

TEST_CASE_FIXTURE(door_fixture,
                  "plain requests get health, readiness, metrics, or the right word") {
  const auto get = [&](const std::string& target, transport::fields headers = {}) {
    return tests::http_get(hub.port(), target, std::move(headers));
  };
  CHECK(get("/health").status == 200);
  CHECK(get("/health?x=y").status == 200);
  CHECK(get("/ready").status == 200);
  CHECK(get("/metrics").status == 401);
  CHECK(get("/metrics").body == "A connection token is required");
  CHECK(get("/metrics?tkn=" + encoded).status == 200);
  const auto metrics = get("/metrics", bearer);
  CHECK(metrics.status == 200);
  CHECK(holds(metrics.headers.at("Content-Type"), "version=0.0.4"));
  CHECK(holds(metrics.body, "connections"));
  for (const char* path : {"/", "/healthz", "/index.html"}) {
    const auto answer = get(path);
    CHECK_MESSAGE(answer.status == 426, path);
    CHECK(answer.body == "ahpd speaks the Agent Host Protocol over WebSocket");
    CHECK(holds(answer.headers.at("Content-Type"), "text/plain"));
    CHECK(answer.headers.at("Upgrade") == "websocket");
  }
  for (const char* path : {"/api", "/api/", "/api/users?x=y"}) {
    const auto answer = get(path);
    CHECK_MESSAGE(answer.status == 404, path);
    const std::string bare = std::string(path).substr(0, std::string(path).find('?'));
    CHECK(json::parse(answer.body) == json::value(json::object{{"message", "No API at " + bare}}));
  }
}

TEST_CASE_FIXTURE(door_fixture, "the token is not in the command line, the log or the folder") {
  CHECK(admitted("/", bearer));
  CHECK(admitted("/?tkn=" + encoded));
  refusal("/?tkn=wrong-" + encoded);
  refusal("/", {{"Authorization", "Bearer " + secret + "x"}});
  tests::peer_options how;
  how.token = secret;
  tests::ahp_peer peer(hub.url(), how);
  peer.initialize();
  const auto session = tests::open_session(peer, "ahp-session:/one");
  tests::run_turn(peer, session.chat, "t1", "env; cat /proc/$PPID/cmdline");
  const auto seen = tests::text_of(tests::call_result(peer, "t1").at("content"), "stdout");
  CHECK(holds(seen, "PATH="));
  CHECK_FALSE(holds(seen, secret));
  for (const auto& frame : peer.frames())
    CHECK_FALSE(holds(json::serialize(frame), secret));
  const auto pid = std::to_string(hub.pid());
  CHECK_FALSE(holds(tests::read_file("/proc/" + pid + "/cmdline"), secret));
  CHECK_FALSE(holds(tests::read_file("/proc/" + pid + "/environ"), secret));
  CHECK(hub.stop() == 0);
  for (const auto& text : {hub.log(), hub.announcement()})
    for (const auto& spelling : {secret, encoded})
      CHECK_FALSE(holds(text, spelling));
  CHECK(holds(hub.log(), "connection refused"));
  CHECK(holds(hub.announcement(), "token"));
  namespace fs = std::filesystem;
  for (const auto& entry : fs::recursive_directory_iterator(hub.config_home()))
    if (entry.is_regular_file())
      CHECK_MESSAGE(!holds(tests::read_file(entry.path()), secret), entry.path().string());
}

TEST_CASE("a token from a file is told by its file alone") {
  tests::scratch folder;
  const auto file = folder.path() + "/token";
  tests::hub_process hub({{"--connection-token-file", file}, {}, {}});
  auto token = tests::read_file(file);
  CHECK(std::filesystem::status(file).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  while (!token.empty() && token.back() == '\n')
    token.pop_back();
  REQUIRE(token.size() >= 16);
  CHECK(tests::ahp_peer::refused(hub.url()).status == 401);
  tests::peer_options how;
  how.token = token;
  tests::ahp_peer peer(hub.url(), how);
  peer.initialize();
  CHECK_FALSE(holds(hub.announcement(), token));
  CHECK_FALSE(holds(hub.log(), token));
  CHECK(holds(hub.announcement(), file));
}
