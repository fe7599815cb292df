#include "protocol/transport/listening_socket.hpp"

#include "protocol/transport/pipe.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

namespace ahpd::transport {

namespace {

constexpr int backlog = 1024;

int open_socket(int family) {
  return ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

std::string system_text(int code) {
  return plain_text({code, boost::system::system_category()});
}

bool is_socket(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode);
}

/// True when a connect shows that no process listens there any more.
bool nobody_answers(const sockaddr_un& name) {
  const int fd = open_socket(AF_UNIX);
  if (fd < 0)
    return false;
  const bool refused = ::connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 &&
                       errno == ECONNREFUSED;
  ::close(fd);
  return refused;
}

/// 0, or errno. Mode 0600 is the socket's before it has a name, so no moment is open to others.
int bind_unix(int fd, const sockaddr_un& name) {
  if (::fchmod(fd, 0600) != 0)
    return errno;
  const auto bound = [&] {
    return ::bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name);
  };
  if (bound() == 0)
    return 0;
  if (errno != EADDRINUSE)
    return errno;
  if (!is_socket(name.sun_path) || !nobody_answers(name))
    return EADDRINUSE;
  ::unlink(name.sun_path);
  return bound() == 0 ? 0 : errno;
}

int bind_address(int fd, const addrinfo& name) {
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  return ::bind(fd, name.ai_addr, name.ai_addrlen) == 0 ? 0 : errno;
}

std::uint16_t bound_port(int fd) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size);
  return ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(name).sin6_port
                                          : reinterpret_cast<sockaddr_in&>(name).sin_port);
}

} // namespace

listening_socket& listening_socket::operator=(listening_socket&& other) noexcept {
  if (this != &other) {
    remove_file();
    descriptor = std::exchange(other.descriptor, -1);
    family = other.family;
    port = other.port;
    path_ = std::exchange(other.path_, {});
    device_ = other.device_;
    inode_ = other.inode_;
  }
  return *this;
}

void listening_socket::remove_file() {
  struct stat found {};
  if (!path_.empty() && ::lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ &&
      found.st_ino == inode_)
    ::unlink(path_.c_str());
  path_.clear();
}

listening_socket bind_socket(const endpoint& where, std::string& error) {
  listening_socket out;
  const auto failed = [&](const std::string& why) {
    const bool v6 = where.host.find(':') != std::string::npos;
    const std::string host = v6 ? "[" + where.host + "]" : where.host;
    error = "listen on " +
            (where.unix_path.empty() ? host + ":" + std::to_string(where.port) : where.unix_path) +
            ": " + why;
    if (out.descriptor >= 0)
      ::close(out.descriptor);
    return listening_socket();
  };
  error.clear();
  if (!where.unix_path.empty()) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    if (where.unix_path.size() >= sizeof name.sun_path)
      return failed("the path is longer than a socket's can be");
    std::memcpy(name.sun_path, where.unix_path.data(), where.unix_path.size());
    out.family = AF_UNIX;
    out.descriptor = open_socket(AF_UNIX);
    if (out.descriptor < 0)
      return failed(system_text(errno));
    if (const int code = bind_unix(out.descriptor, name))
      return failed(system_text(code));
    struct stat made {};
    if (::lstat(name.sun_path, &made) == 0) {
      out.path_ = where.unix_path;
      out.device_ = made.st_dev;
      out.inode_ = made.st_ino;
    }
  } else {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    if (const int code =
          ::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &found))
      return failed(::gai_strerror(code));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> names(found, ::freeaddrinfo);
    out.family = names->ai_family;
    out.descriptor = open_socket(out.family);
    if (out.descriptor < 0)
      return failed(system_text(errno));
    if (const int code = bind_address(out.descriptor, *names))
      return failed(system_text(code));
  }
  if (::listen(out.descriptor, backlog) != 0)
    return failed(system_text(errno));
  if (out.family != AF_UNIX)
    out.port = bound_port(out.descriptor);
  return out;
}

} // namespace ahpd::transport
