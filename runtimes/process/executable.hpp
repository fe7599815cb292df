#pragma once

#include <map>
#include <string>

namespace ahpd::process {

/// Which file a command name means, or the errno why there is none.
struct found_executable {
  std::string path;
  int error = 0;
};

/// Whether `path` is a regular file that the daemon may execute.
bool can_execute(const std::string& path);

/// Looks `command` up in the PATH of `environment` (without one: the system's usual folders).
///
/// A name with a slash is taken as it is. Relative and empty parts of PATH are passed over: the
/// program starts in another directory than the daemon's.
found_executable find_executable(const std::string& command,
                                 const std::map<std::string, std::string>& environment);

} // namespace ahpd::process
