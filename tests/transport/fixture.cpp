#include "tests/transport/fixture.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace ahpd::tests {

namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  out.sin_port = htons(port);
  return out;
}

sockaddr_un local(const std::string& path) {
  sockaddr_un out{};
  out.sun_family = AF_UNIX;
  std::strncpy(out.sun_path, path.c_str(), sizeof out.sun_path - 1);
  return out;
}

template <class Name> int connected(int family, const Name& name) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(fd >= 0);
  REQUIRE(::connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  return fd;
}

template <class Name> int listening(int family, const Name& name) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(fd >= 0);
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  REQUIRE(::listen(fd, 16) == 0);
  return fd;
}

ssize_t send_some(int fd, std::string_view bytes) {
  return ::send(fd, bytes.data(), std::min(bytes.size(), std::size_t{256} << 10),
                MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool readable(int fd) {
  pollfd what{fd, POLLIN, 0};
  return ::poll(&what, 1, 0) > 0;
}

} // namespace

void loop::until(const std::function<bool()>& done, const char* what,
                 std::chrono::seconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!done()) {
    REQUIRE_MESSAGE(std::chrono::steady_clock::now() < end,
                    "waited in vain for " << std::string(what));
    io.restart();
    io.run_one_for(20ms);
  }
}

void loop::settle() {
  io.restart();
  io.poll();
}

raw_peer::raw_peer(loop& on, std::uint16_t port)
    : loop_(on), fd_(connected(AF_INET, loopback(port))) {}

raw_peer::raw_peer(loop& on, const std::string& unix_path)
    : loop_(on), fd_(connected(AF_UNIX, local(unix_path))) {}

raw_peer::~raw_peer() {
  close();
}

void raw_peer::close() {
  if (fd_ >= 0)
    ::close(fd_);
  fd_ = -1;
}

void raw_peer::shutdown_write() {
  ::shutdown(fd_, SHUT_WR);
}

void raw_peer::write(std::string_view bytes) {
  loop_.until(
    [&] {
      const auto n = send_some(fd_, bytes);
      if (n < 0)
        return errno != EAGAIN; // the peer closed; what it said is still to be read
      bytes.remove_prefix(static_cast<std::size_t>(n));
      return bytes.empty();
    },
    "room to write");
}

std::size_t raw_peer::write_till_full(std::string_view bytes) {
  std::size_t written = 0;
  for (int full = 0; full < 2 && written < bytes.size();) {
    const auto n = send_some(fd_, bytes.substr(written));
    full = n > 0 ? 0 : full + 1;
    written += n > 0 ? static_cast<std::size_t>(n) : 0;
    loop_.settle();
  }
  return written;
}

/// Takes what is there; false when nothing was.
bool raw_peer::fill() {
  char some[65536];
  bool any = false;
  while (!ended_) {
    const auto n = ::recv(fd_, some, sizeof some, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN)
      break;
    any = true;
    if (n <= 0)
      ended_ = true;
    else
      in_.append(some, static_cast<std::size_t>(n));
  }
  return any;
}

bool raw_peer::ended() {
  fill();
  return ended_;
}

std::string raw_peer::read_until(std::string_view text) {
  std::size_t at = std::string::npos;
  loop_.until(
    [&] {
      fill();
      return (at = in_.find(text)) != std::string::npos || ended_;
    },
    std::string(text).c_str());
  at = in_.find(text);
  REQUIRE_MESSAGE(at != std::string::npos,
                  "the peer ended before " << std::string(text) << "; it said: " << in_);
  auto out = in_.substr(0, at + text.size());
  in_.erase(0, out.size());
  return out;
}

std::string raw_peer::read_exactly(std::size_t n) {
  loop_.until(
    [&] {
      fill();
      return in_.size() >= n || ended_;
    },
    "bytes of the peer");
  REQUIRE_MESSAGE(in_.size() >= n, "the peer ended early; it said: " << in_);
  auto out = in_.substr(0, n);
  in_.erase(0, n);
  return out;
}

std::string raw_peer::read_all() {
  loop_.until(
    [&] {
      fill();
      return ended_;
    },
    "the peer to close");
  return std::exchange(in_, {});
}

raw_listener::raw_listener(loop& on) : loop_(on), fd_(listening(AF_INET, loopback(0))) {
  sockaddr_in name{};
  socklen_t size = sizeof name;
  REQUIRE(::getsockname(fd_, reinterpret_cast<sockaddr*>(&name), &size) == 0);
  port_ = ntohs(name.sin_port);
}

raw_listener::raw_listener(loop& on, const std::string& unix_path)
    : loop_(on), fd_(listening(AF_UNIX, local(unix_path))) {}

raw_listener::~raw_listener() {
  ::close(fd_);
}

std::unique_ptr<raw_peer> raw_listener::accept() {
  loop_.until([&] { return readable(fd_); }, "a connection");
  const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  REQUIRE(fd >= 0);
  return std::make_unique<raw_peer>(loop_, fd);
}

bool raw_listener::quiet() const {
  return !readable(fd_);
}

std::shared_ptr<server> serve(loop& on, server_handlers handlers, const server_limits& bounds,
                              const endpoint& where) {
  std::string error;
  auto out = listen(on.io, where, std::move(handlers), bounds, error);
  REQUIRE_MESSAGE(out, error);
  return out;
}

target tcp_target(std::uint16_t port) {
  target out;
  out.host = "127.0.0.1";
  out.port = port;
  return out;
}

target unix_target(const std::string& path) {
  target out;
  out.unix_path = path;
  return out;
}

} // namespace ahpd::tests
