#pragma once

#include "config/sandbox_options.hpp"

#include <map>
#include <string>

namespace ahpd::aiod {

/// Makes the daemon's own account, directories and environment ready. What is written there is
/// secret-free; see `serve`.
struct surroundings {
  std::map<std::string, std::string> environment; ///< for what is started
  std::string home;
};
surroundings settle(const std::map<std::string, std::string>& environment);

/// Serves until SIGTERM or SIGINT. The exit code: 0, or 1 when the address cannot be bound, with a
/// line on standard error.
int serve(config::sandbox_options options, const surroundings& here);

/// Prints what this machine has, a line a probe or as JSON. Always 0.
int doctor(config::sandbox_options options, const surroundings& here, bool as_json);

} // namespace ahpd::aiod
