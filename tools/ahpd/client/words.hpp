#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ahpd::client {

/// One flag of a verb, with its dashes.
struct flag {
  std::string_view name;
  bool takes_value = false;
};

/// The words of one verb, taken apart.
struct words {
  std::string verb; ///< as a person typed it: "computer create"
  std::map<std::string, std::string, std::less<>> values;
  std::vector<std::string> rest; ///< what is no flag, in order

  bool has(std::string_view name) const { return values.count(name) > 0; }
  std::optional<std::string> value(std::string_view name) const;
};

/// Takes words apart by the verb's own flags and those of every client verb (--remote, --token,
/// --token-file, --json, --quiet). `--flag VALUE` and `--flag=VALUE` are the same; `--` ends the
/// flags. Throws client_failure for a flag that is not known, repeated or lacks its value.
words parse_words(std::string verb, const std::vector<std::string>& args,
                  const std::vector<flag>& flags);

/// Throws client_failure with exit code 2, naming the verb's help.
[[noreturn]] void wrong_words(const words& of, std::string sentence);

} // namespace ahpd::client
