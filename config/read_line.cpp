#include "config/nearest.hpp"
#include "config/settings.hpp"

#include <algorithm>

namespace ahpd::config {

namespace {

constexpr std::size_t most_flags = 4096;

const setting* find_flag(std::string_view name) {
  const auto all = settings();
  const auto found =
    std::find_if(all.begin(), all.end(), [&](const setting& s) { return s.flag == name; });
  return found == all.end() || name.empty() ? nullptr : &*found;
}

std::string hint(const std::string& name) {
  std::vector<std::string_view> known;
  for (const auto& s : settings())
    if (s.served() && !s.flag.empty())
      known.push_back(s.flag);
  const auto meant = nearest(name, known);
  return meant.empty() ? "ahpd --help lists them." : "did you mean " + meant + "?";
}

/// What the next flag of the line is, its value included.
struct flag_reader {
  const std::vector<std::string>& flags;
  const std::string& base;
  std::size_t at = 0;

  /// Reads one flag into `to`; gives the refusal's sentence, or an empty text.
  std::string read_one(layer& to) {
    const std::string& word = flags[at++];
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const setting* which = word.rfind("--", 0) == 0 ? find_flag(name) : nullptr;
    if (!which)
      return name + " is not an option of ahpd; " + hint(name);
    if (!which->served())
      return name + " is not served by this version";
    std::string value;
    if (which->value.empty()) {
      if (equals != std::string::npos)
        return name + " takes no value";
    } else if (equals != std::string::npos) {
      value = word.substr(equals + 1);
    } else if (at == flags.size() || flags[at].rfind("--", 0) == 0) {
      return name + " needs a value; write " + name + "=" + std::string(which->value) +
             " for one that begins with --";
    } else {
      value = flags[at++];
    }
    const auto wrong = set_from_flag(*which, value, base, to);
    return wrong.empty() ? wrong : name + ' ' + wrong;
  }
};

} // namespace

std::variant<layer, start_refusal> read_line(const std::vector<std::string>& flags,
                                             const std::string& working_directory) {
  if (flags.size() > most_flags)
    return start_refusal{2, "There are more than " + std::to_string(most_flags) + " options."};
  layer out;
  flag_reader reader{flags, working_directory};
  while (reader.at < flags.size()) {
    const auto sentence = reader.read_one(out);
    if (!sentence.empty())
      return start_refusal{2, sentence};
  }
  return out;
}

} // namespace ahpd::config
