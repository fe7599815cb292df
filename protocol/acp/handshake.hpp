#pragma once

#include "protocol/json.hpp"
#include "protocol/jsonrpc/message.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// How a connection to an agent opens: `initialize`, `authenticate`, `session/new`, `session/load`.
namespace ahpd::acp {

/// The protocol versions that this host speaks: 1, which it offers first, and the draft of 2, for
/// agents that speak nothing else.
inline constexpr std::int64_t stable_version = 1;
inline constexpr std::int64_t draft_version = 2;

/// JSON-RPC error code of an agent that wants to be signed in (ACP "Error").
inline constexpr int auth_required = -32000;

/// What this host can do for an agent.
struct client_facts {
  bool files = false;
  bool terminals = false;
};

/// Params of `initialize`; `version` is this program's own.
json::object initialize_params(std::string_view version, const client_facts& can);
json::object initialize_draft_params(std::string_view version);

/// Whether an agent refused version 1 because it speaks only the draft.
bool wants_draft(const jsonrpc::error& why);

/// What an agent said of itself.
struct agent_facts {
  std::int64_t version = stable_version;
  bool load_session = false;
  bool image = false;
  bool audio = false;
  bool embedded = false; ///< takes the content of files in a prompt
  bool close_session = false;
  bool mcp_http = false;                 ///< takes MCP servers over HTTP
  std::vector<std::string> auth_methods; ///< ids
};

/// Reads the result of `initialize`. `problem` is empty, or the sentence why the agent cannot be
/// spoken to.
agent_facts read_initialize(const json::value& result, std::string& problem);

/// An MCP server for `session_params`, which takes a bearer token.
json::object http_server(std::string_view name, std::string_view url, std::string_view token);

/// Params of `session/new`, and of `session/load` (in the draft `session/resume`) when `session` is
/// not empty.
json::object session_params(std::string_view directory, json::array mcp_servers,
                            std::string_view session = {});

} // namespace ahpd::acp
