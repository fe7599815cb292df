#pragma once

#include "actors/sandbox/front.hpp"
#include "actors/sandbox/runner.hpp"

#include <caf/actor.hpp>
#include <caf/behavior.hpp>
#include <caf/stateful_actor.hpp>

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Commands: fresh processes, and the sessions that they share a directory, an environment and an
/// account in (spec "v2 Commands"). Version 1's routes have the same engine.
namespace ahpd::sandbox {

/// What the answers to a call look like.
enum class dialect : std::uint8_t { v1, v2 };

/// A command as it is asked for. Either version's body makes one.
struct command_order {
  enum class mode : std::uint8_t { sync, async, stream };

  dialect form = dialect::v2;
  std::string command;
  std::string shell = "auto";
  std::vector<std::string> args;
  std::optional<std::string> directory;
  std::map<std::string, std::string> env;
  std::optional<std::string> user;
  std::string session;        ///< empty: a new one
  bool makes_session = false; ///< one of that id, when there is none
  mode answer = mode::sync;
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<std::chrono::milliseconds> hard_timeout;
  std::size_t output_limit = 50'000;
};

/// Runs a command for a call.
struct run_order {
  call_ptr what;
  command_order order;
};

/// A command has ended; from it to the keeper of all.
struct command_ended {
  std::string id;
};

/// A command could not be started; its call is answered.
struct command_failed {
  std::string id;
};

struct commands_state {
  static inline const char* name = "commands";

  struct session {
    std::string id;
    std::uint64_t number = 0; ///< part of its marker: an id is anybody's text
    runner as;
    std::optional<std::string> user; ///< as it was named
    std::string directory;
    std::map<std::string, std::string> env;
    std::string script; ///< every command begins with what this file does; empty: nothing
    std::int64_t created_ms = 0;
    std::int64_t used_ms = 0;
    std::uint64_t count = 0;
    bool is_made_for_one = false;      ///< and goes with it when that does not even start
    std::vector<std::string> commands; ///< ids, the newest last
  };
  struct command {
    caf::actor actor;
    std::string session;
    std::string text;
    bool running = true;
  };

  ~commands_state();

  services_ptr host;
  std::map<std::string, session> sessions;
  std::map<std::string, command> commands;
  std::deque<std::string> ended; ///< commands, the oldest first
  std::uint64_t last_session = 0;
};

/// Keeps the sessions and starts the commands. When it ends, so do they, with all that they
/// started.
caf::behavior commands_actor(caf::stateful_actor<commands_state>* self, services_ptr host);

std::vector<handler> command_handlers();

} // namespace ahpd::sandbox

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::sandbox::run_order)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::sandbox::command_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::sandbox::command_failed)
