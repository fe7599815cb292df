#include "protocol/ahp/line_counts.hpp"

#include "protocol/utf8.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace ahpd::ahp {

namespace {

/// Edits that the search goes to; its time grows with their square.
constexpr std::int64_t most_edits = 1000;

using line_ids = std::vector<std::uint32_t>;

bool is_text(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos && utf8::valid(bytes);
}

/// The lines of a text as numbers, equal ones the same.
line_ids lines_of(std::string_view text,
                  std::unordered_map<std::string_view, std::uint32_t>& known) {
  line_ids out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end == std::string_view::npos ? end : end + 1);
    out.push_back(known.emplace(line, static_cast<std::uint32_t>(known.size())).first->second);
    text.remove_prefix(line.size());
  }
  return out;
}

/// How many lines have to be put in or taken out (Myers, "An O(ND) Difference Algorithm"); nothing
/// when they are more than `most_edits`.
std::optional<std::int64_t> distance(const std::uint32_t* a, std::int64_t n, const std::uint32_t* b,
                                     std::int64_t m) {
  const auto most = std::min(n + m, most_edits);
  std::vector<std::int64_t> furthest(static_cast<std::size_t>(2 * most + 3), 0);
  const auto at = [&](std::int64_t k) -> std::int64_t& {
    return furthest[static_cast<std::size_t>(k + most + 1)];
  };
  for (std::int64_t d = 0; d <= most; ++d) {
    for (auto k = -d; k <= d; k += 2) {
      auto x = k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      while (x < n && x - k < m && a[x] == b[x - k])
        ++x;
      at(k) = x;
      if (x >= n && x - k >= m)
        return d;
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<line_counts> count_lines(std::string_view before, std::string_view after) {
  if (!is_text(before) || !is_text(after))
    return std::nullopt;
  std::unordered_map<std::string_view, std::uint32_t> known;
  const auto a = lines_of(before, known);
  const auto b = lines_of(after, known);
  const auto same = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto first = same.first - a.begin();
  const auto tail = std::mismatch(a.rbegin(), a.rend() - first, b.rbegin(), b.rend() - first);
  const auto n = tail.first.base() - a.begin() - first;
  const auto m = tail.second.base() - b.begin() - first;
  const auto edits = n == 0 || m == 0 ? n + m : distance(a.data() + first, n, b.data() + first, m);
  if (!edits)
    return line_counts{m, n};
  // added + removed are the edits, and added - removed is what the text grew by
  return line_counts{(*edits + m - n) / 2, (*edits - m + n) / 2};
}

} // namespace ahpd::ahp
