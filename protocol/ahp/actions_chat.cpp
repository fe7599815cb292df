#include "protocol/ahp/actions_internal.hpp"
#include "protocol/ahp/find.hpp"

#include <initializer_list>

namespace ahpd::ahp::checks {

namespace {

using json::text;

bool truth(const json::value* flag) {
  return flag && flag->is_bool() && flag->get_bool();
}

/// The call that `action` names in the running turn.
const json::value* named_call(const json::value& state, const json::value& action) {
  const auto* turn = active_turn(state, text(action, "turnId"));
  return turn ? find_tool_call(*turn, text(action, "toolCallId")) : nullptr;
}

std::string no_call(const json::value& action) {
  return "the running turn has no tool call " + text(action, "toolCallId");
}

/// Refuses a call that is in none of `allowed`.
refusal in_status(const json::value& state, const json::value& action,
                  std::initializer_list<std::string_view> allowed, std::string_view complaint) {
  const auto* call = named_call(state, action);
  if (!call)
    return no_call(action);
  const auto status = text(*call, "status");
  for (const auto one : allowed)
    if (status == one)
      return std::nullopt;
  return "the tool call " + text(action, "toolCallId") + " " + std::string(complaint);
}

refusal start(const json::value& state, const json::value& action) {
  const auto turn = text(action, "turnId");
  // A peer that lost the echo sends it again; folding it twice would wipe the turn's progress.
  if (active_turn(state, turn) || find_by(json::member(state, "turns"), "id", turn))
    return "the turn " + turn + " was started already";
  if (json::member(state, "activeTurn"))
    return "a turn is running";
  return std::nullopt;
}

refusal cancel(const json::value& state, const json::value& action) {
  if (!json::member(state, "activeTurn"))
    return "no active turn to cancel";
  if (!active_turn(state, text(action, "turnId")))
    return "the turn " + text(action, "turnId") + " is not the one that runs";
  return std::nullopt;
}

refusal resume(const json::value& state, const json::value& action) {
  if (json::member(state, "activeTurn"))
    return "a turn is running";
  const auto* turns = json::member(state, "turns");
  const auto* list = turns ? turns->if_array() : nullptr;
  if (!list || list->empty() || text(list->back(), "id") != text(action, "turnId"))
    return "the turn " + text(action, "turnId") + " is not the last one";
  const auto& last = list->back();
  const auto* parts = json::member(last, "responseParts");
  const auto* items = parts ? parts->if_array() : nullptr;
  if (text(last, "state") != "error" || !items || items->empty() ||
      text(items->back(), "kind") != "error" || !truth(json::member(items->back(), "resumable")))
    return "the turn " + text(action, "turnId") + " cannot be resumed";
  return std::nullopt;
}

/// Whether `answers` holds a submitted answer to `question`.
bool submitted(const json::value* answers, std::string_view question) {
  const auto* answer = answers ? json::member(*answers, question) : nullptr;
  return answer && text(*answer, "state") == "submitted";
}

refusal answer(const json::value& state, const json::value& action, bool completes) {
  const auto id = text(action, "requestId");
  const auto* active = json::member(state, "activeTurn");
  const auto* part = active ? find_open_input(*active, id) : nullptr;
  if (!part)
    return "there is no open input request " + id;
  if (!completes || text(action, "response") != "accept")
    return std::nullopt;
  const auto* request = json::member(*part, "request");
  const auto* questions = json::member(*request, "questions");
  if (!questions || !questions->is_array())
    return std::nullopt;
  for (const auto& question : questions->get_array()) {
    const auto name = text(question, "id");
    const auto* given = json::member(action, "answers");
    const bool replaced = given && json::member(*given, name);
    const auto* source = replaced ? given : json::member(*request, "answers");
    if (truth(json::member(question, "required")) && !submitted(source, name))
      return "the question " + name + " needs a submitted answer";
  }
  return std::nullopt;
}

refusal remove_pending(const json::value& state, const json::value& action) {
  const auto id = text(action, "id");
  const auto* steering = json::member(state, "steeringMessage");
  const bool there = text(action, "kind") == "steering"
                       ? steering && text(*steering, "id") == id
                       : find_by(json::member(state, "queuedMessages"), "id", id) != nullptr;
  return there ? std::nullopt : refusal("there is no pending message " + id);
}

refusal truncate(const json::value& state, const json::value& action) {
  const auto turn = json::string_member(action, "turnId");
  if (!turn || find_by(json::member(state, "turns"), "id", *turn))
    return std::nullopt;
  return "there is no turn " + std::string(*turn);
}

} // namespace

refusal tool_sender(const json::value& state, const json::value& action, std::string_view type,
                    std::string_view client_id) {
  const auto* call = named_call(state, action);
  if (!call)
    return no_call(action);
  const auto* contributor = json::member(*call, "contributor");
  const bool own = contributor && text(*contributor, "kind") == "client" &&
                   text(*contributor, "clientId") == client_id;
  const auto* result = json::member(action, "result");
  const bool gives_up = type == "chat/toolCallComplete" &&
                        text(*call, "status") == "auth-required" && result &&
                        !truth(json::member(*result, "success"));
  if (own || gives_up)
    return std::nullopt;
  return "the tool call " + text(action, "toolCallId") + " is not this client's to answer";
}

refusal chat(const json::value& state, const json::value& action, std::string_view type) {
  if (type == "chat/turnStarted")
    return start(state, action);
  if (type == "chat/turnCancelled")
    return cancel(state, action);
  if (type == "chat/turnResume")
    return resume(state, action);
  if (type == "chat/toolCallConfirmed")
    return in_status(state, action, {"pending-confirmation"}, "does not wait for confirmation");
  if (type == "chat/toolCallResultConfirmed")
    return in_status(state, action, {"pending-result-confirmation"},
                     "does not wait for its result to be confirmed");
  if (type == "chat/toolCallContentChanged")
    return in_status(state, action, {"running"}, "is not running");
  if (type == "chat/toolCallComplete")
    return in_status(state, action, {"running", "pending-confirmation", "auth-required"},
                     "is not running");
  if (type == "chat/inputAnswerChanged")
    return answer(state, action, false);
  if (type == "chat/inputCompleted")
    return answer(state, action, true);
  if (type == "chat/pendingMessageRemoved")
    return remove_pending(state, action);
  if (type == "chat/truncated")
    return truncate(state, action);
  return std::nullopt;
}

} // namespace ahpd::ahp::checks
