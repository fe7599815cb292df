#pragma once

#include "actors/sandbox/file_call.hpp"

#include <vector>

namespace ahpd::sandbox {

/// Files as they are, whole or in part.
std::vector<handler> file_download_handlers();

} // namespace ahpd::sandbox
