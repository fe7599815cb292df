#pragma once

#include "actors/hub/chat.hpp"
#include "actors/hub/store_actor.hpp"
#include "config/store.hpp"

#include <caf/atom.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// How a chat runs its turns: from an accepted message to the end that everybody saw. Part of the
/// chat's actor (chat.cpp), and called inside it only.
namespace ahpd::hub::turns {

using chat_ptr = caf::stateful_actor<chat_state>*;
using origin = std::optional<core::action_origin>;

/// What a lost agent started is gone: the chat hands it to `on_ended`.
using swept_atom = caf::atom_constant<caf::atom("swept")>;
/// Nothing of a turn is left: the chat calls `start_queued`.
using go_on_atom = caf::atom_constant<caf::atom("go on")>;

// The chat's document.
json::array& turns_of(chat_state& st);
const json::value* active_turn(const chat_state& st); ///< null: none
bool has_turn(chat_state& st, std::string_view id);
std::string_view turn_id_of(const json::value& action);
std::string cursor_before(std::int64_t ordinal); ///< for `turnsNextCursor`
config::chat_row row_of(const chat_state& st);   ///< without turns, which have rows of their own

/// Writes, then goes on; everything else waits meanwhile (see `after_commit`).
void commit(chat_ptr self, std::function<void(config::store&)> write, std::function<void()> then);
void publish(chat_ptr self, json::value action, const origin& from = std::nullopt);
void announce(chat_ptr self, json::value action, const origin& from = std::nullopt);
void tell_session(chat_ptr self, std::string first_text = {});

/// After an action about a tool call: the session's channel shows the call while it waits for a
/// person, or for the client that runs it (AHP "Turn flow").
void mirror_question(chat_ptr self, const json::value& action);

/// The running turn is over: nobody can answer its questions and calls any more.
void withdraw_questions(chat_ptr self);

/// Starts the turn of a `chat/turnStarted`, or calls `refused` with the sentence why not.
void start(chat_ptr self, json::value started, origin from,
           std::function<void(const std::string&)> refused);

/// The same for a turn of the host's own: a place that cannot be entered ends it with the sentence.
void start_own(chat_ptr self, json::value started);

/// Starts the next queued message when the chat is idle.
void start_queued(chat_ptr self);

/// Ends the active turn for everyone who follows: reduced, committed, announced; then `then`.
void end(chat_ptr self, json::value ending, origin from, std::function<void()> then);

/// The agent is done with the running turn. `error_type` empty: it is complete.
void on_ended(chat_ptr self, const std::string& error_type, const std::string& message);

/// Who answered the running turn died: what it had started is killed, then the turn ends.
void on_agent_lost(chat_ptr self, const std::string& why);

/// Ends the turn that a crashed predecessor left running in the channel.
void take_over(chat_ptr self);

} // namespace ahpd::hub::turns
