#pragma once

#include <string_view>

namespace ahpd::runtimes {

/// What "[" is in a pattern.
enum class brackets : std::uint8_t {
  plain, ///< itself
  sets,  ///< the beginning of `[a-z]` or `[!a-z]`: one character of a name; itself without an end
};

/// Whether a relative path is of a pattern: `*` and `?` stay within a name, `**` goes over folders
/// and `**/` over none too; all else stands for itself. Time grows with the product of the sizes.
bool matches_pattern(std::string_view pattern, std::string_view path,
                     brackets are = brackets::plain);

} // namespace ahpd::runtimes
