#include "tests/transport/fixture.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

using namespace ahpd::tests;

namespace {

/// Takes the bodies of PUT requests; answers other requests with their body's size.
struct taking {
  loop on;
  std::vector<std::string> pieces;
  std::function<void()> more; ///< of the last piece
  std::vector<bool> ends;
  reply_function reply;
  bool at_once = false; ///< asks for more as soon as a piece came
  std::string target;
  std::shared_ptr<server> sut;

  void open(const server_limits& bounds = {}) {
    server_handlers handlers;
    handlers.on_body = [this](const http_request& what,
                              reply_function to) -> std::optional<body_taker> {
      if (what.method != "PUT")
        return std::nullopt;
      target = what.target;
      reply = std::move(to);
      return body_taker{[this](std::string piece, std::function<void()> then) {
                          CHECK(ends.empty());
                          pieces.push_back(std::move(piece));
                          more = std::move(then);
                          if (at_once)
                            more();
                        },
                        [this](bool whole) { ends.push_back(whole); }};
    };
    handlers.on_request = [](http_request what, reply_function to) {
      to({200, {}, "plain " + std::to_string(what.body.size())});
    };
    sut = serve(on, std::move(handlers), bounds);
  }
  void await_pieces(std::size_t n) {
    on.until([&] { return pieces.size() >= n; }, "a piece");
  }
  void await_end() {
    on.until([&] { return !ends.empty(); }, "the end of the body");
  }
  std::string joined() const {
    std::string out;
    for (const auto& it : pieces)
      out += it;
    return out;
  }
};

std::string put(std::size_t n, const std::string& more = {}) {
  return "PUT /up HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(n) + "\r\n" + more +
         "\r\n";
}

const std::string put_chunked = "PUT /up HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string counted(std::size_t n) {
  std::string out;
  for (std::size_t i = 0; out.size() < n; ++i)
    out += std::to_string(i) + " ";
  out.resize(n);
  return out;
}

} // namespace

TEST_CASE_FIXTURE(taking, "a body comes piece by piece, is ended, answered, and the next is read") {
  open();
  raw_peer peer(on, sut->port());
  peer.write(put(10) + "hello");
  await_pieces(1);
  CHECK(target == "/up");
  CHECK(pieces[0] == "hello");
  more();
  more(); // counts once
  peer.write("world");
  await_pieces(2);
  CHECK(pieces[1] == "world");
  on.settle();
  CHECK(ends.empty()); // till the last piece is done with
  more();
  await_end();
  CHECK(ends == std::vector<bool>{true});
  reply({201, {}, "made"});
  const auto answer = peer.read_until("made");
  CHECK(answer.find("HTTP/1.1 201 ") == 0);
  CHECK(answer.find("Connection: close") == std::string::npos);
  peer.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
  peer.read_until("plain 3");
  CHECK(pieces.size() == 2);
}

TEST_CASE_FIXTURE(taking, "chunks are joined into pieces, and an empty body is ended at once") {
  open();
  raw_peer peer(on, sut->port());
  peer.write(put_chunked + "3\r\nabc\r\n2;x=y\r\nde\r\n1\r\nf");
  await_pieces(1);
  CHECK(pieces[0] == "abcdef");
  more();
  peer.write("\r\n0\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n");
  await_end();
  CHECK(ends == std::vector<bool>{true});
  reply({200, {}, "done"});
  peer.read_until("done");
  peer.read_until("plain 0");
  ends.clear();
  peer.write(put_chunked + "0\r\n\r\n");
  await_end();
  CHECK(ends == std::vector<bool>{true});
  CHECK(pieces.size() == 1);
  reply({200, {}, "empty"});
  peer.read_until("empty");
}

TEST_CASE_FIXTURE(taking, "a large body comes in order, in large but bounded pieces") {
  open();
  at_once = true;
  const auto body = counted(20'000'000);
  raw_peer peer(on, sut->port());
  SUBCASE("with a length") {
    peer.write(put(body.size()) + body);
  }
  SUBCASE("in chunks") {
    std::string all = put_chunked;
    for (std::size_t at = 0; at < body.size(); at += 10'000)
      all += "2710\r\n" + body.substr(at, 10'000) + "\r\n";
    peer.write(all + "0\r\n\r\n");
  }
  await_end();
  CHECK(ends == std::vector<bool>{true});
  CHECK((joined() == body));
  std::size_t largest = 0;
  for (const auto& it : pieces)
    largest = std::max(largest, it.size());
  CHECK(largest > (64u << 10));
  CHECK(largest <= (256u << 10));
  reply({200, {}, "done"});
  peer.read_until("done");
}

TEST_CASE_FIXTURE(taking, "nothing is read until more is asked for") {
  open();
  raw_peer peer(on, sut->port());
  const std::string body(64u << 20, 'x'); // more than the kernel's buffers take
  peer.write(put(body.size()));
  const auto first = peer.write_till_full(body);
  CHECK(first < body.size());
  CHECK(pieces.size() == 1);
  CHECK(pieces[0].size() <= (256u << 10));
  at_once = true;
  more();
  peer.write(std::string_view(body).substr(first));
  await_end();
  CHECK((joined() == body));
}

TEST_CASE("a body longer than may be held passes with a taker and is refused without") {
  taking it;
  server_limits bounds;
  bounds.body_bytes = 10;
  it.open(bounds);
  it.at_once = true;
  const std::string body(100, 'x');
  for (const bool chunked : {false, true}) {
    const std::string fields =
      chunked ? "Transfer-Encoding: chunked\r\n\r\n64\r\n" + body + "\r\n0\r\n\r\n"
              : "Content-Length: 100\r\n\r\n" + body;
    raw_peer peer(it.on, it.sut->port());
    peer.write("POST / HTTP/1.1\r\nHost: x\r\n" + fields);
    CHECK(peer.read_all().find("HTTP/1.1 413 ") == 0);
    raw_peer other(it.on, it.sut->port());
    other.write("PUT / HTTP/1.1\r\nHost: x\r\n" + fields);
    it.await_end();
    CHECK((it.joined() == body));
    it.reply({200, {}, "done"});
    other.read_until("done");
    it.pieces.clear();
    it.ends.clear();
  }
}

TEST_CASE_FIXTURE(taking, "an answer before the end of the body is the connection's last") {
  open();
  raw_peer peer(on, sut->port());
  peer.write(put(1'000'000) + "begun");
  await_pieces(1);
  SUBCASE("while a piece is held") {}
  SUBCASE("while more is read") {
    more();
    on.settle();
  }
  SUBCASE("while the last piece is held") {
    more();
    at_once = true;
    peer.write(std::string(999'990, 'x'));
    on.until([&] { return joined().size() == 999'995; }, "all but the last piece");
    at_once = false;
    const auto before = pieces.size();
    peer.write("last.");
    await_pieces(before + 1);
  }
  const auto taken = pieces.size();
  reply({507, {}, "no room"});
  const auto answer = peer.read_until("no room");
  CHECK(answer.find("Connection: close\r\n") != std::string::npos);
  CHECK(ends == std::vector<bool>{false});
  more();
  peer.write(std::string(500'000, 'x')); // is not taken, and does not lose the answer
  peer.shutdown_write();
  CHECK(peer.read_all().empty());
  CHECK(pieces.size() == taken);
  CHECK(ends.size() == 1);
}

TEST_CASE_FIXTURE(taking, "an early answer may be a body that goes on") {
  open();
  raw_peer peer(on, sut->port());
  peer.write(put(1'000'000) + "begun");
  await_pieces(1);
  more();
  on.settle();
  std::unique_ptr<body_stream> body;
  http_response out;
  out.goes_on = [&](std::unique_ptr<body_stream> it) {
    body = std::move(it);
    return [] {};
  };
  reply(std::move(out));
  on.until([&] { return body != nullptr; }, "the answer");
  peer.write(std::string(300'000, 'x'));
  body->send("well");
  body.reset();
  peer.read_until("4\r\nwell\r\n0\r\n\r\n");
  peer.shutdown_write();
  peer.read_all();
}

TEST_CASE_FIXTURE(taking, "a peer that goes in the middle of a body ends it") {
  open();
  at_once = true;
  {
    raw_peer peer(on, sut->port());
    peer.write(put(100) + "begun");
    await_pieces(1);
  }
  await_end();
  CHECK(ends == std::vector<bool>{false});
  reply({200, {}, "to nobody"});
  on.settle();
}

TEST_CASE_FIXTURE(taking, "a body that breaks the protocol is refused once and ended") {
  open();
  at_once = true;
  raw_peer peer(on, sut->port());
  SUBCASE("no chunk") {
    peer.write(put_chunked + "3\r\nabc\r\nxyz\r\n");
  }
  SUBCASE("a line without an end") {
    peer.write(put_chunked + "3;" + std::string(40'000, 'x'));
  }
  const auto answer = peer.read_all();
  CHECK(answer.find("HTTP/1.1 400 ") == 0);
  CHECK(answer.find("HTTP/1.1 500 ") == std::string::npos);
  CHECK(ends == std::vector<bool>{false});
  reply({200, {}, "too late"});
  on.settle();
}

TEST_CASE_FIXTURE(taking, "a body whose peer falls silent is refused once; a held piece has time") {
  server_limits bounds;
  bounds.request_time = 1s;
  open(bounds);
  raw_peer peer(on, sut->port());
  peer.write(put(100) + "a");
  await_pieces(1);
  raw_peer other(on, sut->port()); // its end shows that more than the limit has passed
  other.read_all();
  CHECK(ends.empty());
  more();
  const auto answer = peer.read_all();
  reply({200, {}, "too late"});
  on.settle();
  CHECK(answer.find("HTTP/1.1 408 ") == 0);
  CHECK(answer.find("HTTP/1.1 ", 1) == std::string::npos);
  CHECK(ends == std::vector<bool>{false});
}

TEST_CASE_FIXTURE(taking, "time counts from byte to byte where a taker takes them") {
  server_limits bounds;
  bounds.request_time = 2s;
  open(bounds);
  at_once = true;
  raw_peer peer(on, sut->port());
  peer.write(put(1'000'000) + "a");
  await_pieces(1);
  std::size_t sent = 1;
  raw_peer silent(on, sut->port());
  while (!silent.ended()) { // the whole limit
    peer.write("a");
    await_pieces(++sent);
  }
  peer.write("b");
  await_pieces(++sent);
  CHECK(ends.empty());
}

TEST_CASE_FIXTURE(taking, "Expect is answered once the owner takes the body, not when it refuses") {
  open();
  raw_peer peer(on, sut->port());
  peer.write(put(2, "Expect: 100-continue\r\n"));
  CHECK(peer.read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  CHECK(target == "/up");
  peer.write("ab");
  await_pieces(1);
  server_handlers refusing;
  refusing.on_body = [](const http_request& what, reply_function to) -> std::optional<body_taker> {
    to({403, {}, "no"});
    if (what.target == "/none")
      return std::nullopt;
    return body_taker{[](std::string, std::function<void()>) { FAIL("not to be read"); },
                      [](bool whole) { CHECK(!whole); }};
  };
  refusing.on_request = [](http_request, reply_function) { FAIL("answered already"); };
  const auto other = serve(on, refusing);
  for (const auto* path : {"/none", "/some"}) {
    raw_peer refused(on, other->port());
    refused.write("PUT " + std::string(path) +
                  " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    const auto answer = refused.read_until("\r\n\r\nno");
    CHECK(answer.find("HTTP/1.1 403 ") == 0);
    CHECK(answer.find("Connection: close\r\n") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(taking,
                  "a taker that forgets a piece gives the body up, one that throws gets 500") {
  open();
  raw_peer peer(on, sut->port());
  peer.write(put(100) + "a");
  await_pieces(1);
  more = nullptr;
  await_end();
  CHECK(ends == std::vector<bool>{false});
  SUBCASE("and answers") {
    reply({507, {}, "no room"});
    peer.read_until("no room");
  }
  SUBCASE("and forgets to answer") {
    reply = nullptr;
    CHECK(peer.read_all().find("HTTP/1.1 500 ") == 0);
  }
  server_handlers throwing;
  throwing.on_body = [](const http_request& what, reply_function) -> std::optional<body_taker> {
    if (what.target == "/at-once")
      throw std::runtime_error("secret");
    return body_taker{
      [](std::string, std::function<void()>) { throw std::runtime_error("secret"); },
      [](bool) { throw std::runtime_error("secret"); }};
  };
  const auto other = serve(on, throwing);
  for (const auto* path : {"/at-once", "/later"}) {
    raw_peer failed(on, other->port());
    failed.write("PUT " + std::string(path) +
                 " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab");
    const auto answer = failed.read_all();
    CHECK(answer.find("HTTP/1.1 500 ") == 0);
    CHECK(answer.find("secret") == std::string::npos);
  }
}

TEST_CASE("an io_context may go while a taker holds a piece and its reply") {
  const auto held = std::make_shared<int>();
  {
    loop on;
    server_handlers handlers;
    int taken = 0;
    handlers.on_body = [&](const http_request&, reply_function to) -> std::optional<body_taker> {
      return body_taker{
        [&taken, to, held, first = true](std::string, std::function<void()> then) mutable {
          ++taken;
          if (std::exchange(first, false))
            then();
        },
        [](bool) {}};
    };
    const auto sut = serve(on, handlers);
    raw_peer peer(on, sut->port());
    peer.write(put(10) + "a");
    on.until([&] { return taken == 1; }, "a piece");
    on.settle();
    CHECK(held.use_count() == 2);
  }
  CHECK(held.use_count() == 1);
}
