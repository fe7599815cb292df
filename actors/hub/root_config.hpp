#pragma once

#include "actors/hub/connection.hpp"

#include <optional>
#include <string>

/// The configuration in the root state (AHP "Root channel"). Its values are each connection's own
/// (spec "Config and pickers"): every client sees what it set itself, and nobody else does.
namespace ahpd::hub {

/// What there is to set: ConfigSchema.
json::object root_config_schema(const services& host);

/// The values of a connection.
json::object root_config_values(const connection_state& st);

/// Takes a `root/configChanged` of this connection's client: what follows it on the connection
/// finds it done. Gives the sentence of a refusal, and then nothing has changed.
std::optional<std::string> change_root_config(connection_state& st, const json::value& action);

} // namespace ahpd::hub
