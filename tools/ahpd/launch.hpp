#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

/// Starting the program again in the background, and the socket over which the two speak until the
/// new one is ready: a token down, the announcement up.
namespace ahpd::cli {

struct launched {
  pid_t pid = 0;
  std::string announcement;     ///< empty: it ended before it was ready, or was not ready in time
  std::optional<int> exit_code; ///< when it ended by itself
  std::string output;           ///< the end of what it wrote to the log, when it was not ready
};

/// Starts this program in a session of its own with the given words, output to `log` (kept below
/// 5 MiB by one older file), and waits for its announcement. One that is not ready in time is
/// killed. Throws std::runtime_error when it cannot be started.
launched launch(const std::vector<std::string>& words, const std::string& token,
                const std::string& log, std::chrono::milliseconds limit);

/// The other end, in the program that was launched.
class launch_channel {
public:
  /// Nothing when this program was not launched. Takes the marks of it out of the environment.
  static std::optional<launch_channel> take();

  const std::string& token() const { return token_; }

  /// Tells the launcher that the program is ready, and lets it go.
  void ready(const std::string& announcement);

private:
  explicit launch_channel(int socket);
  int socket_;
  std::string token_;
};

} // namespace ahpd::cli
