#pragma once

#include <cstdint>
#include <string>

namespace ahpd::core {

/// 128 random bits as 32 hexadecimal digits, from the system's generator.
std::string random_id();

/// Unix time in milliseconds.
std::int64_t now_ms();

} // namespace ahpd::core
