#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// UTF-8 (RFC 3629) for streams that may be cut anywhere.
namespace ahpd::utf8 {

bool valid(std::string_view bytes);

/// How many bytes at the end begin a character that is not complete: 0 to 3.
std::size_t trailing_part(std::string_view bytes);

/// How many bytes at the start are the rest of a character whose beginning is not there: 0 to 3.
std::size_t leading_rest(std::string_view bytes);

/// The text with U+FFFD for each byte that belongs to no character.
std::string repaired(std::string_view bytes);

/// Where the UTF-16 code unit number `units` of valid UTF-8 begins, in bytes. Nothing when the text
/// is shorter, or when that is the second half of a character.
std::optional<std::size_t> at_utf16(std::string_view text, std::uint64_t units);

/// How many UTF-16 code units valid UTF-8 has.
std::uint64_t utf16_size(std::string_view text);

} // namespace ahpd::utf8
