#pragma once

#include "protocol/json.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// How a connection to an agent opens: `initialize`, `authenticate`, `session/new`, `session/load`.
namespace ahpd::acp {

/// The protocol version that this host speaks.
inline constexpr std::int64_t protocol_version = 1;

/// JSON-RPC error code of an agent that wants to be signed in (ACP "Error").
inline constexpr int auth_required = -32000;

/// What this host can do for an agent.
struct client_facts {
  bool files = false;
  bool terminals = false;
};

json::object initialize_params(std::string_view version, const client_facts& can);

/// What an agent said of itself.
struct agent_facts {
  bool load_session = false;
  bool image = false;
  bool audio = false;
  bool embedded = false; ///< takes the content of files in a prompt
  bool close_session = false;
  std::vector<std::string> auth_methods; ///< ids
};

/// Reads the result of `initialize`. `problem` is empty, or the sentence why the agent cannot be
/// spoken to.
agent_facts read_initialize(const json::value& result, std::string& problem);

/// Params of `session/new`, and of `session/load` when `session` is not empty.
json::object session_params(std::string_view directory, std::string_view session = {});

} // namespace ahpd::acp
