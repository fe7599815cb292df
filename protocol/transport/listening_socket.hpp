#pragma once

#include "protocol/transport/server.hpp"

namespace ahpd::transport {

/// A bound, listening, non-blocking, close-on-exec descriptor. A Unix socket's file is removed with
/// it.
class listening_socket {
public:
  listening_socket() = default;
  listening_socket(listening_socket&& other) noexcept { *this = std::move(other); }
  listening_socket& operator=(listening_socket&& other) noexcept;
  ~listening_socket() { remove_file(); }

  int descriptor = -1; ///< whoever waits on it closes it
  int family = 0;
  std::uint16_t port = 0;

  /// Removes the file when it is still the one that was made here.
  void remove_file();

private:
  friend listening_socket bind_socket(const endpoint& where, std::string& error);

  std::string path_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
};

/// Binds and listens; `descriptor` is -1 with a sentence in `error` when that is not possible. A
/// Unix socket's stale file is replaced only when nobody answers on it.
listening_socket bind_socket(const endpoint& where, std::string& error);

} // namespace ahpd::transport
