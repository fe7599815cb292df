#pragma once

#include <string>
#include <vector>

namespace ahpd::cli {

/// Does what the words behind the program's name ask for; the program's exit code: 0 done, 1 a
/// state that forbids it, 2 wrong words.
int run(const std::vector<std::string>& words);

} // namespace ahpd::cli
