#pragma once

#include "actors/hub/engine.hpp"
#include "actors/hub/services.hpp"

#include <caf/behavior.hpp>
#include <caf/stateful_actor.hpp>

#include <optional>
#include <string>
#include <string_view>

/// Turns that run a command in a terminal of the session, whatever its engine.
namespace ahpd::hub {

/// What a message begins with that is such a command (AHP "initialize", `terminalCommandPrefix`).
inline constexpr std::string_view terminal_command_prefix = "!";

/// The command in a message, or nothing when it is one for the engine.
std::optional<std::string> terminal_command(const json::value& message);

/// One such turn.
struct command_start {
  caf::actor chat;
  std::string chat_uri;
  std::string session; ///< URI as the host spells it
  std::string turn_id;
  std::string command;
  session_place where;
};

struct command_state {
  static inline const char* name = "command";

  command_start start;
  services_ptr host;
  std::string terminal; ///< URI; empty: not opened yet
  bool cancelled = false;
  bool leaving = false; ///< its chat has gone: goes when there is a terminal to kill
  bool over = false;    ///< the command has ended

  command_state() = default;
  command_state(const command_state&) = delete;
  command_state& operator=(const command_state&) = delete;
  ~command_state(); ///< kills the command of an actor that crashed
};

/// Answers one turn as an engine's agent does, then ends: the command as one tool call whose
/// content is its terminal. The terminal stays until it is disposed of. It ends with its chat too,
/// and then the command is killed.
caf::behavior command_turn(caf::stateful_actor<command_state>* self, services_ptr host,
                           command_start start);

} // namespace ahpd::hub
