#include "runtimes/host/glob.hpp"

#include <vector>

namespace ahpd::runtimes {

bool matches_pattern(std::string_view pattern, std::string_view path) {
  // `at[i]`: the pattern so far takes the first i bytes of the path.
  std::vector<bool> at(path.size() + 1, false);
  at[0] = true;
  while (!pattern.empty()) {
    const bool folders = pattern.substr(0, 3) == "**/";
    const bool all = pattern.substr(0, 2) == "**";
    const bool star = pattern.front() == '*';
    if (star) {
      bool open = false;
      for (std::size_t i = 0; i <= path.size(); ++i) {
        if (!all && i > 0 && path[i - 1] == '/')
          open = false;
        open = open || at[i];
        at[i] = at[i] || (open && (!folders || (i > 0 && path[i - 1] == '/')));
      }
    } else {
      for (std::size_t i = path.size(); i > 0; --i)
        at[i] = at[i - 1] &&
                (pattern.front() == '?' ? path[i - 1] != '/' : pattern.front() == path[i - 1]);
      at[0] = false;
    }
    pattern.remove_prefix(folders ? 3 : all ? 2 : 1);
  }
  return at[path.size()];
}

} // namespace ahpd::runtimes
