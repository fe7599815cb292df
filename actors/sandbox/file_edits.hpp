#pragma once

#include "actors/sandbox/file_call.hpp"

#include <vector>

namespace ahpd::sandbox {

/// Changes of texts that can be undone.
std::vector<handler> file_edit_handlers();

} // namespace ahpd::sandbox
