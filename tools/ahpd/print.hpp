#pragma once

#include <string_view>

namespace ahpd::cli {

/// Writes to standard output at once, in one write where the system takes it whole.
void print(std::string_view text);

/// A sentence on standard error.
void say(std::string_view sentence);

} // namespace ahpd::cli
