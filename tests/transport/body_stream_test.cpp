#include "tests/transport/fixture.hpp"

using namespace ahpd::tests;

namespace {

/// Answers everything with a body that goes on, which the test writes.
struct streaming {
  loop on;
  std::unique_ptr<body_stream> body;
  int lost = 0;
  std::shared_ptr<server> sut;

  explicit streaming(const server_limits& bounds = {}) {
    server_handlers handlers;
    handlers.on_request = [this](http_request, std::function<void(http_response)> reply) {
      http_response out{200, {{"Content-Type", "text/event-stream"}}, "first"};
      out.goes_on = [this](std::unique_ptr<body_stream> rest) {
        body = std::move(rest);
        return [this] { ++lost; };
      };
      reply(std::move(out));
    };
    sut = serve(on, std::move(handlers), bounds);
  }
  ~streaming() { body.reset(); }

  void ask(raw_peer& peer, const std::string& method = "GET") {
    peer.write(method + " / HTTP/1.1\r\nHost: x\r\n\r\n");
    on.until([&] { return body != nullptr; }, "the answer began");
  }
};

} // namespace

TEST_CASE_FIXTURE(streaming, "a body goes on as its owner writes, and ends when it is dropped") {
  raw_peer peer(on, sut->port());
  ask(peer);
  const auto head = peer.read_until("first");
  CHECK(head.find("Connection: close\r\n") != std::string::npos);
  CHECK(head.find("Content-Length") == std::string::npos);
  body->send("second");
  peer.read_until("second");
  peer.write("what comes now is no request");
  body->send("third");
  body.reset();
  CHECK(peer.read_all() == "third");
  CHECK(lost == 0);
}

TEST_CASE_FIXTURE(streaming, "the owner of a body hears once that its peer is gone") {
  {
    raw_peer peer(on, sut->port());
    ask(peer);
    peer.read_until("first");
  }
  on.until([&] { return lost > 0; }, "the peer was missed");
  body->send("to nobody");
  body.reset();
  on.settle();
  CHECK(lost == 1);
}

TEST_CASE_FIXTURE(streaming, "a server that closes ends the bodies that go on") {
  raw_peer peer(on, sut->port());
  ask(peer);
  peer.read_until("first");
  sut->close("over");
  CHECK(peer.read_all().empty());
  on.until([&] { return lost > 0; }, "the owner was told");
}

TEST_CASE("a peer that takes nothing of a body is dropped at the bound") {
  server_limits bounds;
  bounds.stream_bytes = 64u << 10;
  streaming it(bounds);
  raw_peer peer(it.on, it.sut->port());
  it.ask(peer);
  for (int i = 0; i < 400 && it.lost == 0; ++i) { // more than the kernel's buffers take
    it.body->send(std::string(60u << 10, 'x'));
    it.on.settle();
  }
  CHECK(it.lost == 1);
}

TEST_CASE("a place that a body took is free when the body has ended") {
  server_limits bounds;
  bounds.connections = 1;
  streaming it(bounds);
  raw_peer first(it.on, it.sut->port());
  it.ask(first);
  CHECK(raw_peer(it.on, it.sut->port()).read_all().empty());
  it.body.reset();
  first.read_all();
  raw_peer second(it.on, it.sut->port());
  it.ask(second);
  second.read_until("first");
}
