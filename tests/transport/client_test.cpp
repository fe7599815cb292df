#include "tests/transport/fixture.hpp"

#include <sys/socket.h>

#include <vector>

using namespace ahpd::tests;

namespace {

http_request get(const std::string& path) {
  return {"GET", path, {}, {}, {}};
}

/// One answer to come.
struct awaited {
  std::optional<http_result> got;
  std::shared_ptr<exchange> running;

  awaited(http_client& by, http_request what, request_options how = {})
      : running(by.send(std::move(what), how, [this](http_result it) {
          REQUIRE(!got);
          got = std::move(it);
        })) {}

  const http_result& wait(loop& on) {
    on.until([&] { return got.has_value(); }, "an answer");
    return *got;
  }
  std::string body(loop& on) {
    wait(on);
    REQUIRE_MESSAGE(got->response, got->failed.text);
    return got->response->body;
  }
};

const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

} // namespace

TEST_CASE("a connection is kept and used again; a body and the Host field are as they should be") {
  loop on;
  raw_listener listener(on);
  const auto sut = make_http_client(on.io, tcp_target(listener.port()));
  awaited first(*sut, {"POST", "/a?b=c", {{"X-Own", "yes"}}, "hello", {}});
  const auto peer = listener.accept();
  const auto asked = peer->read_until("hello");
  CHECK(asked.find("POST /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(listener.port()) +
                   "\r\n") == 0);
  CHECK(asked.find("Content-Length: 5\r\n") != std::string::npos);
  CHECK(asked.find("X-Own: yes\r\n") != std::string::npos);
  peer->write(ok);
  CHECK(first.body(on) == "ok");
  awaited second(*sut, get("/b"));
  CHECK(peer->read_until("\r\n\r\n").find("Content-Length") == std::string::npos);
  peer->write("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 404 Not Found\r\nTransfer-Encoding: "
              "chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n");
  CHECK(second.body(on) == "abcd");
  CHECK(second.got->response->status == 404);
  awaited third(*sut, {"HEAD", "/c", {}, {}, {}});
  peer->read_until("HEAD /c");
  peer->write("HTTP/1.1 200 OK\r\nContent-Length: 99\r\nConnection: close\r\n\r\n");
  CHECK(third.body(on).empty());
  awaited fourth(*sut, get("/d")); // the third answer asked for a close
  const auto other = listener.accept();
  other->read_until("GET /d");
  other->write("HTTP/1.0 200 OK\r\n\r\nuntil the end");
  other->close();
  CHECK(fourth.body(on) == "until the end");
}

TEST_CASE("requests at the same time get connections of their own, and only some are kept") {
  loop on;
  raw_listener listener(on);
  const auto sut = make_http_client(on.io, tcp_target(listener.port()), 1);
  awaited first(*sut, get("/a")), second(*sut, get("/b"));
  const auto one = listener.accept(), two = listener.accept();
  one->read_until("\r\n\r\n");
  two->read_until("\r\n\r\n");
  one->write(ok);
  two->write(ok);
  first.wait(on);
  second.wait(on);
  int closed = 0;
  on.until(
    [&] {
      char byte;
      closed = (::recv(one->descriptor(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0) +
               (::recv(two->descriptor(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0);
      return closed > 0;
    },
    "the connection that is one too many");
  on.settle();
  CHECK(closed == 1);
}

TEST_CASE("a kept connection that the peer closed meanwhile is replaced") {
  loop on;
  raw_listener listener(on);
  const auto sut = make_http_client(on.io, tcp_target(listener.port()));
  awaited first(*sut, get("/a"));
  auto peer = listener.accept();
  peer->read_until("\r\n\r\n");
  peer->write(ok);
  first.wait(on);

  SUBCASE("before the request, whatever its method") {
    peer->close();
    awaited second(*sut, {"POST", "/b", {}, "x", {}});
    const auto fresh = listener.accept();
    fresh->read_until("POST /b");
    fresh->write(ok);
    CHECK(second.body(on) == "ok");
  }
  SUBCASE("after a GET was sent, which is asked again") {
    awaited second(*sut, get("/b"));
    peer->read_until("GET /b");
    peer->close();
    const auto fresh = listener.accept();
    fresh->read_until("GET /b");
    fresh->write(ok);
    CHECK(second.body(on) == "ok");
  }
  SUBCASE("but a POST that was sent is not sent twice") {
    awaited second(*sut, {"POST", "/b", {}, "x", {}});
    peer->read_until("x");
    peer->close();
    second.wait(on);
    CHECK(!second.got->response);
    CHECK(second.got->failed.connected);
    CHECK(second.got->failed.text.find("POST /b: the connection ") == 0);
    CHECK(listener.quiet());
  }
  SUBCASE("and a fresh connection that breaks is not tried again") {
    peer->close();
    awaited second(*sut, get("/b"));
    const auto fresh = listener.accept();
    fresh->read_until("GET /b");
    fresh->shutdown_write();
    second.wait(on);
    CHECK(second.got->failed.text == "GET /b: the connection was closed before an answer");
    CHECK(listener.quiet());
  }
}

TEST_CASE("what goes wrong is told in a sentence, and whether something was sent") {
  loop on;
  const auto failure_of = [&](const target& to, http_request what, request_options how = {}) {
    const auto sut = make_http_client(on.io, to);
    awaited it(*sut, std::move(what), how);
    it.wait(on);
    REQUIRE(!it.got->response);
    return it.got->failed;
  };
  auto it = failure_of(unix_target("/nowhere/at.all"), get("/"));
  CHECK(it.text == "connect to /nowhere/at.all: no such file or directory");
  CHECK(!it.connected);
  {
    std::uint16_t port = 0;
    { port = raw_listener(on).port(); }
    it = failure_of(tcp_target(port), get("/"));
    CHECK(it.text == "connect to 127.0.0.1:" + std::to_string(port) + ": connection refused");
    CHECK(!it.connected);
  }
  auto nowhere = tcp_target(80);
  nowhere.host = "no.such.host.invalid";
  it = failure_of(nowhere, get("/"));
  CHECK(it.text.find("look up no.such.host.invalid: ") == 0);
  CHECK(!it.connected);

  raw_listener listener(on);
  request_options quick;
  quick.limit = 50ms;
  it = failure_of(tcp_target(listener.port()), get("/slow"), quick);
  CHECK(it.text == "GET /slow: no answer within 50 ms");
  CHECK(it.connected);
  it = failure_of(tcp_target(listener.port()), get("/a b"));
  CHECK(it.text.find("the request's target must be one word") == 0);
  it = failure_of(tcp_target(listener.port()), {"GET", "/", {{"A", "b\r\nEvil: c"}}, {}, {}});
  CHECK(it.text.find("the request's header field A must be one line") == 0);
  CHECK(!it.connected);
}

TEST_CASE("an answer that is too long, cut off or not HTTP is a failure") {
  loop on;
  raw_listener listener(on);
  const auto sut = make_http_client(on.io, tcp_target(listener.port()));
  request_options small;
  small.body_bytes = 4;
  const auto failure_to = [&](const std::string& answer) {
    awaited it(*sut, get("/"), small);
    const auto peer = listener.accept();
    peer->read_until("\r\n\r\n");
    peer->write(answer);
    peer->shutdown_write();
    it.wait(on);
    REQUIRE(!it.got->response);
    return it.got->failed.text;
  };
  CHECK(failure_to("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde") ==
        "GET /: the answer is longer than 4 bytes");
  CHECK(failure_to("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na") ==
        "GET /: the connection was closed in the middle of the answer");
  CHECK(failure_to("220 smtp.example ready\r\n").find("GET /: the answer is not HTTP: ") == 0);
}

TEST_CASE("a cancelled or dropped exchange closes its connection and says nothing") {
  loop on;
  raw_listener listener(on);
  const auto sut = make_http_client(on.io, tcp_target(listener.port()));
  for (const bool drop : {true, false}) {
    auto running = sut->send(get("/"), {}, [](http_result) { FAIL("it was cancelled"); });
    const auto peer = listener.accept();
    peer->read_until("\r\n\r\n");
    drop ? running.reset() : running->cancel();
    CHECK(peer->read_all().empty());
  }
  // Before anything happened at all.
  sut->send(get("/"), {}, [](http_result) { FAIL("it was cancelled"); });
  on.settle();
}

TEST_CASE("a streamed answer is handed on piece by piece, without its chunk framing") {
  loop on;
  raw_listener listener(on);
  const auto sut = make_http_client(on.io, tcp_target(listener.port()));
  std::vector<std::string> pieces;
  std::string refused;
  int ends = 0;
  std::optional<failure> why;
  std::shared_ptr<exchange> running;
  request_options how;
  how.limit = 0ms;
  how.body_bytes = 8;
  const auto start = [&] {
    running = sut->stream(get("/events"), how, [&](http_response it) { refused = it.body; },
                          {[&](std::string_view it) { pieces.emplace_back(it); },
                           [&](std::optional<failure> it) {
                             ++ends;
                             why = std::move(it);
                           }});
    auto peer = listener.accept();
    peer->read_until("\r\n\r\n");
    return peer;
  };
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

  SUBCASE("as it comes, to its end, and the connection is kept") {
    const auto peer = start();
    peer->write(head + "8\r\n{\"a\":1}\n\r\n");
    on.until([&] { return pieces.size() == 1; }, "the first piece");
    CHECK(pieces.back() == "{\"a\":1}\n");
    peer->write("8\r\n{\"b\"");
    on.until([&] { return pieces.size() == 2; }, "half a chunk");
    CHECK(pieces.back() == "{\"b\"");
    peer->write(":2}\n\r\n0\r\n\r\n");
    on.until([&] { return ends == 1; }, "the end");
    CHECK(!why);
    CHECK(pieces.back() == ":2}\n");
    awaited next(*sut, get("/next"));
    peer->read_until("GET /next");
  }
  SUBCASE("a break is told once") {
    const auto peer = start();
    peer->write(head + "8\r\n{\"a\":1}\n\r\n");
    peer->shutdown_write();
    on.until([&] { return ends == 1; }, "the end");
    REQUIRE(why);
    CHECK(why->text == "GET /events: the connection was closed in the middle of the answer");
  }
  SUBCASE("a refusal is read whole") {
    const auto peer = start();
    peer->write("HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n");
    peer->write("4\r\n way\r\n0\r\n\r\n");
    on.until([&] { return !refused.empty(); }, "the refusal");
    CHECK(refused == "no way");
    CHECK(pieces.empty());
    CHECK(ends == 0);
  }
  SUBCASE("a cancel inside a piece stops the pieces behind it") {
    running = sut->stream(get("/events"), how, [](http_response) { FAIL("not refused"); },
                          {[&](std::string_view it) {
                             pieces.emplace_back(it);
                             running.reset();
                           },
                           [&](std::optional<failure>) { FAIL("it was cancelled"); }});
    const auto peer = listener.accept();
    peer->read_until("\r\n\r\n");
    peer->write(head + "1\r\na\r\n1\r\nb\r\n0\r\n\r\n");
    CHECK(peer->read_all().empty());
    CHECK(pieces == std::vector<std::string>{"a"});
  }
}

namespace {

/// A hijacked exchange and what was heard of it.
struct hijacked {
  std::shared_ptr<byte_stream> stream;
  std::string heard;
  std::optional<http_response> refused;
  int ends = 0;
  std::optional<failure> why;
  std::shared_ptr<exchange> running;

  explicit hijacked(http_client& by, http_request what)
      : running(by.hijack(
          std::move(what),
          [this](std::shared_ptr<byte_stream> it) {
            stream = std::move(it);
            return stream_events{[this](std::string_view piece) { heard += piece; },
                                 [this](std::optional<failure> end) {
                                   ++ends;
                                   why = std::move(end);
                                 }};
          },
          [this](http_response it) { refused = std::move(it); })) {}
};

} // namespace

TEST_CASE(
  "a hijacked connection carries raw bytes both ways, those that came with the header first") {
  scratch dir;
  loop on;
  raw_listener listener(on, dir.path() + "/engine.sock");
  const auto sut = make_http_client(on.io, unix_target(dir.path() + "/engine.sock"));
  hijacked it(*sut, {"POST", "/exec/1/start", {}, "{}", {}});
  const auto peer = listener.accept();
  const auto asked = peer->read_until("{}");
  CHECK(asked.find("Host: localhost\r\n") != std::string::npos);
  CHECK(asked.find("Connection: Upgrade\r\n") != std::string::npos);
  CHECK(asked.find("Upgrade: tcp\r\n") != std::string::npos);
  SUBCASE("with status 101") {
    peer->write("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nearly ");
  }
  SUBCASE("with status 200") {
    peer->write("HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\nearly ");
  }
  on.until([&] { return it.heard == "early "; }, "the early bytes");
  REQUIRE(it.stream);
  it.stream->write("to ");
  it.stream->write("you");
  it.stream->close_write();
  CHECK(peer->read_all() == "to you"); // half closed: the other direction goes on
  CHECK(it.ends == 0);
  peer->write("and late");
  on.until([&] { return it.heard == "early and late"; }, "the late bytes");
  it.running.reset(); // it has no say any more
  peer->shutdown_write();
  on.until([&] { return it.ends == 1; }, "the end");
  CHECK(!it.why);
  it.stream->write("too late");
  on.settle();
}

TEST_CASE("a refused hijack gives the answer, and a failed one a sentence") {
  loop on;
  raw_listener listener(on);
  const auto sut = make_http_client(on.io, tcp_target(listener.port()));
  hijacked it(*sut, {"POST", "/exec/1/start", {}, "{}", {}});
  const auto peer = listener.accept();
  peer->read_until("{}");
  peer->write("HTTP/1.1 409 Conflict\r\nContent-Length: 7\r\n\r\nstopped");
  on.until([&] { return it.refused.has_value(); }, "the refusal");
  CHECK(it.refused->status == 409);
  CHECK(it.refused->body == "stopped");

  const auto nowhere = make_http_client(on.io, unix_target("/nowhere/at.all"));
  hijacked other(*nowhere, {"POST", "/", {}, {}, {}});
  on.until([&] { return other.refused.has_value(); }, "the failure");
  CHECK(other.refused->status == 0);
  CHECK(other.refused->body == "connect to /nowhere/at.all: no such file or directory");
}

TEST_CASE("a paused stream reads nothing, and the peer is held back") {
  loop on;
  raw_listener listener(on);
  const auto sut = make_http_client(on.io, tcp_target(listener.port()));
  hijacked it(*sut, {"POST", "/", {}, {}, {}});
  const auto peer = listener.accept();
  peer->read_until("\r\n\r\n");
  peer->write("HTTP/1.1 101 UPGRADED\r\n\r\n");
  on.until([&] { return it.stream != nullptr; }, "the stream");
  it.stream->pause();
  const std::string much(1 << 20, 'x');
  std::size_t sent = 0;
  while (true) { // until the kernel takes no more
    const auto n =
      ::send(peer->descriptor(), much.data(), much.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0)
      break;
    sent += static_cast<std::size_t>(n);
    on.settle();
  }
  CHECK(it.heard.size() <= 16384); // the read that was under way
  it.stream->resume();
  on.until([&] { return it.heard.size() == sent; }, "everything that was sent");

  it.stream->close();
  peer->read_all();
  CHECK(it.ends == 0);
}
