#pragma once

#include <string>
#include <vector>

namespace ahpd::cli {

/// Serves with the given flags until the hub ends; the program's exit code. Also what a launched
/// program does, which keeps the daemon's record too.
int run_foreground(const std::vector<std::string>& flags);

} // namespace ahpd::cli
