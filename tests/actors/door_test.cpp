#include "actors/hub/door.hpp"

#include <doctest/doctest.h>

using namespace ahpd;

namespace {

transport::http_request asking(transport::fields headers, std::string target = "/") {
  if (!headers.count("Host"))
    headers["Host"] = "127.0.0.1:9187";
  return {"GET", std::move(target), std::move(headers), {}, {}};
}

unsigned status(const hub::door& d, const transport::http_request& r) {
  const auto refused = hub::refuse_upgrade(d, r);
  return refused ? refused->status : 101;
}

const hub::door guarded{"a secret/=", "127.0.0.1"};
const hub::door open{"", "127.0.0.1"};

} // namespace

TEST_CASE("the token is taken from the query, percent-encoded, or from a bearer") {
  CHECK(status(guarded, asking({}, "/?tkn=a%20secret%2F%3D")) == 101);
  CHECK(status(guarded, asking({}, "/x?a=b&tkn=a%20secret/=&c")) == 101);
  CHECK(status(guarded, asking({{"authorization", "bearer a secret/="}})) == 101);
  CHECK(status(guarded, asking({{"Authorization", "Bearer a secret/="}})) == 101);
}

TEST_CASE("anything but the whole token is refused with 401") {
  CHECK(hub::refuse_upgrade(guarded, asking({}))->body == "A connection token is required");
  for (const char* wrong :
       {"/?tkn=", "/?tkn=a", "/?tkn=a%20secret/==", "/?tkn=a%20secret/", "/?tk=a secret/="})
    CHECK(status(guarded, asking({}, wrong)) == 401);
  // The query is looked at first.
  CHECK(status(guarded, asking({{"Authorization", "Bearer a secret/="}}, "/?tkn=x")) == 401);
  CHECK(status(guarded, asking({{"Authorization", "Basic a secret/="}})) == 401);
}

TEST_CASE("a loopback host answers to loopback names only") {
  for (const char* host : {"127.0.0.1:1", "localhost:9187", "LOCALHOST", "[::1]:9187"})
    CHECK(status(open, asking({{"Host", host}})) == 101);
  CHECK(hub::refuse_upgrade(open, asking({{"Host", "evil.example:9187"}}))->body ==
        "This host does not answer to evil.example:9187");
  CHECK(status({"", "0.0.0.0"}, asking({{"Host", "box.example"}})) == 101);
  transport::http_request none{"GET", "/", {}, {}, {}};
  CHECK(status(open, none) == 403);
}

TEST_CASE("a web page of another host is refused, a program's own origin is not") {
  CHECK(status(open, asking({{"Origin", "http://evil.example"}})) == 403);
  CHECK(status(open, asking({{"Origin", "https://127.0.0.1.evil.example:9187"}})) == 403);
  CHECK(status(open, asking({{"Origin", "http://localhost:3000"}})) == 101);
  CHECK(status(open, asking({{"Origin", "vscode-file://vscode-app"}})) == 101);
  CHECK(status({"", "0.0.0.0"},
               asking({{"Host", "box.example"}, {"Origin", "https://box.example"}})) == 101);
  CHECK(status({"", "0.0.0.0"},
               asking({{"Host", "box.example"}, {"Origin", "https://x.example"}})) == 403);
}
