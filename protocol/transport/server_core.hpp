#pragma once

#include "protocol/transport/server.hpp"

#include <map>
#include <mutex>

namespace ahpd::transport {

/// What a server's connections share. Any thread.
class server_core : public std::enable_shared_from_this<server_core> {
public:
  /// One admitted connection: counts as long as it lives, and says how to end it.
  class ticket {
  public:
    ticket(std::shared_ptr<server_core> of, std::uint64_t id) : of_(std::move(of)), id_(id) {}
    ~ticket();
    ticket(const ticket&) = delete;
    ticket& operator=(const ticket&) = delete;

    /// How the connection is ended from now on. Called at once when the server is closing.
    void ends_by(std::function<void(const std::string& why)> end);

  private:
    const std::shared_ptr<server_core> of_;
    const std::uint64_t id_;
  };

  server_core(server_handlers by, const server_limits& within)
      : handlers(std::move(by)), bounds(within) {}

  const server_handlers handlers;
  const server_limits bounds;

  /// Null when there are too many connections, or the server is closing.
  std::shared_ptr<ticket> admit();
  /// Ends every connection, and those that come later.
  void close(std::string_view why);
  bool closing() const;

private:
  mutable std::mutex guard_;
  std::map<std::uint64_t, std::function<void(const std::string&)>> open_;
  std::uint64_t last_id_ = 0;
  bool closing_ = false;
  std::string why_;
};

} // namespace ahpd::transport
