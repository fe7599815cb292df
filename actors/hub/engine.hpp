#pragma once

#include "protocol/ahp/changesets.hpp"
#include "protocol/json.hpp"
#include "runtimes/exec.hpp"

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/fwd.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

/// What answers turns. An engine is a description and a function that spawns one agent actor for
/// one chat; the two speak in the messages below. To add one, write a file pair in
/// actors/hub/engines/ and name it in `built_in_engines`.
namespace ahpd::hub {

struct services;

/// Where a session's programs run.
struct session_place {
  std::string machine;   ///< id; empty: this host
  std::string directory; ///< absolute, on this host
};

/// Starts a turn. One at a time: the chat sends the next after `turn_ended`.
struct begin_turn {
  std::string turn_id;
  json::shared message; ///< Message (AHP "Chat channel")
  std::string marker;   ///< for `exec_request::marker` of everything the turn starts
  std::shared_ptr<runtimes::place> place; ///< where the session's programs run
  std::string directory;                  ///< there; empty: the place's own
};

/// Ends the running turn early: everything it started is killed, then `turn_ended` follows.
struct cancel_turn {};

/// One step of the running turn, from the agent to its chat: a chat action without an ending.
struct turn_step {
  std::string turn_id;
  json::shared action;
};

/// One step of the running turn that the session's channel shows, not the chat's: a setting, a
/// title. From the agent to its chat, and on to the session. It may come between turns too.
struct session_step {
  json::shared action;
};

/// A file that the running turn's agent edited: from the agent to its chat before the turn's end,
/// and on to the session's changesets. Answered with `unit` once it is durable.
struct file_edited {
  std::string turn_id;
  std::string folder; ///< where the turn runs, as `begin_turn::directory`
  std::shared_ptr<const ahp::file_edit> what;
};

/// A person said yes or no to a call that the agent showed without `confirmed`, so that it asks
/// (AHP "Tool calls"); from the chat to its agent.
struct tool_confirmed {
  std::string turn_id;
  std::string call;
  bool approved = false;
  std::string option; ///< the option that was picked; empty: none
};

/// The values of the session's settings: once when the agent starts, and again after each change.
struct session_settings {
  json::shared values; ///< an object
};

/// The turn is over and nothing of it runs any more; the agent takes the next.
struct turn_ended {
  std::string turn_id;
  std::string error_type; ///< empty: the turn is complete
  std::string error_message;
};

/// What an agent is given when it is spawned for a chat. It is told `session_settings` and
/// `session_tools` (tools.hpp) at once.
struct agent_context {
  caf::actor chat;
  std::string chat_uri;
  std::string session_uri;
  session_place where;
  std::shared_ptr<services> host;
};

/// An engine as clients see it (AHP "AgentInfo") and how its agents are made.
struct engine {
  std::string provider;
  std::string display_name;
  std::string description;
  std::function<caf::actor(caf::actor_system&, agent_context)> spawn;
  json::object settings = {}; ///< of its sessions: properties of a SessionConfigSchema
  bool tells_edits = false;   ///< its agents send `file_edited`
  /// Why a session of it cannot start, on this host and in a machine; empty: it can.
  std::string refused_here = {};
  std::string refused_in_machine = {};
};

/// AgentInfo of an engine.
json::value agent_info(const engine& what);

} // namespace ahpd::hub

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::session_place)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::begin_turn)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::cancel_turn)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::turn_step)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::session_step)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::file_edited)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::tool_confirmed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::session_settings)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::turn_ended)
