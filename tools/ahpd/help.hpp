#pragma once

#include "tools/ahpd/verbs.hpp"

#include <string>

namespace ahpd::cli {

/// What `--help` shows for a verb; for the program without one, the list of verbs too.
std::string help_of(const verb& which);

} // namespace ahpd::cli
