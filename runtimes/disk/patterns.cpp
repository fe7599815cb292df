#include "runtimes/disk/patterns.hpp"

#include "runtimes/host/glob.hpp"

#include <algorithm>

namespace ahpd::disk {

bool is_of(std::string_view pattern, std::string_view path) {
  if (pattern.starts_with("./"))
    pattern.remove_prefix(2);
  if (pattern.find('/') == std::string_view::npos && pattern.find("**") == std::string_view::npos)
    path.remove_prefix(path.rfind('/') + 1); // npos + 1 is 0
  return runtimes::matches_pattern(pattern, path, runtimes::brackets::sets);
}

bool is_of_any(const std::vector<std::string>& patterns, std::string_view path) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const auto& each) { return is_of(each, path); });
}

bool wants_hidden(std::string_view pattern) {
  if (pattern.starts_with("./"))
    pattern.remove_prefix(2);
  return pattern.starts_with('.') || pattern.find("/.") != std::string_view::npos;
}

} // namespace ahpd::disk
