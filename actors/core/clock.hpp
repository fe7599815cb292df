#pragma once

#include <cstdint>

namespace ahpd::core {

/// Unix time in milliseconds.
std::int64_t now_ms();

} // namespace ahpd::core
