#pragma once

#include "actors/sandbox/file_call.hpp"

#include <vector>

namespace ahpd::sandbox {

/// Reading, writing, listing, making, copying, moving and deleting; either version.
std::vector<handler> file_handlers();

} // namespace ahpd::sandbox
