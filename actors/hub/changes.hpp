#pragma once

#include "actors/core/owner.hpp"
#include "actors/hub/services.hpp"

#include <caf/behavior.hpp>
#include <caf/stateful_actor.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ahpd::hub {

/// Finds the owner of a changeset's channel, which is there from then on. Answered with `opened`,
/// or refused with -32001.
struct find_changeset {
  std::string uri; ///< in any spelling of the session's
};

/// What a session's edits sum up to now, from its changesets to the session.
struct changes_counted {
  json::shared summary; ///< ChangesSummary
};

/// `invokeChangesetOperation`. Answered with its result, or refused: -32004 while a turn runs,
/// -32602 for an operation that the changeset does not offer.
struct invoke_operation {
  std::string changeset; ///< URI
  std::string operation;
};

/// Whose changesets they are.
struct changes_start {
  std::string session_id;
  std::string session_uri;
  std::vector<std::string> folders; ///< beside the one that a turn runs in
  caf::actor session;
};

struct changes_state {
  static inline const char* name = "changes";

  services_ptr host;
  changes_start start;
  std::map<std::string, std::shared_ptr<core::channel>> docs; ///< by scope
};

/// Refuses what names no changeset.
caf::error no_changeset(const std::string& uri);

/// Owns the channels of one session's changesets: takes the edits that its agents tell, makes them
/// durable and publishes them. The successor of one that crashed goes on with the channels.
caf::behavior changes_actor(caf::stateful_actor<changes_state>* self, services_ptr host,
                            changes_start start);

} // namespace ahpd::hub

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::find_changeset)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::changes_counted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::invoke_operation)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::changes_start)
