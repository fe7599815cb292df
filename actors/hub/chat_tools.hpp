#pragma once

#include "actors/hub/chat_turns.hpp"

#include <caf/response_promise.hpp>

/// How a chat has its session's tools run for its agent. Part of the chat's actor (chat.cpp), and
/// called inside it only.
namespace ahpd::hub::turns {

/// A client did not run a tool in time.
struct call_late {
  std::string call;
};

/// Shows the call in the running turn and waits for its client (AHP "Turn flow", 6). `answer` gets
/// a `tool_answer` on every path: a call that cannot run is one that failed.
void call_tool(chat_ptr self, const call_offered_tool& what, caf::response_promise answer);

/// Fails a call that still runs, for all to see; nothing when it does not.
void fail_call(chat_ptr self, const std::string& call, const std::string& why);

/// The same for every call that a client runs.
void fail_calls_of(chat_ptr self, const std::string& client_id, const std::string& why);

/// A client refused a call of a tool that it does not have (AHP "Turn flow", 6).
void on_denied(chat_ptr self, const core::client_action& a);

/// After an action about a tool call: the agent gets the answers of calls that are over.
void answer_calls(chat_ptr self);

/// The turn is over: nothing that its calls may still say counts.
void drop_calls(chat_ptr self);

} // namespace ahpd::hub::turns

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::turns::call_late)
