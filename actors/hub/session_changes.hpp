#pragma once

#include "actors/hub/changes.hpp"
#include "actors/hub/session.hpp"

/// What a session does about the changesets of its agents' edits.
namespace ahpd::hub {

using session_ptr = caf::stateful_actor<session_state>*;

/// Whether a session of this state offers any: its engine tells edits. One whose engine is not
/// loaded may have told some before.
bool has_changesets(const services& host, const json::object& state);

/// The owner of the session's changesets, from the first time that somebody wants it.
const caf::actor& changesets(session_ptr self);

/// Goes on with the channels that an earlier owner left, if there are any.
void take_over_changesets(session_ptr self);

/// The owner of the changesets crashed: a successor goes on with their channels.
void revive_changesets(session_ptr self, const caf::error& reason);

/// The session is disposed: the owner and the channels go.
void end_changesets(session_ptr self);

/// Why an operation is not done: no changeset offers one.
caf::error refuse_operation(const session_state& st, const invoke_operation& what);

} // namespace ahpd::hub
