#pragma once

#include <map>
#include <string>

namespace ahpd::aiod {

/// Makes the directory for sockets and scratch files, 0700, and gives its path: the one that was
/// asked for, else /run/aiod, else $XDG_RUNTIME_DIR/aiod, else one for this user among temporary
/// files. Throws std::runtime_error with a sentence when there is none.
std::string make_runtime_directory(const std::string& wanted,
                                   const std::map<std::string, std::string>& environment);

} // namespace ahpd::aiod
