#pragma once

#include "protocol/transport/client.hpp"
#include "protocol/transport/server.hpp"
#include "tests/support/support.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace ahpd::tests {

using namespace ahpd::transport;
using namespace std::chrono_literals;

/// Runs the io_context on the test's own thread until `done`; fails the test after a deadline.
struct loop {
  boost::asio::io_context io;

  void until(const std::function<bool()>& done, const char* what,
             std::chrono::seconds deadline = 20s);
  /// Runs what is ready now.
  void settle();
};

/// A plain blocking socket, for peers that do odd things. Reads and writes run the loop meanwhile.
class raw_peer {
public:
  raw_peer(loop& on, std::uint16_t port);
  raw_peer(loop& on, const std::string& unix_path);
  raw_peer(loop& on, int accepted) : loop_(on), fd_(accepted) {}
  ~raw_peer();
  raw_peer(const raw_peer&) = delete;
  raw_peer& operator=(const raw_peer&) = delete;

  void write(std::string_view bytes);
  /// Writes what the kernel takes until the server reads nothing more; gives how much that was.
  std::size_t write_till_full(std::string_view bytes);
  /// Reads until the text was seen, and gives everything read so far and not yet taken, up to its
  /// end.
  std::string read_until(std::string_view text);
  std::string read_exactly(std::size_t n);
  /// Reads until the other side closed.
  std::string read_all();
  /// Takes what has come; true when the other side has closed.
  bool ended();
  void shutdown_write();
  void close();
  int descriptor() const { return fd_; }

private:
  bool fill();

  loop& loop_;
  int fd_ = -1;
  std::string in_;
  bool ended_ = false;
};

/// A listening socket whose connections the test serves by hand.
class raw_listener {
public:
  explicit raw_listener(loop& on); ///< loopback TCP
  raw_listener(loop& on, const std::string& unix_path);
  ~raw_listener();

  std::uint16_t port() const { return port_; }
  std::unique_ptr<raw_peer> accept();
  /// True when nobody waits to be accepted.
  bool quiet() const;

private:
  loop& loop_;
  int fd_ = -1;
  std::uint16_t port_ = 0;
};

/// Starts a server on loopback or fails the test.
std::shared_ptr<server> serve(loop& on, server_handlers handlers, const server_limits& bounds = {},
                              const endpoint& where = {});

target tcp_target(std::uint16_t port);
target unix_target(const std::string& path);

} // namespace ahpd::tests
