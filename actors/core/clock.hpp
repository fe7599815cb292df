#pragma once

#include <cstdint>

namespace ahpd::core {

/// Unix time in milliseconds.
std::int64_t now_ms();

/// Unix time in nanoseconds.
std::int64_t now_ns();

} // namespace ahpd::core
