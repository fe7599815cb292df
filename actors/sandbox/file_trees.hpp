#pragma once

#include "actors/sandbox/file_call.hpp"

#include <vector>

namespace ahpd::sandbox {

/// Whole directories as tar archives.
std::vector<handler> file_tree_handlers();

} // namespace ahpd::sandbox
