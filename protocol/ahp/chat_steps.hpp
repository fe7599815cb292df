#pragma once

#include "protocol/ahp/reducing.hpp"

/// The chat reducer in three files: turns and text, tool calls, and what waits (queued messages and
/// questions).
namespace ahpd::ahp::reducing {

/// The running turn if `turnId` of the action is its id: most chat actions fold into nothing else.
json::object* gated_turn(json::object& chat, const json::value& action);

/// Whether a tool call in this state holds the chat up until a person acts.
bool tool_call_waits(const json::value& call);

/// Cancels every unfinished tool call of a turn that ends.
void cancel_tool_calls(json::object& turn);

/// Sets the activity bits from the running turn (AHP "Turn end, status, modifiedAt").
bool settle_status(json::object& chat);

/// Takes a pending message out, whichever list it is in.
bool take_pending(json::object& chat, std::string_view id);

// chat_tools.cpp
bool tool_call_start(json::object& chat, const json::value& action);
bool tool_call_delta(json::object& chat, const json::value& action);
bool tool_call_ready(json::object& chat, const json::value& action);
bool tool_call_confirmed(json::object& chat, const json::value& action);
bool tool_call_complete(json::object& chat, const json::value& action);
bool tool_call_result_confirmed(json::object& chat, const json::value& action);
bool tool_call_content_changed(json::object& chat, const json::value& action);
bool tool_call_auth_required(json::object& chat, const json::value& action);
bool tool_call_auth_resolved(json::object& chat, const json::value& action);

// chat_pending.cpp
bool pending_message_set(json::object& chat, const json::value& action);
bool pending_message_removed(json::object& chat, const json::value& action);
bool input_requested(json::object& chat, const json::value& action);
bool input_answer_changed(json::object& chat, const json::value& action);
bool input_completed(json::object& chat, const json::value& action);

} // namespace ahpd::ahp::reducing
