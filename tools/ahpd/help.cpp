#include "tools/ahpd/help.hpp"

#include <algorithm>

namespace ahpd::cli {

namespace {

constexpr std::size_t widest_name = 34;

std::string row(const std::string& name, std::string_view text, std::size_t width) {
  std::string out = "  " + name;
  if (name.size() > width)
    return out + '\n' + std::string(width + 4, ' ') + std::string(text) + '\n';
  return out + std::string(width - name.size() + 2, ' ') + std::string(text) + '\n';
}

std::string name_of(const flag& f) {
  return std::string(f.name) + (f.value.empty() ? "" : " ") + std::string(f.value);
}

std::string words(std::string_view a, std::string_view b) {
  return std::string(a) + (a.empty() || b.empty() ? "" : " ") + std::string(b);
}

} // namespace

std::string help_of(const verb& which) {
  std::string out = "Usage: ahpd " + words(which.name, which.usage) + '\n';
  if (which.name.empty())
    out += "       ahpd VERB [options]\n";
  out += '\n' + std::string(which.summary) + '\n';
  if (!which.text.empty())
    out += std::string(which.text) + '\n';
  if (which.name.empty()) {
    out += "\nVerbs:\n";
    std::size_t width = 0;
    for (const auto& v : verbs())
      width = std::max(width, v.name.size());
    for (const auto& v : verbs())
      if (!v.name.empty())
        out += row(std::string(v.name), v.summary, width);
    out += "  ahpd VERB --help tells more.\n";
  }
  const auto flags = flags_of(which);
  std::size_t width = 0;
  for (const auto& f : flags)
    width = std::max(width, std::min(name_of(f).size(), widest_name));
  out += "\nOptions:\n";
  for (const auto& f : flags)
    out += row(name_of(f), f.help, width);
  if (!which.examples.empty())
    out += "\nExamples:\n" + std::string(which.examples);
  return out;
}

} // namespace ahpd::cli
