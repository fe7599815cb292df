#include "actors/sandbox/file_answers.hpp"

#include "actors/sandbox/file_call.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

namespace ahpd::sandbox {

std::string permissions_text(mode_t mode) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%o", static_cast<unsigned>(mode));
  return text.data();
}

json::value extension_of(const disk::entry& what) {
  if (what.is_folder)
    return nullptr;
  const auto dot = what.name.rfind('.');
  const bool has = dot != std::string::npos && dot > 0 && dot + 1 < what.name.size();
  return json::value(json::string(has ? shown_name(what.name.substr(dot)) : std::string()));
}

std::string joined_path(const std::string& root, const std::string& below) {
  return root.empty() || root.back() != '/' ? root + "/" + below : root + below;
}

void sort_entries(std::vector<disk::entry>& entries, std::string_view by, bool descending) {
  const auto type = [](const disk::entry& each) {
    return each.is_folder ? std::string() : std::filesystem::path(each.name).extension().string();
  };
  const auto order = [&](const disk::entry& a, const disk::entry& b) {
    if (by == "name")
      return a.name.compare(b.name);
    if (by == "size" && a.size != b.size)
      return a.size < b.size ? -1 : 1;
    if (by == "modified" && a.modified != b.modified)
      return a.modified < b.modified ? -1 : 1;
    if (by == "type" && a.is_folder != b.is_folder)
      return a.is_folder ? -1 : 1;
    return by == "type" ? type(a).compare(type(b)) : 0;
  };
  std::sort(entries.begin(), entries.end(), [&](const disk::entry& a, const disk::entry& b) {
    const int which = order(a, b);
    if (which != 0)
      return descending ? which > 0 : which < 0;
    return descending ? a.path > b.path : a.path < b.path;
  });
}

json::object listed_entry(const std::string& root, const disk::entry& what) {
  json::object out{
    {"name", shown_name(what.name)},   {"path", shown(joined_path(root, what.path))},
    {"is_directory", what.is_folder},  {"size", what.size},
    {"extension", extension_of(what)}, {"modified_time", std::to_string(what.modified)}};
  if (what.name.front() == '.')
    out["is_hidden"] = true;
  return out;
}

} // namespace ahpd::sandbox
