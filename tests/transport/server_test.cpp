#include "tests/transport/fixture.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

using namespace ahpd::tests;

namespace {

/// Answers with what was asked: "POST /a hello".
server_handlers echo() {
  server_handlers out;
  out.on_request = [](http_request what, std::function<void(http_response)> reply) {
    reply({200, {{"X-Peer", what.peer}}, what.method + " " + what.target + " " + what.body});
  };
  return out;
}

std::string status_of(const std::string& answer) {
  return answer.substr(9, 3);
}

} // namespace

TEST_CASE("requests on one connection are answered in order, pipelined or not") {
  loop on;
  const auto sut = serve(on, echo());
  raw_peer peer(on, sut->port());
  peer.write("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"
             "GET /b HTTP/1.1\r\nHost: x\r\n\r\n"
             "HEAD /c HTTP/1.1\r\nHost: x\r\n\r\nGET /d HTTP/1.1\r\nHo");
  CHECK(peer.read_until("POST /a hi").find("Content-Length: 10\r\n") != std::string::npos);
  CHECK(peer.read_until("GET /b ").find("HTTP/1.1 200 OK\r\n") == 0);
  CHECK(peer.read_until("\r\n\r\n").find("Content-Length: 8\r\n") != std::string::npos);
  peer.write("st: x\r\nConnection: close\r\n\r\n");
  const auto last = peer.read_all();
  CHECK(last.find("HTTP/1.1 200 OK\r\n") == 0);
  CHECK(last.find("Connection: close\r\n") != std::string::npos);
  CHECK(last.find("X-Peer: 127.0.0.1:") != std::string::npos);
}

TEST_CASE("a chunked body is put together, and Expect is answered") {
  loop on;
  const auto sut = serve(on, echo());
  raw_peer peer(on, sut->port());
  peer.write("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: "
             "100-continue\r\n\r\n");
  CHECK(peer.read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  peer.write("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  peer.read_until("POST /a abcde");
}

TEST_CASE("what is too long or wrong is refused with its status, and the connection ends") {
  loop on;
  server_limits bounds;
  bounds.header_bytes = 200;
  bounds.body_bytes = 10;
  const auto sut = serve(on, echo(), bounds);
  const auto refused = [&](const std::string& request) {
    raw_peer peer(on, sut->port());
    peer.write(request);
    return status_of(peer.read_all());
  };
  CHECK(refused("GET /" + std::string(300, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n") == "431");
  CHECK(refused("GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(300, 'a') + "\r\n\r\n") == "431");
  CHECK(refused("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n") == "413");
  CHECK(refused("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\n" +
                std::string(5'000'000, 'b')) == "413");
  CHECK(refused("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                "6\r\naaaaaa\r\n6\r\naaaaaa\r\n0\r\n\r\n") == "413");
  CHECK(refused("hello there\r\n\r\n") == "400");
  CHECK(refused("GET / HTTP/1.1\r\n\r\n") == "400");
  CHECK(refused("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n") == "400");
  CHECK(refused("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na") ==
        "400");
  CHECK(refused("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: "
                "chunked\r\n\r\n0\r\n\r\n") == "400");
}

TEST_CASE("a request that comes too slowly is answered with 408, a silent peer is dropped") {
  loop on;
  server_limits bounds;
  bounds.request_time = 1s;
  bounds.keep_alive = 1s;
  const auto sut = serve(on, echo(), bounds);
  raw_peer slow(on, sut->port());
  raw_peer silent(on, sut->port());
  raw_peer idle(on, sut->port());
  slow.write("GET / HTTP/1.1\r\nHo");
  idle.write("GET /once HTTP/1.1\r\nHost: x\r\n\r\n");
  idle.read_until("GET /once ");
  CHECK(status_of(slow.read_all()) == "408");
  CHECK(silent.read_all().empty());
  CHECK(idle.read_all().empty());
}

TEST_CASE("a reply may come later and from any thread; forgetting and throwing answer, too") {
  loop on;
  std::thread later;
  server_handlers handlers;
  handlers.on_request = [&](http_request what, std::function<void(http_response)> reply) {
    if (what.target == "/later")
      later = std::thread([reply] { reply({201, {}, "made"}); });
    else if (what.target == "/throw")
      throw std::runtime_error("secret");
    else if (what.target == "/split")
      reply({200, {{"A", "b\r\nEvil: yes"}, {"No Token", "x"}}, "split"});
    else if (what.target == "/twice") {
      reply({200, {}, "first"});
      reply({200, {}, "second"});
    }
  };
  const auto sut = serve(on, handlers);
  raw_peer peer(on, sut->port());
  const auto ask = [&](const std::string& path) {
    peer.write("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
  };
  ask("/later");
  CHECK(status_of(peer.read_until("made")) == "201");
  later.join();
  ask("/throw");
  CHECK(status_of(peer.read_until("internal error\n")) == "500");
  ask("/forget");
  CHECK(status_of(peer.read_until("the request was not answered\n")) == "500");
  ask("/twice");
  peer.read_until("first");
  ask("/split");
  const auto split = peer.read_until("split");
  CHECK(split.find("A: b  Evil: yes\r\n") != std::string::npos);
  CHECK(split.find("No Token") == std::string::npos);
}

TEST_CASE("connections past the cap are closed at once; a freed place is taken again") {
  loop on;
  server_limits bounds;
  bounds.connections = 1;
  const auto sut = serve(on, echo(), bounds);
  auto first = std::make_unique<raw_peer>(on, sut->port());
  first->write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  first->read_until("GET / ");
  {
    raw_peer second(on, sut->port());
    CHECK(second.read_all().empty());
  }
  first.reset();
  on.until(
    [&] {
      raw_peer third(on, sut->port());
      third.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
      return !third.read_all().empty();
    },
    "the freed place");
}

TEST_CASE(
  "a Unix socket is private, replaced when stale, kept when somebody answers, removed at the end") {
  scratch dir;
  const std::string path = dir.path() + "/sut.sock";
  endpoint where;
  where.unix_path = path;
  loop on;
  std::string error;
  { // a file that a killed process left
    raw_listener dead(on, path);
  }
  REQUIRE(std::filesystem::exists(path));
  auto sut = serve(on, echo(), {}, where);
  struct stat found {};
  REQUIRE(::stat(path.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0600);
  CHECK(!listen(on.io, where, echo(), {}, error));
  CHECK(error == "listen on " + path + ": address already in use");
  {
    raw_peer peer(on, path);
    peer.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(peer.read_until("GET / ").find("X-Peer: \r\n") != std::string::npos);
  }
  sut->stop_accepting();
  on.settle();
  CHECK(!std::filesystem::exists(path));
  { std::ofstream(path) << "a note"; }
  CHECK(!listen(on.io, where, echo(), {}, error));
  CHECK(read_file(path) == "a note");
}

TEST_CASE("a taken port and an address of nobody are told with the address") {
  loop on;
  const auto sut = serve(on, echo());
  std::string error;
  endpoint taken;
  taken.port = sut->port();
  CHECK(!listen(on.io, taken, echo(), {}, error));
  CHECK(error == "listen on 127.0.0.1:" + std::to_string(sut->port()) + ": address already in use");
  endpoint foreign;
  foreign.host = "192.0.2.1";
  CHECK(!listen(on.io, foreign, echo(), {}, error));
  CHECK(error == "listen on 192.0.2.1:0: cannot assign requested address");
}

TEST_CASE("IPv6 is served, and no descriptor is inherited by children") {
  loop on;
  endpoint where;
  where.host = "::1";
  std::string error;
  const auto sut = listen(on.io, where, echo(), {}, error);
  if (!sut)
    return skip("IPv6 (" + error + ")");
  auto to = tcp_target(sut->port());
  to.host = "::1";
  const auto client = make_http_client(on.io, to);
  std::optional<http_result> got;
  const auto running =
    client->send({"GET", "/six", {}, {}, {}}, {}, [&](http_result it) { got = std::move(it); });
  on.until([&] { return got.has_value(); }, "the answer");
  REQUIRE_MESSAGE(got->response, got->failed.text);
  CHECK(got->response->headers.at("X-Peer").find("[::1]:") == 0);
  int inherited = 0;
  for (int fd = 3; fd < 256; ++fd) {
    struct stat what {};
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0 && !(flags & FD_CLOEXEC) && ::fstat(fd, &what) == 0 && S_ISSOCK(what.st_mode))
      ++inherited;
  }
  CHECK(inherited == 0);
}

TEST_CASE("closing a server ends its connections; dropping one with work under way is safe") {
  loop on;
  std::function<void(http_response)> open_reply;
  server_handlers handlers;
  handlers.on_request = [&](http_request, std::function<void(http_response)> reply) {
    open_reply = std::move(reply);
  };
  auto sut = serve(on, handlers);
  raw_peer idle(on, sut->port());
  raw_peer busy(on, sut->port());
  busy.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  on.until([&] { return bool(open_reply); }, "the request");
  sut.reset();
  CHECK(idle.read_all().empty());
  CHECK(busy.read_all().empty());
  open_reply({200, {}, "too late"});
  on.settle();
}

TEST_CASE("an io_context may go before what was made with it") {
  std::shared_ptr<server> sut;
  std::shared_ptr<http_client> client;
  std::shared_ptr<exchange> running;
  std::function<void(http_response)> open_reply;
  {
    loop on;
    server_handlers handlers;
    handlers.on_request = [&](http_request, std::function<void(http_response)> reply) {
      open_reply = std::move(reply);
    };
    sut = serve(on, handlers);
    client = make_http_client(on.io, tcp_target(sut->port()));
    running = client->send({}, {}, [](http_result) { FAIL("nobody answers"); });
    on.until([&] { return bool(open_reply); }, "the request");
  }
  open_reply({});
  client->send({}, {}, [](http_result) { FAIL("nobody answers"); });
  sut->close("late");
}
