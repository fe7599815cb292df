#include "tests/transport/fixture.hpp"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <stdexcept>
#include <vector>

using namespace ahpd::tests;

namespace {

constexpr char text = '\x81', binary = '\x82', closing = '\x88', ping = '\x89', pong = '\x8a';

/// A client's frame; the mask is all zeros, so the payload shows as it is.
std::string client_frame(char first, std::string_view payload) {
  std::string out(1, first);
  if (payload.size() < 126) {
    out += static_cast<char>(0x80 | payload.size());
  } else {
    out += static_cast<char>(0x80 | 126);
    out += static_cast<char>(payload.size() >> 8);
    out += static_cast<char>(payload.size() & 0xff);
  }
  return out.append(4, '\0').append(payload);
}

struct server_frame {
  char first = 0;
  std::string payload;
};

server_frame read_frame(raw_peer& peer) {
  const auto head = peer.read_exactly(2);
  std::size_t n = static_cast<unsigned char>(head[1]);
  REQUIRE(n < 128); // a server does not mask
  if (n > 125) {
    const auto more = peer.read_exactly(n == 126 ? 2 : 8);
    n = 0;
    for (const char c : more)
      n = n << 8 | static_cast<unsigned char>(c);
  }
  return {head[0], peer.read_exactly(n)};
}

std::uint16_t close_code(const server_frame& it) {
  REQUIRE(it.first == closing);
  REQUIRE(it.payload.size() >= 2);
  return static_cast<std::uint16_t>(static_cast<unsigned char>(it.payload[0]) << 8 |
                                    static_cast<unsigned char>(it.payload[1]));
}

const std::string upgrade = "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\n"
                            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// One open socket and what it told.
struct heard {
  std::shared_ptr<websocket> socket;
  std::vector<std::string> texts;
  std::vector<std::string> all; ///< with the kind before each
  bool takes_binary = false;
  std::optional<close_reason> closed;

  websocket_events events() {
    const auto hear = [this](std::string it) { all.push_back("binary " + it); };
    return {[this](std::string it) {
              CHECK(!closed);
              all.push_back("text " + it);
              texts.push_back(std::move(it));
            },
            takes_binary ? hear : std::function<void(std::string)>(),
            [this](close_reason why) {
              CHECK(!closed);
              closed = std::move(why);
            }};
  }
};

/// A server with one socket and a raw peer at its other end.
struct fixture {
  loop on;
  heard it;
  std::shared_ptr<server> sut;
  std::unique_ptr<raw_peer> peer;

  void open(const websocket_limits& bounds = {}, const std::string& with_it = {}) {
    server_handlers handlers;
    handlers.on_upgrade = [this](const http_request& what) -> upgrade_answer {
      CHECK(what.target == "/ws");
      return [this](std::shared_ptr<websocket> opened) {
        it.socket = std::move(opened);
        return it.events();
      };
    };
    server_limits limits;
    limits.websocket = bounds;
    sut = serve(on, handlers, limits);
    peer = std::make_unique<raw_peer>(on, sut->port());
    peer->write(upgrade + "\r\n" + with_it);
    const auto answer = peer->read_until("\r\n\r\n");
    CHECK(answer.find("HTTP/1.1 101 ") == 0);
    CHECK(answer.find("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") != std::string::npos);
    on.until([&] { return it.socket != nullptr; }, "the socket");
  }
  void await_closed() {
    on.until([&] { return it.closed.has_value(); }, "the end");
  }
  void await_texts(std::size_t n) {
    on.until([&] { return it.texts.size() >= n; }, "messages");
  }
};

/// What a server answers to a client's key.
std::string accept_key(const std::string& key) {
  const std::string both = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  unsigned char digest[SHA_DIGEST_LENGTH];
  SHA1(reinterpret_cast<const unsigned char*>(both.data()), both.size(), digest);
  unsigned char out[32] = {};
  EVP_EncodeBlock(out, digest, sizeof digest);
  return reinterpret_cast<const char*>(out);
}

frame shared(std::string it) {
  return std::make_shared<const std::string>(std::move(it));
}

} // namespace

TEST_CASE_FIXTURE(fixture, "texts go both ways, fragmented or not, and right behind the upgrade") {
  open({}, client_frame(text, "early"));
  peer->write(client_frame('\x01', "he") + client_frame(ping, "p") + client_frame('\x00', "l") +
              client_frame('\x80', "lo") + client_frame(text, ""));
  await_texts(3);
  CHECK(it.texts == std::vector<std::string>{"early", "hello", ""});
  const auto answer = read_frame(*peer);
  CHECK(answer.first == pong);
  CHECK(answer.payload == "p");
  for (const std::size_t n : {0u, 125u, 126u, 65535u, 65536u, 3'000'000u})
    it.socket->send(shared(std::string(n, 'a')));
  for (const std::size_t n : {0u, 125u, 126u, 65535u, 65536u, 3'000'000u}) {
    const auto got = read_frame(*peer);
    CHECK(got.first == text);
    CHECK(got.payload == std::string(n, 'a'));
  }
  on.until([&] { return it.socket->queued_bytes() == 0; }, "an empty queue");
}

TEST_CASE_FIXTURE(fixture, "binary messages go both ways among texts where they are heard") {
  it.takes_binary = true;
  open();
  peer->write(client_frame('\x02', "b") + client_frame('\x80', "\xff") + client_frame(text, "t") +
              client_frame(binary, ""));
  on.until([&] { return it.all.size() == 3; }, "messages");
  CHECK(it.all == std::vector<std::string>{"binary b\xff", "text t", "binary "});
  it.socket->send(shared("\xfe"), message_kind::binary);
  it.socket->send(shared("t"));
  it.socket->send(shared(std::string(70'000, '\0')), message_kind::binary);
  for (const auto& [first, payload] : {server_frame{binary, "\xfe"}, server_frame{text, "t"},
                                       server_frame{binary, std::string(70'000, '\0')}}) {
    const auto got = read_frame(*peer);
    CHECK(got.first == first);
    CHECK((got.payload == payload));
  }
}

TEST_CASE_FIXTURE(fixture, "an owner that waits until its frames are taken outlives a slow peer") {
  websocket_limits bounds;
  bounds.outbound_bytes = 200'000;
  open(bounds);
  constexpr std::size_t frames = 200, size = 65'000; // more than the kernel's buffers take
  std::size_t sent = 0;
  std::function<void()> feed = [&] {
    if (sent == frames)
      return;
    it.socket->send(shared(std::string(size, static_cast<char>('a' + sent++ % 26))),
                    message_kind::binary);
    it.socket->when_taken([&] { feed(); });
  };
  feed();
  on.settle();
  const auto before = sent;
  CHECK(before > 1);
  CHECK(before < frames);
  CHECK(it.socket->queued_bytes() <= size + 16);
  for (std::size_t i = 0; i < frames; ++i)
    CHECK((read_frame(*peer).payload == std::string(size, static_cast<char>('a' + i % 26))));
  CHECK(!it.closed);
}

TEST_CASE_FIXTURE(fixture, "what waits to be taken is not told once the socket has ended") {
  open();
  int told = 0;
  it.socket->send(shared(std::string(16u << 20, 'a')));
  it.socket->when_taken([&] { ++told; });
  on.settle();
  peer->close();
  await_closed();
  it.socket->when_taken([&] { ++told; });
  on.settle();
  CHECK(told == 0);
}

TEST_CASE_FIXTURE(fixture, "what is no text message in bounds ends the socket with its code") {
  websocket_limits bounds;
  bounds.inbound_bytes = 200;
  open(bounds);
  std::uint16_t code = 0;
  SUBCASE("binary") {
    peer->write(client_frame(binary, "x"));
    code = 1003;
  }
  SUBCASE("not UTF-8") {
    peer->write(client_frame(text, "\xc3\x28"));
    code = 1007;
  }
  SUBCASE("a character cut off at the end") {
    peer->write(client_frame(text, "\xe2\x82"));
    code = 1007;
  }
  SUBCASE("too long") {
    peer->write(client_frame(text, std::string(201, 'a')));
    code = 1009;
  }
  SUBCASE("too long in fragments") {
    peer->write(client_frame('\x01', std::string(101, 'a')) +
                client_frame('\x00', std::string(101, 'a')));
    code = 1009;
  }
  SUBCASE("not masked") {
    peer->write("\x81\x01x");
    code = 1002;
  }
  SUBCASE("a continuation of nothing") {
    peer->write(client_frame('\x80', "x"));
    code = 1002;
  }
  const auto last = read_frame(*peer);
  CHECK(close_code(last) == code);
  peer->write(client_frame(closing, last.payload.substr(0, 2)));
  CHECK(peer->read_all().empty());
  await_closed();
  CHECK(it.closed->code == code);
  CHECK(it.texts.empty());
}

TEST_CASE_FIXTURE(fixture, "the peer's close is answered and told") {
  open();
  peer->write(client_frame(closing, "\x03\xe9gone shopping"));
  CHECK(close_code(read_frame(*peer)) == 1001);
  CHECK(peer->read_all().empty());
  await_closed();
  CHECK(it.closed->code == 1001);
  CHECK(it.closed->text == "gone shopping");
  it.socket->send(shared("late")); // nothing happens
  it.socket->grant(1);
  it.socket->close(1000, "late");
  on.settle();
}

TEST_CASE_FIXTURE(fixture, "a peer that goes without a word is told as 1006") {
  open();
  peer->close();
  await_closed();
  CHECK(it.closed->code == 1006);
  CHECK(it.closed->text == "the connection was closed");
}

TEST_CASE_FIXTURE(fixture,
                  "close sends what is queued first, and cuts a long reason at a character") {
  open();
  it.socket->send(shared("one"));
  it.socket->send(shared("two"));
  it.socket->close(4000, std::string(122, 'a') + "\xc3\xa4");
  it.socket->send(shared("three"));
  CHECK(read_frame(*peer).payload == "one");
  CHECK(read_frame(*peer).payload == "two");
  const auto last = read_frame(*peer);
  CHECK(close_code(last) == 4000);
  CHECK(last.payload.substr(2) == std::string(122, 'a'));
  SUBCASE("and ends with the peer's answer") {
    peer->write(client_frame(text, "crossing") + client_frame(closing, "\x0f\xa0"));
    CHECK(peer->read_all().empty());
    await_closed();
    CHECK(it.closed->code == 4000);
    CHECK(it.texts.empty());
  }
  SUBCASE("or when the peer does not answer in time") {
    CHECK(peer->read_all().empty());
    await_closed();
    CHECK(it.closed->code == 1006);
  }
}

TEST_CASE_FIXTURE(fixture, "closing the server closes its sockets with 1001, credits or not") {
  websocket_limits bounds;
  SUBCASE("reading") {}
  SUBCASE("not reading") {
    bounds.credits = 0;
  }
  open(bounds);
  sut->close("restarting");
  const auto last = read_frame(*peer);
  CHECK(close_code(last) == 1001);
  CHECK(last.payload.substr(2) == "restarting");
  peer->write(client_frame(closing, last.payload.substr(0, 2)));
  await_closed();
  CHECK(it.closed->code == 1001);
}

TEST_CASE_FIXTURE(fixture, "without credits nothing is read until more are granted") {
  websocket_limits bounds;
  bounds.credits = 2;
  open(bounds);
  peer->write(client_frame(text, "1") + client_frame(text, "2") + client_frame(text, "3") +
              client_frame(text, "4") + client_frame(text, "5"));
  await_texts(2);
  on.settle();
  CHECK(it.texts.size() == 2);
  it.socket->grant(1);
  await_texts(3);
  on.settle();
  CHECK(it.texts.size() == 3);
  it.socket->grant(2);
  await_texts(5);
  CHECK(it.texts.back() == "5");
}

TEST_CASE_FIXTURE(fixture,
                  "a silent peer is pinged, kept for its pongs, and dropped without them") {
  websocket_limits bounds;
  bounds.ping_every = 1s;
  bounds.idle = 2s;
  open(bounds);
  for (int i = 0; i < 4; ++i) { // longer than `idle` altogether
    CHECK(read_frame(*peer).first == ping);
    peer->write(client_frame(pong, ""));
  }
  CHECK(!it.closed);
  await_closed();
  CHECK(it.closed->code == 1006);
  CHECK(it.closed->text == "nothing heard for 2 s");
}

TEST_CASE_FIXTURE(fixture,
                  "a peer that is not read from, for want of credits, is not taken for silent") {
  websocket_limits bounds;
  bounds.ping_every = 1s;
  bounds.idle = 1s;
  bounds.credits = 0;
  open(bounds);
  for (int i = 0; i < 3; ++i)
    CHECK(read_frame(*peer).first == ping);
  CHECK(!it.closed);
}

TEST_CASE_FIXTURE(fixture,
                  "a peer that does not read is dropped past the bound, and the queue is freed") {
  websocket_limits bounds;
  bounds.outbound_bytes = 8u << 20;
  open(bounds);
  const std::weak_ptr<const std::string> seen = [&] {
    const auto piece = shared(std::string(1 << 20, 'a'));
    for (int i = 0; i < 64 && !it.closed; ++i) {
      it.socket->send(piece);
      CHECK(it.socket->queued_bytes() <= bounds.outbound_bytes + 16);
      on.settle();
    }
    return std::weak_ptr(piece);
  }();
  await_closed();
  CHECK(it.closed->code == 1013);
  on.until([&] { return seen.expired(); }, "the queue to be freed");
  CHECK(it.socket->queued_bytes() == 0);
}

TEST_CASE_FIXTURE(fixture, "a slow peer that reads again gets whole frames and then 1013") {
  websocket_limits bounds;
  bounds.outbound_bytes = 8u << 20;
  open(bounds);
  const auto piece = shared(std::string(1 << 20, 'a'));
  while (!it.closed) {
    it.socket->send(piece);
    on.settle();
  }
  server_frame last;
  while ((last = read_frame(*peer)).first == text)
    CHECK(last.payload == *piece);
  CHECK(close_code(last) == 1013);
}

TEST_CASE_FIXTURE(fixture, "what the owner throws ends the socket with 1011, not the program") {
  server_handlers handlers;
  bool at_once = false;
  SUBCASE("when it opens") {
    at_once = true;
  }
  SUBCASE("with a message") {}
  handlers.on_upgrade = [&](const http_request&) -> upgrade_answer {
    return [&](std::shared_ptr<websocket>) -> websocket_events {
      if (at_once)
        throw std::runtime_error("secret");
      return {[](std::string) { throw std::runtime_error("secret"); }, {}, {}};
    };
  };
  sut = serve(on, handlers);
  raw_peer other(on, sut->port());
  other.write(upgrade + "\r\n" + client_frame(text, "x"));
  other.read_until("\r\n\r\n");
  const auto last = read_frame(other);
  CHECK(close_code(last) == 1011);
  CHECK(last.payload.find("secret") == std::string::npos);
}

TEST_CASE("an upgrade may be refused with any answer, and is checked before the owner is asked") {
  loop on;
  int asked = 0;
  server_handlers handlers;
  handlers.on_upgrade = [&](const http_request& what) -> upgrade_answer {
    ++asked;
    if (what.headers.count("throw"))
      throw std::runtime_error("secret");
    CHECK(what.headers.at("authorization") == "Bearer x");
    return http_response{401, {{"WWW-Authenticate", "Bearer"}}, "no"};
  };
  const auto sut = serve(on, handlers);
  raw_peer peer(on, sut->port());
  peer.write(upgrade + "Authorization: Bearer x\r\n\r\n");
  const auto answer = peer.read_until("no");
  CHECK(answer.find("HTTP/1.1 401 Unauthorized\r\n") == 0);
  CHECK(answer.find("WWW-Authenticate: Bearer\r\n") != std::string::npos);
  peer.write(upgrade + "Throw: yes\r\n\r\n"); // the connection goes on
  CHECK(peer.read_until("internal error").find("HTTP/1.1 500 ") == 0);
  CHECK(asked == 2);
  auto old = upgrade;
  old.replace(old.find("13"), 2, "12");
  peer.write(old + "\r\n");
  CHECK(peer.read_until("\r\n\r\n").find("Sec-WebSocket-Version: 13\r\n") != std::string::npos);
  auto keyless = upgrade.substr(0, upgrade.find("Sec-WebSocket-Key"));
  peer.write(keyless + "\r\n");
  peer.read_until("HTTP/1.1 400 ");
  CHECK(asked == 2);
}

namespace {

/// A server whose socket is `far`, dialled by `near`.
struct dialled {
  loop on;
  heard near, far;
  std::shared_ptr<server> other;
  std::optional<http_response> refused;

  void open(const websocket_limits& bounds = {}, const endpoint& where = {}) {
    server_handlers handlers;
    handlers.on_upgrade = [this](const http_request& what) -> upgrade_answer {
      if (what.headers.at("X-Own") != "yes")
        return http_response{403, {{"X-Why", "because"}}, std::string(5000, 'n')};
      return [this](std::shared_ptr<websocket> it) {
        far.socket = std::move(it);
        return far.events();
      };
    };
    other = serve(on, handlers, {}, where);
    auto to = where.unix_path.empty() ? tcp_target(other->port()) : unix_target(where.unix_path);
    dial(to, "yes", bounds);
    on.until([&] { return near.socket && far.socket; }, "both sockets");
  }
  void dial(const target& to, const std::string& own, const websocket_limits& bounds = {}) {
    dial_websocket(
      on.io, to, {"GET", "/ws", {{"X-Own", own}}, {}, {}}, bounds,
      [this](std::shared_ptr<websocket> it) {
        near.socket = std::move(it);
        return near.events();
      },
      [this](http_response it) { refused = std::move(it); });
  }
};

} // namespace

TEST_CASE_FIXTURE(dialled, "a dialled socket speaks to a served one, over TCP or a Unix socket") {
  scratch dir;
  endpoint where;
  SUBCASE("TCP") {}
  SUBCASE("Unix") {
    where.unix_path = dir.path() + "/sut.sock";
  }
  near.takes_binary = far.takes_binary = true;
  open({}, where);
  const std::string big(1'000'000, 'b');
  near.socket->send(shared("hello"));
  near.socket->send(shared(big));
  far.socket->send(shared(big));
  far.socket->send(shared("\xc3\xa4"));
  on.until([&] { return near.texts.size() == 2 && far.texts.size() == 2; }, "all messages");
  CHECK(far.texts == std::vector<std::string>{"hello", big});
  CHECK(near.texts == std::vector<std::string>{big, "\xc3\xa4"});
  near.socket->send(shared(big), message_kind::binary);
  far.socket->send(shared("\xff"), message_kind::binary);
  on.until([&] { return near.all.size() == 3 && far.all.size() == 3; }, "the binary messages");
  CHECK((far.all.back() == "binary " + big));
  CHECK(near.all.back() == "binary \xff");
  near.socket->close(1000, "done");
  on.until([&] { return near.closed && far.closed; }, "both ends");
  CHECK(near.closed->code == 1000);
  CHECK(far.closed->code == 1000);
  CHECK(far.closed->text == "done");
}

TEST_CASE_FIXTURE(dialled,
                  "a dialled socket masks, pings, answers pings and keeps its own bounds") {
  raw_listener listener(on);
  websocket_limits bounds;
  bounds.ping_every = 1s;
  bounds.idle = 2s;
  bounds.inbound_bytes = 10;
  dial(tcp_target(listener.port()), "yes", bounds);
  const auto peer = listener.accept();
  const auto asked = peer->read_until("\r\n\r\n");
  CHECK(asked.find("GET /ws HTTP/1.1\r\n") == 0);
  const auto key = asked.find("Sec-WebSocket-Key: ");
  REQUIRE(key != std::string::npos);
  peer->write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              "Sec-WebSocket-Accept: " +
              accept_key(asked.substr(key + 19, 24)) + "\r\n\r\n");
  on.until([&] { return near.socket != nullptr; }, "the socket");
  near.socket->send(shared("hello"));
  auto head = peer->read_exactly(6);
  CHECK(head.substr(0, 2) == "\x81\x85");
  auto payload = peer->read_exactly(5);
  for (std::size_t i = 0; i < 5; ++i)
    payload[i] = static_cast<char>(payload[i] ^ head[2 + i % 4]);
  CHECK(payload == "hello");
  for (int i = 0; i < 3; ++i) { // longer than `idle` altogether
    CHECK(peer->read_exactly(6).substr(0, 2) == "\x89\x80");
    peer->write(std::string("\x8a\0", 2));
  }
  CHECK(!near.closed);
  peer->write(std::string("\x89\x01p", 3));
  CHECK(peer->read_exactly(7).substr(0, 2) == "\x8a\x81");
  peer->write("\x81\x0blonger than");
  CHECK(peer->read_exactly(6).substr(0, 1) == "\x88");
  on.until([&] { return near.closed.has_value(); }, "the end");
  CHECK(near.closed->code == 1009);
}

TEST_CASE_FIXTURE(dialled, "a refused or impossible dial gives the answer or a sentence") {
  open();
  dial(tcp_target(other->port()), "no");
  on.until([&] { return refused.has_value(); }, "the refusal");
  CHECK(refused->status == 403);
  CHECK(refused->headers.at("x-why") == "because");
  CHECK(refused->body.size() == 5000);
  refused.reset();
  dial(unix_target("/nowhere/at.all"), "yes");
  on.until([&] { return refused.has_value(); }, "the failure");
  CHECK(refused->status == 0);
  CHECK(refused->body == "connect to /nowhere/at.all: no such file or directory");
}

TEST_CASE("an io_context may go before its open sockets") {
  auto sut = std::make_unique<dialled>();
  sut->open();
  const auto near = sut->near.socket, far = sut->far.socket;
  const auto other = sut->other;
  SUBCASE("with work under way") {
    near->send(shared(std::string(1 << 20, 'a')));
    far->close(1000, "");
    near->grant(1);
  }
  SUBCASE("stuck in the middle of a write") {
    for (int i = 0; i < 10; ++i)
      near->send(shared(std::string(1 << 20, 'a')));
    sut->on.io.restart();
    sut->on.io.poll_one();
    sut->on.io.poll_one();
  }
  sut.reset();
  near->send(shared("x"));
  far->grant(5);
  near->close(1000, "");
  far->close(1000, "");
}

TEST_CASE_FIXTURE(fixture, "a thousand frames queued in one go arrive in order and in few pieces") {
  open();
  std::string expected;
  std::vector<frame> all;
  for (int i = 0; i < 1000; ++i)
    all.push_back(shared("message number " + std::to_string(i)));
  for (const auto& one : all)
    it.socket->send(one);
  for (const auto& one : all)
    CHECK(read_frame(*peer).payload == *one);
}
