#pragma once

#include "actors/core/later.hpp"
#include "actors/core/owner.hpp"
#include "actors/hub/services.hpp"
#include "actors/hub/tools.hpp"
#include "protocol/random.hpp"

#include <caf/behavior.hpp>
#include <caf/response_promise.hpp>
#include <caf/stateful_actor.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ahpd::hub {

/// Loads older turns by `chat/turnsLoaded`; answered with `unit` after that was published, or
/// refused with -32602 for a cursor that is not ours.
struct fetch_turns {
  std::string cursor; ///< empty: before the oldest turn that is held
};

/// Ends the chat and forgets it: passed on to its session, which answers with `unit`.
struct end_chat {};
struct dispose_chat {
  std::string uri;
};

/// What a chat tells its session after a change that its summary shows.
struct chat_changed {
  std::string chat;
  json::shared summary;   ///< ChatSummary
  std::string first_text; ///< of a first message: what a title is made from; else empty
};

/// Starts a turn of the host's own: the first message that a new chat was made with.
struct first_message {
  json::shared message;
};

/// Asks a chat where its session's programs run; answered with `session_place`.
struct ask_place {};

/// What a chat starts from: a row of the store, or a new chat.
struct chat_start {
  std::string uri;
  std::string session_id;
  std::string session_uri;
  std::string provider;
  session_place where;
  json::shared settings;                   ///< values of the session's
  tool_list tools;                         ///< that the session offers
  std::int64_t ordinal = 0;                ///< place in its session's catalogue
  json::shared state;                      ///< ChatState with `turns`
  std::vector<std::int64_t> turn_ordinals; ///< of those turns
  caf::actor session;
};

struct chat_state {
  static inline const char* name = "chat";

  /// The turn whose programs run. It may have ended for clients (cancelled) before they are gone.
  struct run {
    std::string turn_id;
    std::string marker;
    std::int64_t began_ms = 0; ///< by this host's clock; a client's may be wrong
    bool ended = false;
    caf::actor by = nullptr; ///< answers it: the agent, or one for this turn alone
  };

  /// A call of a tool that the session offers, which a client runs.
  struct offered_call {
    std::string client_id;
    std::string tool; ///< as that client calls it
    caf::response_promise answer;
    core::later late = {}; ///< tells when it takes too long
  };

  chat_start start;
  services_ptr host;
  std::shared_ptr<core::channel> doc;
  caf::actor agent;
  /// What the markers of its turns begin with, so that what they leave in the background is found.
  const std::string marker = random_hex(16);
  std::optional<run> running;
  std::vector<std::int64_t> turn_ordinals; ///< of state["turns"], one each
  /// Calls of the running turn that the session shows as questions, and the ids of those.
  std::map<std::string, std::string> asking;
  std::map<std::string, offered_call> calls; ///< of the running turn, by id
  std::deque<core::client_action> deferred;  ///< came while a cancelled turn's programs were going

  chat_state() = default;
  chat_state(const chat_state&) = delete;
  chat_state& operator=(const chat_state&) = delete;
  ~chat_state(); ///< ends who answers turns, which kills what runs
};

/// Owns one chat's channel: checks what clients dispatch, makes it durable, publishes it, and has
/// the session's engine answer turns. A chat that finds a running turn in its channel when it
/// starts is the successor of one that crashed: it ends that turn with a sentence.
caf::behavior chat_actor(caf::stateful_actor<chat_state>* self, services_ptr host,
                         chat_start start);

} // namespace ahpd::hub

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::fetch_turns)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::ask_place)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::chat_changed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::end_chat)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::dispose_chat)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::first_message)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::chat_start)
