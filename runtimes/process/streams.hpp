#pragma once

#include "runtimes/exec.hpp"
#include "runtimes/process/descriptor.hpp"

#include <sys/types.h>

#include <optional>

namespace ahpd::process {

/// Both sides of a child's three streams before it starts. Every descriptor is above 2 and
/// close-on-exec, so that giving the child one never overwrites another.
struct streams {
  descriptor child_input, child_output, child_error; ///< `child_error` none: the same as its output
  descriptor input, output, error;                   ///< ours, non-blocking
  int problem = 0; ///< not 0: the errno why these could not be made
};

/// Pipes for output and error, and for input unless that is to be empty.
streams make_pipes(bool input);

/// A pseudo-terminal; `owner`, when given, may open it by name.
streams make_terminal(runtimes::window_size size, std::optional<uid_t> owner);

/// Tells the terminal behind `master`, and so its programs, its new size.
void resize_terminal(int master, runtimes::window_size size);

} // namespace ahpd::process
