#pragma once

#include "actors/sandbox/file_call.hpp"

#include <vector>

namespace ahpd::sandbox {

/// Finding files by their names and by what is in them; either version.
std::vector<handler> file_search_handlers();

} // namespace ahpd::sandbox
