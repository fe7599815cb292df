#pragma once

#include <string_view>

namespace ahpd::runtimes {

/// Whether a relative path is of a pattern: `*` and `?` stay within a name, `**` goes over folders
/// and `**/` over none too; all else stands for itself. Time grows with the product of the sizes.
bool matches_pattern(std::string_view pattern, std::string_view path);

} // namespace ahpd::runtimes
