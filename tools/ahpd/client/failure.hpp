#pragma once

#include <string>

namespace ahpd::client {

inline constexpr int exit_refused = 1;
inline constexpr int exit_wrong_words = 2;
inline constexpr int exit_interrupted = 130;

/// Thrown to end a verb: what went wrong, and what a person can do now.
struct client_failure {
  int exit_code = exit_refused;
  std::string sentence;
  std::string next_step; ///< may be empty
};

/// A request that the hub answered with an error.
struct hub_refusal {
  int code = 0;
  std::string message;
};

/// The connection ended before what was waited for had come.
struct connection_lost {
  std::string why;
};

} // namespace ahpd::client
