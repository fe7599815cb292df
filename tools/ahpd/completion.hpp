#pragma once

#include <string>

namespace ahpd::cli {

/// The script for "bash", "zsh" or "fish"; empty for another shell.
std::string completion_script(const std::string& shell);

} // namespace ahpd::cli
