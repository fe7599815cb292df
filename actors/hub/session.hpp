#pragma once

#include "actors/core/later.hpp"
#include "actors/hub/chat.hpp"
#include "actors/hub/services.hpp"
#include "config/store.hpp"

#include <caf/behavior.hpp>
#include <caf/stateful_actor.hpp>

#include <map>
#include <string>
#include <vector>

namespace ahpd::hub {

/// Opens one more chat (AHP "createChat"). Answered with `unit` after session/chatAdded.
struct create_chat {
  std::string uri;
  json::shared initial_message; ///< null: none
  core::action_origin by;
};

/// Finds a chat's owner by the URI of its channel. Answered with `opened`, or refused with -32008.
struct find_chat {
  std::string uri;
};

/// Where the session's programs run. Answered with `session_place`.
struct find_place {};

/// Ends the session: its chats, then everything kept of it. Answered with `unit`.
struct dispose_session {};

/// Makes a client active in the session it made (`createSession.activeClient`). No answer.
struct join_session {
  json::shared client; ///< SessionActiveClient
};

/// A client follows all that it is going to follow: one that does not follow the session is no
/// active client of it. No answer.
struct client_settled {
  std::string client_id;
};

/// A chat as the store has it.
struct stored_chat {
  config::chat_row row;
  std::vector<config::turn_row> turns; ///< the newest that are kept in memory
  bool more = false;                   ///< older ones are in the store
};

/// What a session starts from: its rows.
struct session_start {
  config::session_row row;
  std::vector<stored_chat> chats;
  json::value changes = nullptr; ///< ChangesSummary; null: nothing was edited
};

struct session_state {
  static inline const char* name = "session";

  struct chat {
    std::string uri;
    std::int64_t ordinal = 0;
    caf::actor actor;
  };

  services_ptr host;
  config::session_row row; ///< `state` in it is not kept up: `doc` is
  std::shared_ptr<core::channel> doc;
  std::vector<chat> chats;
  json::value summary;                     ///< as it was last told
  tool_list tools;                         ///< as they were last told
  bool renamed = false;                    ///< by a person: no agent gives it another title
  json::value changes;                     ///< ChangesSummary; null: nothing was edited
  caf::actor changesets;                   ///< null: nobody asked for them yet
  std::map<std::string, core::later> away; ///< clients whose connection was lost, till they settled
};

/// Where the programs of a session of this state run; in the folder `otherwise` when it names none.
session_place place_of(const json::value& state, const std::string& otherwise);

/// Reads a session and its chats; nothing when it is not there.
std::optional<session_start> load_session(config::store& db, const std::string& id);

/// Owns one session's channel and its chats. Ends with `parent`, whose successor opens it again.
caf::behavior session_actor(caf::stateful_actor<session_state>* self, services_ptr host,
                            session_start start, const caf::actor& parent);

} // namespace ahpd::hub

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::create_chat)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::find_chat)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::find_place)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::dispose_session)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::join_session)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::client_settled)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::session_start)
