#pragma once

#include <string>
#include <vector>

/// The verbs that handle the hub in the background. Each takes the words behind it and gives the
/// program's exit code.
namespace ahpd::cli {

int start_verb(const std::vector<std::string>& words);
int stop_verb(const std::vector<std::string>& words);
int restart_verb(const std::vector<std::string>& words);
int status_verb(const std::vector<std::string>& words);

} // namespace ahpd::cli
