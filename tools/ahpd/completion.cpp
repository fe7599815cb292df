#include "tools/ahpd/completion.hpp"

#include "tools/ahpd/verbs.hpp"

#include <algorithm>
#include <map>

namespace ahpd::cli {

namespace {

enum class values { none, words, folders, files };

values values_of(const flag& f) {
  if (f.value == "DIR")
    return values::folders;
  if (f.value == "FILE" || f.value == "PATH")
    return values::files;
  return f.value.find('|') == std::string_view::npos ? values::none : values::words;
}

std::string spaced(std::string_view words) {
  std::string out(words);
  std::replace(out.begin(), out.end(), '|', ' ');
  return out;
}

/// A word that all three shells take as it is.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\'";
    out += c;
  }
  return out + '\'';
}

std::string words_after(const verb& which) {
  std::string out;
  for (const auto& word : which.words)
    out += std::string(word) + ' ';
  for (const auto& f : flags_of(which))
    out += std::string(f.name) + ' ';
  return out.substr(0, out.empty() ? 0 : out.size() - 1);
}

std::string verb_names() {
  std::string out;
  for (const auto& v : verbs())
    if (!v.name.empty())
      out += (out.empty() ? "" : " ") + std::string(v.name);
  return out;
}

/// Every flag that takes a value, once.
std::map<std::string_view, flag> value_flags() {
  std::map<std::string_view, flag> out;
  for (const auto& v : verbs())
    for (const auto& f : flags_of(v))
      if (!f.value.empty())
        out.emplace(f.name, f);
  return out;
}

std::string bash() {
  std::string out = "# bash completions of ahpd\n"
                    "_ahpd() {\n"
                    "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words\n"
                    "  case $prev in\n";
  for (const auto& [name, f] : value_flags()) {
    const char* generate = values_of(f) == values::folders ? "-d" : "-f";
    const std::string made = values_of(f) == values::none ? "()"
                             : values_of(f) == values::words
                               ? "($(compgen -W '" + spaced(f.value) + "' -- \"$cur\"))"
                               : "($(compgen " + std::string(generate) + " -- \"$cur\"))";
    out += "    " + std::string(name) + ") COMPREPLY=" + made + "; return ;;\n";
  }
  out += "  esac\n  case ${COMP_WORDS[1]} in\n";
  for (const auto& v : verbs())
    if (!v.name.empty())
      out += "    " + std::string(v.name) + ") words=" + quoted(words_after(v)) + " ;;\n";
  out += "    *) words=" + quoted(words_after(verbs().front())) +
         " ;;\n"
         "  esac\n"
         "  [ \"$COMP_CWORD\" -gt 1 ] || words=" +
         quoted(verb_names() + ' ' + words_after(verbs().front())) +
         "\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "}\n"
         "complete -o filenames -F _ahpd ahpd\n";
  return out;
}

std::string zsh_flag(const flag& f) {
  std::string spec = std::string(f.name) + '[' + std::string(f.help) + ']';
  const auto quoted_spec = quoted(spec);
  if (f.value.empty())
    return quoted_spec;
  const std::string action = values_of(f) == values::folders ? "_files -/"
                             : values_of(f) == values::files ? "_files"
                             : values_of(f) == values::words ? '(' + spaced(f.value) + ')'
                                                             : "";
  return quoted("*") + quoted_spec + quoted(":value:" + action);
}

std::string zsh_arguments(const verb& which, const std::string& first_word) {
  std::string out = "_arguments";
  for (const auto& f : flags_of(which))
    out += " \\\n        " + zsh_flag(f);
  return out + (first_word.empty() ? "" : " \\\n        " + quoted("1:word:(" + first_word + ')'));
}

std::string zsh() {
  std::string out = "#compdef ahpd\n"
                    "# zsh completions of ahpd\n"
                    "_ahpd() {\n"
                    "  local verb=${words[2]}\n"
                    "  (( CURRENT > 2 )) || verb=\n"
                    "  case $verb in\n";
  for (const auto& v : verbs()) {
    if (v.name.empty())
      continue;
    std::string words;
    for (const auto& word : v.words)
      words += std::string(word) + ' ';
    out += "    " + std::string(v.name) + ")\n      shift words; (( CURRENT-- ))\n      " +
           zsh_arguments(v, words) + " ;;\n";
  }
  out += "    *)\n      " + zsh_arguments(verbs().front(), verb_names()) +
         " ;;\n"
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _ahpd ]; then _ahpd \"$@\"; else compdef _ahpd ahpd; fi\n";
  return out;
}

std::string fish() {
  std::string out = "# fish completions of ahpd\n"
                    "complete -c ahpd -f\n";
  for (const auto& v : verbs()) {
    const std::string begin =
      "complete -c ahpd -n '" +
      (v.name.empty() ? "not __fish_seen_subcommand_from " + verb_names()
                      : "__fish_seen_subcommand_from " + std::string(v.name)) +
      "' ";
    if (!v.name.empty())
      out += "complete -c ahpd -n __fish_use_subcommand -a " + std::string(v.name) + " -d " +
             quoted(v.summary) + '\n';
    for (const auto& word : v.words)
      out += begin + "-a " + std::string(word) + '\n';
    for (const auto& f : flags_of(v)) {
      out += begin + "-l " + std::string(f.name.substr(2)) + " -d " + quoted(f.help);
      if (!f.value.empty())
        out += values_of(f) == values::files ? " -r -F" : " -x";
      if (values_of(f) == values::words)
        out += " -a " + quoted(spaced(f.value));
      else if (values_of(f) == values::folders)
        out += " -a '(__fish_complete_directories)'";
      out += '\n';
    }
  }
  return out;
}

} // namespace

std::string completion_script(const std::string& shell) {
  if (shell == "bash")
    return bash();
  if (shell == "zsh")
    return zsh();
  return shell == "fish" ? fish() : std::string();
}

} // namespace ahpd::cli
