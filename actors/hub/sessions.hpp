#pragma once

#include "actors/core/owner.hpp"
#include "actors/hub/progress.hpp"
#include "actors/hub/services.hpp"
#include "config/store.hpp"

#include <caf/behavior.hpp>
#include <caf/response_promise.hpp>
#include <caf/stateful_actor.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ahpd::hub {

/// Makes a session (spec "createSession"). Answered with `unit` once it is durable and announced.
/// Its progress is 1 of 2 when where it runs is there, 2 when it is made or was refused after that.
struct create_session {
  json::object params;
  std::string client_id;
  progress_sink progress;
};

/// Ends a session by any spelling of its URI. Answered with `unit`.
struct end_session {
  std::string uri;
};

/// Finds the owner of a session's or a chat's channel, opening a session that only the store knows.
/// Answered with `opened`, or refused: -32001 for sessions, -32008 for chats.
struct open_channel {
  std::string uri;
};
struct opened {
  caf::actor owner;
  std::string uri; ///< as the host spells it
};

/// Answered with `session_page`, or -32602 for a cursor that is not ours.
struct list_sessions {
  std::optional<std::uint64_t> limit;
  std::string cursor;
};
struct session_page {
  json::shared items;      ///< array of SessionSummary
  std::string next_cursor; ///< empty: no more
};

struct sessions_state {
  static inline const char* name = "sessions";

  struct live {
    caf::actor actor;
    std::string uri; ///< as its client spelled it
  };

  services_ptr host;
  std::map<std::string, live> open; ///< by session id
  std::set<std::string> claimed;    ///< ids of sessions that are being made
  /// Who waits for a session that is being read from the store.
  std::map<std::string, std::vector<caf::response_promise>> opening;
  bool tidying = false; ///< memory is given back in a while
};

/// Makes, opens, lists and ends sessions, and starts one again whose actor crashed.
caf::behavior sessions_actor(caf::stateful_actor<sessions_state>* self, services_ptr host);

} // namespace ahpd::hub

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::create_session)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::end_session)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::open_channel)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::opened)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::list_sessions)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::session_page)
