#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace ahpd::config {

/// What `daemon.json` says of the detached daemon of a configuration directory.
struct daemon_record {
  pid_t pid = 0;
  std::string
    process;       ///< `start_of(pid)`, so that another process with its number is not taken for it
  std::string url; ///< `ws://host:port`, without the token
  std::string connect_url; ///< `http://host:port/?tkn=<token>`
  std::vector<std::string> paths;
  std::string started_at;        ///< ISO 8601
  std::vector<std::string> argv; ///< the flags it was started with, never the token
  std::string cwd;               ///< where it was started, for what is relative in `argv`
  bool token_typed =
    false; ///< its token was on the line, so a restart finds it in `connect_url` only
};

/// The record of a daemon that is running. One whose process is gone, and one that cannot be read,
/// is removed and gives nothing.
std::optional<daemon_record> find_daemon(const std::string& directory);

/// Throws file_error.
void write_daemon(const std::string& directory, const daemon_record& record);

/// Removes the record when it is that of `pid`.
void clear_daemon(const std::string& directory, pid_t pid);

/// `http://host:port/?tkn=<token, percent-encoded>` for a `ws://` URL, with an address that can be
/// dialled in the place of a wildcard; without a token there is no query.
std::string connect_url(const std::string& url, const std::string& token);

/// The token in such a URL, decoded.
std::string token_of(const std::string& connect_url);

/// `2025-01-31T12:00:00Z` of a Unix time.
std::string iso_time(std::int64_t seconds);

/// Waits for other programs that start or stop the daemon of a directory, and keeps them waiting.
class launch_lock {
public:
  explicit launch_lock(const std::string& directory); ///< throws std::runtime_error
  ~launch_lock();
  launch_lock(const launch_lock&) = delete;
  launch_lock& operator=(const launch_lock&) = delete;

private:
  int file_;
};

/// Held by the one hub that uses a configuration directory's database, and gone with its process.
class directory_lock {
public:
  /// Throws std::runtime_error with a sentence that names the process that holds it.
  explicit directory_lock(const std::string& directory);
  ~directory_lock();
  directory_lock(const directory_lock&) = delete;
  directory_lock& operator=(const directory_lock&) = delete;

private:
  int file_;
};

} // namespace ahpd::config
