#pragma once

#include <string>
#include <vector>

/// Tokens on the command line, which `ps` shows to everyone.
namespace ahpd::cli {

/// The words behind the program's name. Overwrites the tokens among them in place, so that they can
/// be seen no longer than it takes to get here.
std::vector<std::string> take_words(int argc, char** argv);

/// A run's flags without the token that was typed.
struct split_flags {
  std::vector<std::string> flags;
  std::string token;
  bool typed = false;
};
split_flags split_token(const std::vector<std::string>& flags);

/// The flags of a run with a token that came another way.
std::vector<std::string> with_token(std::vector<std::string> flags, const std::string& token);

} // namespace ahpd::cli
