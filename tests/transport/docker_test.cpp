#include "tests/transport/fixture.hpp"

#include <unistd.h>

using namespace ahpd::tests;

namespace {

const std::string engine = "/var/run/docker.sock";

bool no_engine() {
  return ::access(engine.c_str(), R_OK | W_OK) != 0;
}

} // namespace

TEST_CASE("a real engine tells its version over its Unix socket") {
  if (no_engine())
    return skip("a Docker Engine");
  loop on;
  const auto client = make_http_client(on.io, unix_target(engine));
  for (int i = 0; i < 2; ++i) { // the second time on the kept connection
    std::optional<http_result> got;
    const auto running = client->send({"GET", "/version", {}, {}, {}}, {},
                                      [&](http_result result) { got = std::move(result); });
    on.until([&] { return got.has_value(); }, "the version");
    REQUIRE_MESSAGE(got->response, got->failed.text);
    CHECK(got->response->status == 200);
    CHECK(got->response->headers.at("content-type") == "application/json");
    CHECK(got->response->body.find("\"ApiVersion\"") != std::string::npos);
  }
}

TEST_CASE("a real engine's events come as they happen and end with a cancel") {
  if (no_engine())
    return skip("a Docker Engine");
  loop on;
  const auto client = make_http_client(on.io, unix_target(engine));
  std::string events, seen;
  bool ended = false;
  // What happened before now comes at once; a stream without an event sends no header at all.
  request_options forever;
  forever.limit = 0ms;
  auto running = client->stream({"GET", "/events?since=1", {}, {}, {}}, forever,
                                [&](http_response refused) { FAIL(refused.body); },
                                {[&](std::string_view piece) { events += piece; },
                                 [&](std::optional<failure>) { ended = true; }});
  const std::string name = "ahpd-transport-" + std::to_string(::getpid());
  std::optional<http_result> made;
  const auto making = client->send({"POST",
                                    "/volumes/create",
                                    {{"Content-Type", "application/json"}},
                                    "{\"Name\":\"" + name + "\"}",
                                    {}},
                                   {}, [&](http_result result) { made = std::move(result); });
  on.until([&] { return made.has_value(); }, "the volume");
  REQUIRE_MESSAGE(made->response, made->failed.text);
  CHECK(made->response->status == 201);
  on.until([&] { return events.find(name) != std::string::npos; }, "its event");
  running.reset();
  const auto heard = events.size();
  std::optional<http_result> removed;
  const auto removing = client->send({"DELETE", "/volumes/" + name, {}, {}, {}}, {},
                                     [&](http_result result) { removed = std::move(result); });
  on.until([&] { return removed.has_value(); }, "the removal");
  REQUIRE_MESSAGE(removed->response, removed->failed.text);
  CHECK(removed->response->status == 204);
  on.settle();
  CHECK(events.size() == heard);
  CHECK(!ended);
}
