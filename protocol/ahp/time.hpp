#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ahpd::ahp {

/// Milliseconds since 1970 as `2026-11-30T10:00:00.000Z`. Years outside 0 to 9999 are clamped.
std::string iso8601(std::int64_t unix_ms);

/// The inverse, also of texts without a fraction or with another count of its digits, and with a
/// numeric zone (`+01:00`). Nothing for any other text.
std::optional<std::int64_t> parse_iso8601(std::string_view text);

} // namespace ahpd::ahp
