#include "tests/transport/fixture.hpp"

#include <openssl/evp.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

using namespace ahpd::tests;

namespace {

/// Answers with a file that the test wrote.
struct filed {
  loop on;
  scratch dir;
  std::shared_ptr<file_body> file = std::make_shared<file_body>();
  std::shared_ptr<server> sut;

  void open(const std::string& content, const server_limits& bounds = {},
            const endpoint& where = {}) {
    file->descriptor =
      ::open((dir.path() + "/file").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    REQUIRE(file->descriptor >= 0);
    REQUIRE(::pwrite(file->descriptor, content.data(), content.size(), 0) ==
            static_cast<ssize_t>(content.size()));
    file->size = content.size();
    server_handlers handlers;
    handlers.on_request = [this](http_request, reply_function reply) {
      http_response out{200, {{"Content-Type", "application/octet-stream"}}, {}};
      out.file = file;
      reply(std::move(out));
    };
    sut = serve(on, std::move(handlers), bounds, where);
  }
  ~filed() { ::close(file->descriptor); }

  /// What the next answer has of the file; the one before may still be on its way.
  void part(std::uint64_t offset, std::uint64_t size) {
    file = std::make_shared<file_body>(*file);
    file->offset = offset;
    file->size = size;
  }
};

void ask(raw_peer& peer, const std::string& method = "GET") {
  peer.write(method + " / HTTP/1.1\r\nHost: x\r\n\r\n");
}

std::string length_of(const std::string& head) {
  CHECK(head.find("HTTP/1.1 200 ") == 0); // nothing is left over of the answer before
  const auto at = head.find("Content-Length: ");
  REQUIRE(at != std::string::npos);
  return head.substr(at + 16, head.find("\r\n", at) - at - 16);
}

/// Bytes that repeat with no period that a mistake in a piece could have.
std::string pattern(std::size_t n) {
  std::string out(n, '\0');
  std::uint32_t x = 1;
  for (auto& c : out)
    c = static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  return out;
}

std::string digest(std::string_view of) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned n = 0;
  REQUIRE(EVP_Digest(of.data(), of.size(), out, &n, EVP_sha256(), nullptr) == 1);
  return {reinterpret_cast<const char*>(out), n};
}

} // namespace

TEST_CASE_FIXTURE(filed, "a file is an answer's body, whole or in part, and the next is answered") {
  endpoint where;
  SUBCASE("TCP") {}
  SUBCASE("Unix") {
    where.unix_path = dir.path() + "/sut.sock";
  }
  open("0123456789", {}, where);
  const auto peer = where.unix_path.empty() ? std::make_unique<raw_peer>(on, sut->port())
                                            : std::make_unique<raw_peer>(on, where.unix_path);
  ask(*peer);
  const auto head = peer->read_until("\r\n\r\n");
  CHECK(length_of(head) == "10");
  CHECK(head.find("Connection: close") == std::string::npos);
  CHECK(peer->read_exactly(10) == "0123456789");
  part(3, 4);
  ask(*peer);
  CHECK(length_of(peer->read_until("\r\n\r\n")) == "4");
  CHECK(peer->read_exactly(4) == "3456");
  ask(*peer, "HEAD");
  CHECK(length_of(peer->read_until("\r\n\r\n")) == "4");
  part(3, 0);
  ask(*peer);
  CHECK(length_of(peer->read_until("\r\n\r\n")) == "0");
  part(3, 2);
  ask(*peer);
  CHECK(length_of(peer->read_until("\r\n\r\n")) == "2");
  CHECK(peer->read_exactly(2) == "34");
}

TEST_CASE_FIXTURE(filed, "a file of 100 MB arrives as it is, with others served meanwhile") {
  const auto content = pattern(100'000'000);
  open(content);
  raw_peer peer(on, sut->port());
  ask(peer);
  peer.read_until("\r\n\r\n");
  raw_peer other(on, sut->port());
  ask(other, "HEAD");
  other.read_until("\r\n\r\n");
  CHECK(digest(peer.read_exactly(content.size())) == digest(content));
}

TEST_CASE_FIXTURE(filed, "pieces are bounded, so that other work has its turn between them") {
  open(std::string(5u << 20, 'x'));
  int asked = 0;
  file->unchanged = [&] { return ++asked > 0; };
  raw_peer peer(on, sut->port());
  ask(peer);
  peer.read_until("\r\n\r\n");
  peer.read_exactly(5u << 20);
  on.settle();
  CHECK(asked >= 5);
}

TEST_CASE_FIXTURE(filed, "a file that changed or became shorter on the way breaks the answer off") {
  constexpr std::size_t size = 64u << 20; // more than the kernel's buffers take
  open(std::string(size, 'x'));
  bool changed = false;
  int asked = 0;
  file->unchanged = [&] {
    ++asked;
    return !changed;
  };
  raw_peer peer(on, sut->port());
  ask(peer);
  peer.read_until("\r\n\r\n");
  peer.read_exactly(100'000);
  on.settle();
  CHECK(asked > 1);
  SUBCASE("changed") {
    changed = true;
  }
  SUBCASE("throws") {
    file->unchanged = []() -> bool { throw std::runtime_error("secret"); };
  }
  SUBCASE("shorter") {
    REQUIRE(::ftruncate(file->descriptor, 1000) == 0);
  }
  SUBCASE("descriptor of nothing") {
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    REQUIRE(::dup2(nothing, file->descriptor) == file->descriptor);
    ::close(nothing);
  }
  CHECK(peer.read_all().size() < size - 100'000);
}

TEST_CASE_FIXTURE(filed, "a file goes on when a slow reader reads, without a look in between") {
  const auto content = pattern(32u << 20);
  open(content);
  int asked = 0;
  file->unchanged = [&] { return ++asked > 0; };
  raw_peer peer(on, sut->port());
  ask(peer);
  peer.read_until("\r\n\r\n");
  std::string got;
  on.settle();
  const int stopped = asked;
  CHECK(on.io.poll() == 0); // nothing to do until the peer reads
  CHECK(asked == stopped);
  while (got.size() < content.size())
    got += peer.read_exactly(std::min<std::size_t>(1'000'000, content.size() - got.size()));
  CHECK((got == content));
}

TEST_CASE_FIXTURE(filed, "a peer that takes nothing of a file is dropped") {
  server_limits bounds;
  bounds.request_time = 1s;
  bounds.connections = 1;
  constexpr std::size_t size = 64u << 20;
  open(std::string(size, 'x'), bounds);
  auto held = std::make_shared<int>();
  file->held = held;
  const std::weak_ptr<int> seen = held;
  raw_peer peer(on, sut->port());
  ask(peer);
  on.until([&] { return file.use_count() > 1; }, "the answer");
  held.reset();
  on.until([&] { return file.use_count() == 1; }, "the peer to be dropped");
  CHECK(peer.read_all().size() < size);
}
