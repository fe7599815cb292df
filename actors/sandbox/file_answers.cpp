#include "actors/sandbox/file_answers.hpp"

#include "actors/sandbox/file_call.hpp"

#include <array>
#include <cstdio>

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
