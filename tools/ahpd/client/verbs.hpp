#pragma once

#include "tools/ahpd/client/failure.hpp"

#include <string>
#include <vector>

namespace ahpd::client {

/// Each runs one verb and gives the exit code. They throw client_failure, hub_refusal and
/// connection_lost.
int run_verb(const std::vector<std::string>& args);
int session_verb(const std::vector<std::string>& args);
int computer_verb(const std::vector<std::string>& args);

} // namespace ahpd::client
