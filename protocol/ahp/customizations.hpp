#pragma once

#include "protocol/json.hpp"

/// The steps of the session reducer that concern customizations and MCP servers.
namespace ahpd::ahp::reducing {

bool customization_toggled(json::object& state, const json::value& action);
bool customization_removed(json::object& state, const json::value& action);
bool mcp_server_state_changed(json::object& state, const json::value& action);
bool mcp_server_start_requested(json::object& state, const json::value& action);
bool mcp_server_stop_requested(json::object& state, const json::value& action);
bool mcp_server_background_requested(json::object& state, const json::value& action);

} // namespace ahpd::ahp::reducing
