#pragma once

#include <cstdint>

/// `SessionStatus` (AHP "Common types"): one activity in the low five bits, flags above it.
namespace ahpd::ahp::status {

inline constexpr std::int64_t idle = 1;
inline constexpr std::int64_t error = 2;
inline constexpr std::int64_t in_progress = 8;
inline constexpr std::int64_t input_needed = 24;
inline constexpr std::int64_t activity_mask = 31;
inline constexpr std::int64_t is_read = 32;
inline constexpr std::int64_t is_archived = 64;

} // namespace ahpd::ahp::status
