#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ahpd::ahp {

/// How many lines an edit put in and took out (AHP "FileEdit", `diff`).
struct line_counts {
  std::int64_t added = 0;
  std::int64_t removed = 0;
};

/// Counts the lines that differ, of the shortest way from one text to the other; of texts that are
/// far apart, where finding it would take long, all lines between the first and the last that
/// differ. Nothing when one of them is no text.
std::optional<line_counts> count_lines(std::string_view before, std::string_view after);

} // namespace ahpd::ahp
