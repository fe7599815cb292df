#include "tools/ahpd/cli.hpp"

#include "config/nearest.hpp"
#include "tools/ahpd/client/client.hpp"
#include "tools/ahpd/completion.hpp"
#include "tools/ahpd/daemon.hpp"
#include "tools/ahpd/foreground.hpp"
#include "tools/ahpd/help.hpp"
#include "tools/ahpd/print.hpp"

#include <algorithm>

namespace ahpd::cli {

namespace {

using strings = std::vector<std::string>;

bool holds(const strings& words, std::string_view a, std::string_view b) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return word == a || word == b; });
}

int wrong(const std::string& sentence) {
  say(sentence);
  return 2;
}

std::string all_verbs() {
  std::string out;
  for (const auto& v : verbs())
    if (!v.name.empty())
      out += (out.empty() ? "" : ", ") + std::string(v.name);
  return out;
}

int unknown_verb(const std::string& name) {
  if (is_unserved_verb(name))
    return wrong("ahpd " + name + " is not served by this version; it has " + all_verbs() + ".");
  std::vector<std::string_view> names;
  for (const auto& v : verbs())
    if (!v.name.empty())
      names.push_back(v.name);
  const auto meant = config::nearest(name, names);
  return wrong("ahpd has no verb " + name + "; " +
               (meant.empty() ? "it has " + all_verbs() + "." : "did you mean " + meant + "?"));
}

int help_verb(const strings& words) {
  if (words.size() > 1)
    return wrong("ahpd help takes one verb.");
  const verb* which = find_verb(words.empty() ? "" : words.front());
  if (!which)
    return unknown_verb(words.front());
  if (client::is_client_verb(std::string(which->name)))
    print(client::help_text(std::string(which->name)));
  else
    print(help_of(*which));
  return 0;
}

int completion_verb(const strings& words) {
  const auto script = words.size() == 1 ? completion_script(words.front()) : std::string();
  if (script.empty())
    return wrong("ahpd completion takes one shell: bash, zsh or fish.");
  print(script);
  return 0;
}

int run_verb(const std::string& name, const strings& words) {
  if (name == "start")
    return start_verb(words);
  if (name == "stop")
    return stop_verb(words);
  if (name == "restart")
    return restart_verb(words);
  if (name == "status")
    return status_verb(words);
  if (name == "completion")
    return completion_verb(words);
  return help_verb(words);
}

} // namespace

int run(const strings& words) {
  const bool has_verb = !words.empty() && words.front().rfind('-', 0) != 0;
  const std::string name = has_verb ? words.front() : std::string();
  const strings rest(words.begin() + (has_verb ? 1 : 0), words.end());
  if (client::is_client_verb(name))
    return client::client_main(name, rest);
  const verb* which = find_verb(name);
  if (!which || (has_verb && name.empty()))
    return unknown_verb(name);
  if (holds(rest, "--help", "-h")) {
    print(help_of(*which));
    return 0;
  }
  if (holds(rest, "--version", "-v")) {
    print("ahpd " AHPD_VERSION "\n");
    return 0;
  }
  return has_verb ? run_verb(name, rest) : run_foreground(rest);
}

} // namespace ahpd::cli
