#pragma once

#include "runtimes/exec.hpp"
#include "runtimes/process/descriptor.hpp"

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ahpd::process {

/// Whom a program runs as.
struct identity {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups; ///< supplementary ones
};

/// A program to start, with everything it is to see; nothing is inherited but limits and umask.
struct spawn_request {
  std::vector<std::string> argv;
  std::map<std::string, std::string> env; ///< the whole environment; its PATH finds the program
  std::string directory;                  ///< empty: the daemon's own
  std::optional<identity> as;             ///< needs root
  std::optional<runtimes::window_size> terminal;
  bool input = false; ///< false: standard input is /dev/null
};

/// A started child and this side's ends of its streams, all non-blocking.
struct spawned {
  pid_t pid = -1;    ///< leads a session and a process group of its own
  descriptor pidfd;  ///< readable when it has ended
  descriptor input;  ///< none without input, and on a terminal
  descriptor output; ///< on a terminal its master, for both directions
  descriptor error;  ///< none on a terminal
};

struct spawn_result {
  std::optional<spawned> child;
  std::string refused; ///< a sentence for a person when there is no child
};

/// Starts a program. The child is in `children::of_this_process()` until it is collected there.
///
/// Returns when the program was loaded or could not be, which is well under a millisecond on a
/// local file system. The child has default signal dispositions, an empty mask and descriptors 0 to
/// 2 only.
spawn_result spawn(const spawn_request& what);

} // namespace ahpd::process
