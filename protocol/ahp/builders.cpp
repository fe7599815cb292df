#include "protocol/ahp/builders.hpp"

#include "protocol/jsonrpc/message.hpp"

#include <utility>

namespace ahpd::ahp::build {

namespace {

using json::object;
using json::value;

std::int64_t no_less_than_zero(std::int64_t n) {
  return n < 0 ? 0 : n;
}

/// Adds `text` unless it is empty.
void put(object& o, std::string_view key, std::string_view text) {
  if (!text.empty())
    o[key] = text;
}

object in_turn(std::string_view type, std::string_view turn) {
  return {{"type", type}, {"turnId", turn}};
}

object in_call(std::string_view type, std::string_view turn, std::string_view call) {
  return {{"type", type}, {"turnId", turn}, {"toolCallId", call}};
}

object filling(std::string_view type, std::string_view turn, std::string_view part,
               std::string_view content) {
  return {{"type", type}, {"turnId", turn}, {"partId", part}, {"content", content}};
}

object ending(std::string_view type, std::string_view turn, std::int64_t duration_ms) {
  return {{"type", type}, {"turnId", turn}, {"duration", no_less_than_zero(duration_ms)}};
}

object error_info(std::string_view error_type, std::string_view message) {
  return {{"errorType", error_type}, {"message", message}};
}

} // namespace

value session_ready() {
  return object{{"type", "session/ready"}};
}

value creation_failed(std::string_view error_type, std::string_view message) {
  return object{{"type", "session/creationFailed"}, {"error", error_info(error_type, message)}};
}

value chat_added(value chat_summary) {
  return object{{"type", "session/chatAdded"}, {"summary", std::move(chat_summary)}};
}

value chat_updated(std::string_view chat, object changes) {
  object kept;
  for (auto& kv : changes)
    if (!kv.value().is_null())
      kept[kv.key()] = std::move(kv.value());
  return object{{"type", "session/chatUpdated"}, {"chat", chat}, {"changes", std::move(kept)}};
}

value chat_removed(std::string_view chat) {
  return object{{"type", "session/chatRemoved"}, {"chat", chat}};
}

value default_chat_changed(std::string_view chat) {
  object o{{"type", "session/defaultChatChanged"}};
  put(o, "defaultChat", chat);
  return o;
}

value title_changed(std::string_view title) {
  return object{{"type", "session/titleChanged"}, {"title", title}};
}

value active_client_removed(std::string_view client_id) {
  return object{{"type", "session/activeClientRemoved"}, {"clientId", client_id}};
}

value input_needed_set(value request) {
  return object{{"type", "session/inputNeededSet"}, {"request", std::move(request)}};
}

value input_needed_removed(std::string_view id) {
  return object{{"type", "session/inputNeededRemoved"}, {"id", id}};
}

value message(std::string_view text, std::string_view kind) {
  return object{{"text", text}, {"origin", object{{"kind", kind}}}};
}

value turn_started(std::string_view turn, std::int64_t started_ms, value message,
                   std::string_view queued_message) {
  auto o = in_turn("chat/turnStarted", turn);
  o["startedAt"] = iso8601(started_ms);
  o["message"] = std::move(message);
  put(o, "queuedMessageId", queued_message);
  return o;
}

value text_part(std::string_view kind, std::string_view id, std::string_view content) {
  return object{{"kind", kind}, {"id", id}, {"content", content}};
}

value system_notification(std::string_view text) {
  return object{{"kind", "systemNotification"}, {"content", text}};
}

value response_part(std::string_view turn, value part) {
  auto o = in_turn("chat/responsePart", turn);
  o["part"] = std::move(part);
  return o;
}

value delta(std::string_view turn, std::string_view part, std::string_view content) {
  return filling("chat/delta", turn, part, content);
}

value reasoning(std::string_view turn, std::string_view part, std::string_view content) {
  return filling("chat/reasoning", turn, part, content);
}

value usage(std::string_view turn, value usage) {
  auto o = in_turn("chat/usage", turn);
  o["usage"] = std::move(usage);
  return o;
}

value turn_complete(std::string_view turn, std::int64_t duration_ms) {
  return ending("chat/turnComplete", turn, duration_ms);
}

value turn_cancelled(std::string_view turn, std::int64_t duration_ms) {
  return ending("chat/turnCancelled", turn, duration_ms);
}

value chat_error(std::string_view turn, std::int64_t duration_ms, std::string_view error_type,
                 std::string_view message, bool resumable) {
  auto o = ending("chat/error", turn, duration_ms);
  o["part"] =
    object{{"kind", "error"}, {"error", error_info(error_type, message)}, {"resumable", resumable}};
  return o;
}

value activity_changed(std::string_view activity) {
  object o{{"type", "chat/activityChanged"}};
  put(o, "activity", activity);
  return o;
}

value pending_message_removed(std::string_view kind, std::string_view id) {
  return object{{"type", "chat/pendingMessageRemoved"}, {"kind", kind}, {"id", id}};
}

value tool_call_start(std::string_view turn, std::string_view call, std::string_view tool,
                      std::string_view display_name, std::string_view intention) {
  auto o = in_call("chat/toolCallStart", turn, call);
  o["toolName"] = tool;
  o["displayName"] = display_name;
  put(o, "intention", intention);
  return o;
}

value tool_call_ready(std::string_view turn, std::string_view call, std::string_view invocation,
                      std::string_view input) {
  auto o = in_call("chat/toolCallReady", turn, call);
  o["invocationMessage"] = invocation;
  o["confirmed"] = "not-needed";
  put(o, "toolInput", input);
  return o;
}

value tool_call_asks(std::string_view turn, std::string_view call, std::string_view invocation,
                     std::string_view input, json::array options) {
  auto o = in_call("chat/toolCallReady", turn, call);
  o["invocationMessage"] = invocation;
  o["options"] = std::move(options);
  put(o, "toolInput", input);
  return o;
}

value text_content(std::string_view text) {
  return object{{"type", "text"}, {"text", text}};
}

value tool_call_content(std::string_view turn, std::string_view call, json::array content) {
  auto o = in_call("chat/toolCallContentChanged", turn, call);
  o["content"] = std::move(content);
  return o;
}

value tool_call_complete(std::string_view turn, std::string_view call, bool success,
                         std::string_view past_tense, json::array content, std::string_view error) {
  object result{{"success", success}, {"pastTenseMessage", past_tense}};
  if (!content.empty())
    result["content"] = std::move(content);
  if (!error.empty())
    result["error"] = object{{"message", error}};
  auto o = in_call("chat/toolCallComplete", turn, call);
  o["result"] = std::move(result);
  return o;
}

value agents_changed(json::array agents) {
  return object{{"type", "root/agentsChanged"}, {"agents", std::move(agents)}};
}

value active_sessions_changed(std::int64_t count) {
  return object{{"type", "root/activeSessionsChanged"}, {"activeSessions", count}};
}

value terminals_changed(value infos) {
  return object{{"type", "root/terminalsChanged"}, {"terminals", std::move(infos)}};
}

value computer_added(std::string_view id, value record) {
  return object{{"type", "x-ahpd-computers/added"}, {"id", id}, {"record", std::move(record)}};
}

value computer_changed(std::string_view id, value record) {
  return object{{"type", "x-ahpd-computers/changed"}, {"id", id}, {"record", std::move(record)}};
}

value computer_removed(std::string_view id) {
  return object{{"type", "x-ahpd-computers/removed"}, {"id", id}};
}

namespace {

void append_envelope(std::string& out, std::string_view channel, std::string_view action,
                     std::uint64_t server_seq, const std::optional<origin>& from,
                     std::string_view rejection) {
  out += R"({"channel":)";
  jsonrpc::append_quoted(out, channel);
  out += R"(,"action":)";
  out += action;
  out += R"(,"serverSeq":)" + std::to_string(server_seq);
  if (from) {
    out += R"(,"origin":{"clientId":)";
    jsonrpc::append_quoted(out, from->client_id);
    out += R"(,"clientSeq":)" + std::to_string(from->client_seq) + "}";
  }
  if (!rejection.empty()) {
    out += R"(,"rejectionReason":)";
    jsonrpc::append_quoted(out, rejection);
  }
  out += "}";
}

} // namespace

std::string action_envelope(std::string_view channel, std::string_view action,
                            std::uint64_t server_seq, const std::optional<origin>& from,
                            std::string_view rejection) {
  std::string out;
  out.reserve(action.size() + channel.size() + 256);
  append_envelope(out, channel, action, server_seq, from, rejection);
  return out;
}

std::string action_frame(std::string_view channel, std::string_view action,
                         std::uint64_t server_seq, const std::optional<origin>& from,
                         std::string_view rejection) {
  std::string out;
  out.reserve(action.size() + channel.size() + 320);
  out += R"({"jsonrpc":"2.0","method":"action","params":)";
  append_envelope(out, channel, action, server_seq, from, rejection);
  out += "}";
  return out;
}

} // namespace ahpd::ahp::build
