#pragma once

#include "runtimes/process/descriptor.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <set>
#include <string>

namespace ahpd::process {

/// The variable that names a run in the environment of all it started.
inline constexpr const char* marker_variable = "AHPD_RUN";

/// Which processes belong together: those of a session, and those with one of these markers in the
/// environment they were started with, or one that begins with it and a dot. Never the calling
/// process.
///
/// A process that was started with a changed environment and left the session is not found, nor is
/// one whose environment this user may not read.
struct process_tree {
  pid_t session = 0; ///< 0: none. The caller keeps its leader uncollected, so that it stays its own
  std::set<std::string> markers;
};

/// The functions below read /proc and block; they are for the pool.

/// A living process of the tree, held; none when all have ended, collected or not.
descriptor hold_any(const process_tree& tree);

/// Signals every process of the tree outside the process group `except`.
void signal_tree(const process_tree& tree, int number, pid_t except);

struct sweep_result {
  std::size_t killed = 0;
  std::string failure; ///< a sentence, when the tree may still live
};

/// SIGTERM to the tree, and SIGKILL to what is left of it after `grace`; returns sooner when
/// nothing is.
sweep_result end_tree(const process_tree& tree, std::chrono::milliseconds grace);

/// Kills the tree with SIGKILL, again and again until none of it is left, and waits for each to
/// end.
sweep_result kill_tree(const process_tree& tree);

} // namespace ahpd::process
