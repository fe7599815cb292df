#pragma once

#include "config/options.hpp"

#include <functional>
#include <string>

namespace ahpd {

/// Serves until SIGINT or SIGTERM ends it; the program's exit code. Calls `ready` once, when
/// connections are taken, with the announcement's text, which `ready` prints. The configuration
/// directory is there, and locked when sessions are kept in it. May throw std::exception for a
/// start that fails, its text one sentence.
int run_hub(config::run_options options,
            const std::function<void(const std::string& announcement)>& ready);

} // namespace ahpd
