#pragma once

#include "protocol/ahp/time.hpp"
#include "protocol/json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The actions, documents and frames that this host originates, in the shape of AHP 1.0. Times are
/// Unix milliseconds, durations milliseconds. An empty string means that an optional member is
/// absent.
namespace ahpd::ahp::build {

// Session channel

json::value session_ready();
json::value creation_failed(std::string_view error_type, std::string_view message);
json::value chat_added(json::value chat_summary);
/// `changes` holds what differs of the chat's summary; a null in it is left out.
json::value chat_updated(std::string_view chat, json::object changes);
json::value chat_removed(std::string_view chat);
json::value default_chat_changed(std::string_view chat);
json::value title_changed(std::string_view title);
json::value active_client_removed(std::string_view client_id);
json::value input_needed_set(json::value request);
json::value input_needed_removed(std::string_view id);

// Chat channel

/// A Message of origin `kind` ("user", "agent", "automation", ...).
json::value message(std::string_view text, std::string_view kind = "user");
json::value turn_started(std::string_view turn, std::int64_t started_ms, json::value message,
                         std::string_view queued_message = {});
/// A part of `kind` "markdown" or "reasoning".
json::value text_part(std::string_view kind, std::string_view id, std::string_view content = {});
json::value system_notification(std::string_view text);
json::value response_part(std::string_view turn, json::value part);
/// Appends to a markdown part; `reasoning` does to a reasoning part.
json::value delta(std::string_view turn, std::string_view part, std::string_view content);
json::value reasoning(std::string_view turn, std::string_view part, std::string_view content);
json::value usage(std::string_view turn, json::value usage);
json::value turn_complete(std::string_view turn, std::int64_t duration_ms);
json::value turn_cancelled(std::string_view turn, std::int64_t duration_ms);
/// Ends the turn: no other ending follows it.
json::value chat_error(std::string_view turn, std::int64_t duration_ms, std::string_view error_type,
                       std::string_view message, bool resumable = false);
json::value activity_changed(std::string_view activity);
json::value pending_message_removed(std::string_view kind, std::string_view id);

// Tool calls

json::value tool_call_start(std::string_view turn, std::string_view call, std::string_view tool,
                            std::string_view display_name, std::string_view intention = {});
/// Ready without a question (`confirmed: "not-needed"`).
json::value tool_call_ready(std::string_view turn, std::string_view call,
                            std::string_view invocation, std::string_view input = {});
/// Ready with a question: the call waits for `chat/toolCallConfirmed`.
json::value tool_call_asks(std::string_view turn, std::string_view call,
                           std::string_view invocation, std::string_view input,
                           json::array options);
json::value text_content(std::string_view text);
json::value tool_call_content(std::string_view turn, std::string_view call, json::array content);
/// A failed tool is complete too: `success` false, and `error` says why.
json::value tool_call_complete(std::string_view turn, std::string_view call, bool success,
                               std::string_view past_tense, json::array content = {},
                               std::string_view error = {});

// Root and computers

json::value agents_changed(json::array agents);
json::value active_sessions_changed(std::int64_t count);
json::value terminals_changed(json::value infos);
json::value computer_added(std::string_view id, json::value record);
json::value computer_changed(std::string_view id, json::value record);
json::value computer_removed(std::string_view id);

// Documents

json::value session_state(std::string_view provider, std::string_view title);
json::value chat_state(std::string_view resource, std::string_view title, std::int64_t modified_ms,
                       json::value origin);
/// The ChatSummary inside a ChatState.
json::value chat_summary(const json::value& chat_state);
/// The catalogue row of a session: what AHP "Lifecycle and aggregation" derives from its chats. Its
/// `changes`, which no SessionState has, are taken from there too.
json::value session_summary(std::string_view resource, const json::value& session_state,
                            std::int64_t created_ms);
/// The members of `now` that differ from `before`, for `root/sessionSummaryChanged`; without
/// resource, provider and createdAt. An activity that ended is "": a partial document cannot say
/// that a member is gone. Empty when nothing differs.
json::object summary_changes(const json::value& before, const json::value& now);

// Envelopes

/// Who dispatched an action.
struct origin {
  std::string client_id;
  std::uint64_t client_seq = 0;
};

/// An ActionEnvelope (AHP "Envelope"). `action` is JSON text, so that one that goes out several
/// times is serialised once. `rejection` empty: not refused.
std::string action_envelope(std::string_view channel, std::string_view action,
                            std::uint64_t server_seq, const std::optional<origin>& from,
                            std::string_view rejection = {});

/// The whole frame of the notification `action`, with such an envelope.
std::string action_frame(std::string_view channel, std::string_view action,
                         std::uint64_t server_seq, const std::optional<origin>& from,
                         std::string_view rejection = {});

} // namespace ahpd::ahp::build
