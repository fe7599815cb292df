#pragma once

#include "actors/hub/engine.hpp"
#include "config/agents.hpp"

#include <chrono>
#include <cstddef>

namespace ahpd::hub {

/// What an ACP server is given.
struct acp_limits {
  std::chrono::milliseconds open{120'000}; ///< to be ready for its first prompt
  std::chrono::milliseconds cancel{5'000}; ///< to end a turn that was cancelled, then it is killed
  std::chrono::milliseconds close{5'000};  ///< between SIGTERM and SIGKILL
  std::size_t turn_bytes = 16u << 20;      ///< what one turn may hold
};

/// An agent that speaks the Agent Client Protocol: one server process a chat, started for its first
/// turn, which lives until the chat ends. It runs where the session runs, on this host or in its
/// machine.
engine acp_engine(const config::acp_agent& agent, const acp_limits& limits = {});

} // namespace ahpd::hub
