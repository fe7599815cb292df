#pragma once

#include "runtimes/process/spawner.hpp"
#include "runtimes/process/streams.hpp"

namespace ahpd::process {

/// What both ways of starting a child take: C strings that outlive the call.
struct launch_plan {
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  const char* directory = nullptr; ///< none: the daemon's own
  const identity* as = nullptr;    ///< none: the daemon's own
  bool terminal = false;           ///< the input becomes the controlling terminal
  int input = -1;
  int output = -1;
  int error = -1;
};

/// A pid, or the errno why there is none.
struct launched {
  pid_t pid = -1;
  int error = 0;
};

/// By `posix_spawn`: no terminal, no other identity.
launched launch_plain(const launch_plan& plan);

/// By a vfork of our own, for what `posix_spawn` cannot do.
launched launch_special(const launch_plan& plan);

} // namespace ahpd::process
