#pragma once

#include <string>

#include <sys/types.h>

namespace ahpd::config {

/// Tells a process from every other that has or will have its number: when it started, on which
/// boot. Empty when there is no such process, or none that has not ended.
std::string start_of(pid_t pid);

} // namespace ahpd::config
