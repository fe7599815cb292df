#include "runtimes/host/glob.hpp"

#include <vector>

namespace ahpd::runtimes {

namespace {

/// How long the set at the beginning of a pattern is; 0: there is none.
std::size_t set_size(std::string_view pattern) {
  if (pattern.front() != '[')
    return 0;
  const std::size_t first = pattern.size() > 1 && (pattern[1] == '!' || pattern[1] == '^') ? 2 : 1;
  const auto end = pattern.find(']', first + 1); // "]" may be the first of a set
  return end == std::string_view::npos ? 0 : end + 1;
}

bool is_in_set(std::string_view set, char c) {
  set = set.substr(1, set.size() - 2);
  const bool negated = set.front() == '!' || set.front() == '^';
  if (negated)
    set.remove_prefix(1);
  const auto byte = [](char each) { return static_cast<unsigned char>(each); };
  bool found = false;
  while (!set.empty()) {
    const bool is_range = set.size() > 2 && set[1] == '-';
    found = found || (is_range ? byte(set[0]) <= byte(c) && byte(c) <= byte(set[2]) : set[0] == c);
    set.remove_prefix(is_range ? 3 : 1);
  }
  return found != negated && c != '/';
}

} // namespace

bool matches_pattern(std::string_view pattern, std::string_view path, brackets are) {
  // `at[i]`: the pattern so far takes the first i bytes of the path.
  std::vector<bool> at(path.size() + 1, false);
  at[0] = true;
  while (!pattern.empty()) {
    const bool folders = pattern.substr(0, 3) == "**/";
    const bool all = pattern.substr(0, 2) == "**";
    const bool star = pattern.front() == '*';
    const auto set = are == brackets::sets ? set_size(pattern) : 0;
    if (star) {
      bool open = false;
      for (std::size_t i = 0; i <= path.size(); ++i) {
        if (!all && i > 0 && path[i - 1] == '/')
          open = false;
        open = open || at[i];
        at[i] = at[i] || (open && (!folders || (i > 0 && path[i - 1] == '/')));
      }
    } else {
      const auto takes = [&](char c) {
        if (set > 0)
          return is_in_set(pattern.substr(0, set), c);
        return pattern.front() == '?' ? c != '/' : pattern.front() == c;
      };
      for (std::size_t i = path.size(); i > 0; --i)
        at[i] = at[i - 1] && takes(path[i - 1]);
      at[0] = false;
    }
    pattern.remove_prefix(folders ? 3 : all ? 2 : set > 0 ? set : 1);
  }
  return at[path.size()];
}

} // namespace ahpd::runtimes
