#pragma once

#include "protocol/json.hpp"

#include <string>
#include <vector>

namespace ahpd::client {

using table = std::vector<std::vector<std::string>>;

/// Machines of the computers channel, a heading first.
table machine_rows(const json::array& records);

/// What is worth knowing of a machine's `status`, name and value in each row.
table machine_facts(const std::string& name, const std::string& state, const json::value& status);

/// A machine's `stats`, name and value in each row.
table stats_facts(const json::value& stats);

} // namespace ahpd::client
