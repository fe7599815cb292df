#pragma once

#include "actors/sandbox/front.hpp"

/// What the daemon says of itself and its machine.
namespace ahpd::sandbox {

std::vector<handler> info_handlers();

} // namespace ahpd::sandbox
