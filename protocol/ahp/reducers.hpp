#pragma once

#include "protocol/json.hpp"

#include <string_view>

namespace ahpd::ahp {

/// The kinds of channel that hold state; each has one reducer (AHP "Channels").
enum class channel_kind {
  root,
  session,
  chat,
  terminal,
  changeset,
  annotations,
  resource_watch,
  automations,
  automation_run,
  computers, ///< x-ahpd-computers://, seed "The channel and its commands"
};

/// Folds `action` into `state` in place by the rules of AHP 1.0. Pure: no clock, no I/O. Unknown
/// action types, actions of the wrong shape and actions the state does not admit change nothing.
/// False says that the state did not change; a step that only repeats what is there may still say
/// true. Unknown members of either are kept.
bool reduce(channel_kind kind, json::value& state, const json::value& action);

} // namespace ahpd::ahp
