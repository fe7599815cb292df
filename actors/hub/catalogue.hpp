#pragma once

#include "actors/core/owner.hpp"
#include "actors/hub/services.hpp"

#include <caf/behavior.hpp>
#include <caf/stateful_actor.hpp>

#include <string>

namespace ahpd::hub {

/// A session came into being: root/sessionAdded to all who follow the root channel.
struct session_added {
  json::shared summary;
};

/// A session is gone: root/sessionRemoved.
struct session_removed {
  std::string uri;
};

/// What changed in a session's summary: root/sessionSummaryChanged.
struct session_summary_changed {
  std::string uri;
  json::shared changes;
};

/// How many sessions are open: root/activeSessionsChanged.
struct open_sessions {
  std::int64_t count = 0;
};

/// Which terminals there are: root/terminalsChanged, when that is news. Answered with `unit`.
struct listed_terminals {
  json::shared infos; ///< array of TerminalInfo
};

struct catalogue_state {
  static inline const char* name = "catalogue";
  services_ptr host;
  std::shared_ptr<core::channel> doc;
};

/// What the host tells every client about itself: `_meta` of `initialize` and of the root state
/// (seed "How a client finds out"): `ahpd.resourceProviders` and `ahpd.grants`.
json::object host_meta(const services& host);

/// Owns the root channel.
caf::behavior catalogue_actor(caf::stateful_actor<catalogue_state>* self, services_ptr host);

} // namespace ahpd::hub

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::session_added)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::session_removed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::session_summary_changed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::open_sessions)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::listed_terminals)
