#pragma once

#include "actors/hub/machines.hpp"

#include <functional>
#include <string>

/// How the machines' actor keeps its channel: what Docker says is shown, and nothing else is.
namespace ahpd::hub {

/// Reads one machine's record again and shows what changed. Changes that come meanwhile are one
/// more reading, not one each.
void look(caf::stateful_actor<machines_state>* self, const std::string& id);

/// Reads all machines, then runs `then`. A listing that fails keeps what was listed last. One that
/// is under way may be older than the question, so the question gets one of its own.
void look_at_all(caf::stateful_actor<machines_state>* self, std::function<void()> then);

/// Looks whenever Docker says that something changed, or may have.
void watch(caf::stateful_actor<machines_state>* self);

} // namespace ahpd::hub
