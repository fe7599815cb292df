#include "tools/ahpd/client/words.hpp"

#include "tools/ahpd/client/failure.hpp"

#include <algorithm>

namespace ahpd::client {

namespace {

const std::vector<flag> common{
  {"--remote", true}, {"--token", true}, {"--token-file", true}, {"--json"}, {"--quiet"}};

const flag* find_flag(const std::vector<flag>& flags, std::string_view name) {
  const auto same = [&](const flag& f) { return f.name == name; };
  for (const auto* list : {&flags, &common}) {
    const auto found = std::find_if(list->begin(), list->end(), same);
    if (found != list->end())
      return &*found;
  }
  return nullptr;
}

} // namespace

std::optional<std::string> words::value(std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

void wrong_words(const words& of, std::string sentence) {
  throw client_failure{exit_wrong_words, "ahpd " + of.verb + ": " + std::move(sentence),
                       "See `ahpd " + of.verb.substr(0, of.verb.find(' ')) + " --help`."};
}

words parse_words(std::string verb, const std::vector<std::string>& args,
                  const std::vector<flag>& flags) {
  words out;
  out.verb = std::move(verb);
  bool flags_may_come = true;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& word = args[i];
    if (!flags_may_come || word.size() < 2 || word[0] != '-') {
      out.rest.push_back(word);
      continue;
    }
    if (word == "--") {
      flags_may_come = false;
      continue;
    }
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const flag* known = find_flag(flags, name);
    if (!known)
      wrong_words(out, "`" + name + "` is not a flag of this verb");
    std::string value;
    if (known->takes_value) {
      if (equals != std::string::npos)
        value = word.substr(equals + 1);
      else if (i + 1 < args.size())
        value = args[++i];
      else
        wrong_words(out, "`" + name + "` needs a value");
    } else if (equals != std::string::npos) {
      wrong_words(out, "`" + name + "` takes no value");
    }
    if (!out.values.emplace(name, std::move(value)).second)
      wrong_words(out, "`" + name + "` is given twice");
  }
  if (out.has("--json") && out.has("--quiet"))
    wrong_words(out, "`--json` and `--quiet` contradict each other");
  return out;
}

} // namespace ahpd::client
