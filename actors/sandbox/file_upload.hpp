#pragma once

#include "actors/sandbox/file_call.hpp"

#include <vector>

namespace ahpd::sandbox {

/// Files of any size that come in a form.
std::vector<handler> file_upload_handlers();

} // namespace ahpd::sandbox
