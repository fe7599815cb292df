#pragma once

#include <span>
#include <string_view>
#include <vector>

/// Every verb of the program and its flags: one table for dispatch, `--help` and the completions.
namespace ahpd::cli {

struct flag {
  std::string_view name;  ///< `--json`
  std::string_view value; ///< what help calls its value; empty: it takes none
  std::string_view help;
};

struct verb {
  std::string_view name;    ///< empty: the program without a verb
  std::string_view usage;   ///< what follows the verb on the line
  std::string_view summary; ///< one sentence
  std::string_view text;    ///< more, or empty
  bool run_flags;           ///< takes the flags of a run too
  std::vector<flag> flags;
  std::vector<std::string_view> words; ///< what may follow, for the completions
  std::string_view examples;           ///< lines, each ended
};

/// The program without a verb comes first.
std::span<const verb> verbs();

/// Null when there is none of that name.
const verb* find_verb(std::string_view name);

/// The flags of a verb, those of a run included where it takes them.
std::vector<flag> flags_of(const verb& which);

/// Verbs of other hosts that this version does not serve.
bool is_unserved_verb(std::string_view name);

} // namespace ahpd::cli
