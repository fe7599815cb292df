#include "tests/transport/fixture.hpp"

#include <sys/socket.h>

using namespace ahpd::tests;

namespace {

const std::string request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/// Answers everything with a body that goes on, which the test writes, but for the path /plain.
struct streaming {
  loop on;
  std::unique_ptr<body_stream> body;
  int lost = 0, asked = 0;
  std::shared_ptr<server> sut;

  explicit streaming(const server_limits& bounds = {}) {
    server_handlers handlers;
    handlers.on_request = [this](http_request what, reply_function reply) {
      ++asked;
      http_response out{200, {{"Content-Type", "text/event-stream"}}, "first"};
      if (what.target != "/plain")
        out.goes_on = [this](std::unique_ptr<body_stream> rest) {
          body = std::move(rest);
          return [this] { ++lost; };
        };
      reply(std::move(out));
    };
    sut = serve(on, std::move(handlers), bounds);
  }
  ~streaming() { body.reset(); }

  void ask(raw_peer& peer, const std::string& what = request) {
    peer.write(what);
    on.until([&] { return body != nullptr; }, "the answer began");
  }
};

/// The bytes of a chunked body, which the peer has not read yet.
std::string read_chunked(raw_peer& peer) {
  std::string out;
  while (true) {
    const auto n = std::stoul(peer.read_until("\r\n"), nullptr, 16);
    out += peer.read_exactly(n);
    CHECK(peer.read_exactly(2) == "\r\n");
    if (n == 0)
      return out;
  }
}

/// Sends 64 KiB whenever the kernel took what was sent before.
struct feeder {
  body_stream* to = nullptr;
  std::size_t left = 0, sent = 0;

  void feed() {
    if (left == 0)
      return;
    --left;
    to->send(piece(sent++));
    to->when_taken([this] { feed(); });
  }
  static std::string piece(std::size_t which) {
    return std::string(64u << 10, static_cast<char>('a' + which % 26));
  }
};

} // namespace

TEST_CASE_FIXTURE(streaming, "a body goes on in chunks, and the connection goes on behind it") {
  raw_peer peer(on, sut->port());
  ask(peer);
  const auto head = peer.read_until("\r\n\r\n");
  CHECK(head.find("Transfer-Encoding: chunked\r\n") != std::string::npos);
  CHECK(head.find("Connection: close") == std::string::npos);
  CHECK(head.find("Content-Length") == std::string::npos);
  CHECK(peer.read_until("first\r\n") == "5\r\nfirst\r\n");
  body->send("second, longer");
  CHECK(peer.read_until("longer\r\n") == "e\r\nsecond, longer\r\n");
  body->send(""); // is not the end
  body->send("third");
  body.reset();
  CHECK(peer.read_until("0\r\n\r\n") == "5\r\nthird\r\n0\r\n\r\n");
  ask(peer);
  peer.read_until("first\r\n");
  body->send("again");
  body.reset();
  CHECK(read_chunked(peer) == "again");
  CHECK(lost == 0);
}

TEST_CASE_FIXTURE(streaming, "what is asked while a body goes on is answered behind it") {
  raw_peer peer(on, sut->port());
  SUBCASE("with the first request") {
    ask(peer, request + "GET /plain HTTP/1.1\r\nHost: x\r\n\r\nGET /pla");
  }
  SUBCASE("later") {
    ask(peer);
    peer.read_until("first\r\n");
    peer.write("GET /plain HTTP/1.1\r\nHost: x\r\n\r\nGET /pla");
  }
  on.settle();
  CHECK(asked == 1);
  body->send("more");
  body.reset();
  peer.read_until("4\r\nmore\r\n0\r\n\r\n");
  CHECK(peer.read_until("first").find("HTTP/1.1 200 OK\r\n") == 0);
  peer.write("in HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(peer.read_all().find("HTTP/1.1 200 OK\r\n") == 0);
  CHECK(asked == 3);
}

TEST_CASE_FIXTURE(streaming,
                  "a WebSocket may be asked for behind a body, with bytes on their way") {
  server_handlers handlers;
  std::shared_ptr<websocket> socket;
  std::string heard;
  handlers.on_request = [&](http_request, reply_function reply) {
    http_response out;
    out.goes_on = [this](std::unique_ptr<body_stream> rest) {
      body = std::move(rest);
      return [] {};
    };
    reply(std::move(out));
  };
  handlers.on_upgrade = [&](const http_request&) -> upgrade_answer {
    return [&](std::shared_ptr<websocket> it) {
      socket = std::move(it);
      return websocket_events{[&](std::string text) { heard += text; }, {}, {}};
    };
  };
  const auto upgrading = serve(on, handlers);
  raw_peer peer(on, upgrading->port());
  ask(peer);
  peer.write("GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
             "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  on.settle();
  body.reset();
  peer.read_until("101 Switching Protocols");
  peer.write(std::string("\x81\x82\0\0\0\0hi", 8));
  on.until([&] { return heard == "hi"; }, "the message");
  socket.reset();
}

TEST_CASE("no more is read ahead than a header may have, and all of it is answered") {
  server_limits bounds;
  bounds.header_bytes = 8u << 10;
  streaming it(bounds);
  raw_peer peer(it.on, it.sut->port());
  it.ask(peer);
  peer.read_until("first\r\n");
  const std::string next = "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n";
  std::string flood;
  while (flood.size() < (40u << 20)) // more than the kernel's buffers take
    flood += next;
  const auto written = peer.write_till_full(flood);
  CHECK(written < flood.size());
  CHECK(it.lost == 0);
  CHECK(it.asked == 1);
  it.body.reset();
  peer.read_until("0\r\n\r\n");
  for (int i = 0; i < 1000; ++i)
    peer.read_until("first");
  CHECK(it.asked >= 1001);
}

TEST_CASE_FIXTURE(streaming, "a body's end is the connection's for a peer of HTTP/1.0") {
  raw_peer peer(on, sut->port());
  ask(peer, "GET / HTTP/1.0\r\n\r\n");
  const auto head = peer.read_until("first");
  CHECK(head.find("Connection: close\r\n") != std::string::npos);
  CHECK(head.find("Transfer-Encoding") == std::string::npos);
  CHECK(head.find("Content-Length") == std::string::npos);
  body->send("second");
  peer.read_until("second");
  peer.write("what comes now is no request");
  body->send("third");
  body.reset();
  CHECK(peer.read_all() == "third");
  CHECK(lost == 0);
}

TEST_CASE_FIXTURE(streaming, "a peer that wants to close gets chunks and an end") {
  raw_peer peer(on, sut->port());
  ask(peer, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(peer.read_until("\r\n\r\n").find("Connection: close\r\n") != std::string::npos);
  body.reset();
  CHECK(peer.read_all() == "5\r\nfirst\r\n0\r\n\r\n");
}

TEST_CASE_FIXTURE(streaming, "HEAD of a body that goes on gives its head alone") {
  raw_peer peer(on, sut->port());
  peer.write("HEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET /plain HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto head = peer.read_until("\r\n\r\n");
  CHECK(head.find("Transfer-Encoding: chunked\r\n") != std::string::npos);
  CHECK(peer.read_until("first").find("HTTP/1.1 200 OK\r\n") == 0);
  CHECK(!body);
}

TEST_CASE("an owner that waits until its bytes are taken outlives a slow peer, in bounded memory") {
  server_limits bounds;
  bounds.stream_bytes = 150'000;
  bounds.request_time = 3600s;
  streaming it(bounds);
  raw_peer peer(it.on, it.sut->port());
  it.ask(peer);
  peer.read_until("5\r\nfirst\r\n");
  constexpr std::size_t pieces = 400; // more than the kernel's buffers take
  feeder by{it.body.get(), pieces};
  by.feed();
  it.on.settle();
  CHECK(by.sent > 1);
  CHECK(by.left > 0);
  const auto stopped = by.sent;
  it.on.settle();
  CHECK(by.sent == stopped);
  std::string expected;
  for (std::size_t i = 0; i < pieces; ++i)
    expected += feeder::piece(i);
  std::string got;
  while (got.size() < expected.size()) {
    const auto n = std::stoul(peer.read_until("\r\n"), nullptr, 16);
    got += peer.read_exactly(n);
    peer.read_exactly(2);
  }
  CHECK((got == expected));
  it.body.reset();
  CHECK(read_chunked(peer).empty());
  CHECK(it.lost == 0);
}

TEST_CASE("a peer that takes a body slowly, but takes it, is not dropped") {
  server_limits bounds;
  bounds.request_time = 1s;
  streaming it(bounds);
  raw_peer peer(it.on, it.sut->port());
  it.ask(peer);
  peer.read_until("5\r\nfirst\r\n");
  feeder by{it.body.get(), 1'000'000};
  by.feed();
  const auto end = std::chrono::steady_clock::now() + 3s; // some times the limit
  while (std::chrono::steady_clock::now() < end)
    peer.read_exactly(100'000);
  CHECK(it.lost == 0);
  it.on.until([&] { return it.lost > 0; }, "the peer that reads no more was dropped");
}

TEST_CASE_FIXTURE(streaming, "what waits to be taken is not told once the body has ended") {
  int told = 0;
  raw_peer peer(on, sut->port());
  ask(peer);
  body->when_taken([&] { ++told; });
  on.until([&] { return told == 1; }, "what was sent was taken");
  SUBCASE("by its owner") {
    body->send(std::string(1'000'000, 'x'));
    body->when_taken([&] { ++told; });
    body.reset();
    peer.read_until("0\r\n\r\n");
    on.settle();
  }
  SUBCASE("by its peer") {
    peer.close();
    on.until([&] { return lost == 1; }, "the peer was missed");
    body->when_taken([&] { ++told; });
    on.settle();
  }
  CHECK(told == 1);
}

TEST_CASE_FIXTURE(streaming, "a body that is cut ends the connection without a last chunk") {
  raw_peer peer(on, sut->port());
  ask(peer);
  peer.read_until("first\r\n");
  body->cut();
  body->send("not any more");
  CHECK(peer.read_all().empty());
  body.reset();
  on.settle();
  CHECK(lost == 0);
}

TEST_CASE_FIXTURE(streaming, "a peer of HTTP/1.0 can tell a body that is cut from a whole one") {
  raw_peer peer(on, sut->port());
  ask(peer, "GET / HTTP/1.0\r\n\r\n");
  peer.read_until("first");
  body->cut();
  on.settle();
  char some;
  CHECK(::recv(peer.descriptor(), &some, 1, 0) < 0);
  CHECK(errno == ECONNRESET);
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
  peer.read_until("first\r\n");
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
  it.ask(first, "GET / HTTP/1.0\r\n\r\n");
  CHECK(raw_peer(it.on, it.sut->port()).read_all().empty());
  it.body.reset();
  first.read_all();
  raw_peer second(it.on, it.sut->port());
  it.ask(second);
  second.read_until("first");
}
