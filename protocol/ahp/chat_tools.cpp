#include "protocol/ahp/chat_steps.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

namespace ahpd::ahp::reducing {

namespace {

using json::object;
using json::value;

/// What every state of a tool call has. A transition keeps these and what it names besides.
constexpr std::array<std::string_view, 6> base_members{
  "toolCallId", "toolName", "displayName", "intention", "contributor", "_meta",
};

/// The call that an action names, in the running turn.
object* named_call(object& s, const value& a) {
  const auto id = text(a, "toolCallId");
  if (!id || !gated_turn(s, a))
    return nullptr;
  auto* call = find_tool_call(s.at("activeTurn"), *id);
  return call ? call->if_object() : nullptr;
}

bool in_status(const object& call, std::initializer_list<std::string_view> any_of) {
  const auto* status = call.if_contains("status");
  if (!status || !status->is_string())
    return false;
  const std::string_view now = status->get_string();
  return std::find(any_of.begin(), any_of.end(), now) != any_of.end();
}

/// Moves the call into a new state: the base members and those in `kept` stay, all others go.
void enter(object& call, std::string_view status, std::initializer_list<std::string_view> kept) {
  object next;
  next["status"] = status;
  const auto keep = [&](std::string_view key) {
    auto* v = call.if_contains(key);
    if (v && !v->is_null())
      next[key] = std::move(*v);
  };
  std::for_each(base_members.begin(), base_members.end(), keep);
  std::for_each(kept.begin(), kept.end(), keep);
  call = std::move(next);
}

/// A contributor may be named or refined later, but a client's ownership neither comes nor goes.
void refine_contributor(object& call, const value& a) {
  const auto* given = json::member(a, "contributor");
  const auto* held = call.if_contains("contributor");
  const auto client = [](const value* v) {
    return v && json::string_member(*v, "kind") == "client";
  };
  if (!given || client(given) != client(held))
    return;
  if (client(given) && text(*given, "clientId") != text(*held, "clientId"))
    return;
  put(call, "contributor", given);
}

/// Copies what a tool reports into its call; the call's own members are not a result's to set.
void take_result(object& call, const value& result) {
  constexpr std::array<std::string_view, 7> own{
    "status", "invocationMessage", "toolInput", "confirmed", "selectedOption", "auth", "content",
  };
  const auto is_own = [&](std::string_view key) {
    return std::find(own.begin(), own.end(), key) != own.end() ||
           std::find(base_members.begin(), base_members.end(), key) != base_members.end();
  };
  if (!result.is_object())
    return;
  for (const auto& kv : result.get_object())
    if (!kv.value().is_null() && (kv.key() == "content" || !is_own(kv.key())))
      call[kv.key()] = kv.value();
}

/// The option that a person picked, out of those the call offered.
void select_option(object& call, const value& a) {
  const auto id = text(a, "selectedOptionId");
  const auto* option = id ? find_by(call.if_contains("options"), "id", *id) : nullptr;
  if (option) {
    value copy = *option; // it lives inside the object that `put` changes
    put(call, "selectedOption", &copy);
  }
}

} // namespace

bool tool_call_waits(const value& call) {
  const auto* o = call.if_object();
  return o &&
         in_status(*o, {"pending-confirmation", "pending-result-confirmation", "auth-required"});
}

void cancel_tool_calls(object& turn) {
  auto* parts = array_at(turn, "responseParts");
  if (!parts)
    return;
  for (auto& part : *parts) {
    auto* found =
      json::string_member(part, "kind") == "toolCall" ? json::member(part, "toolCall") : nullptr;
    auto* call = found ? found->if_object() : nullptr;
    if (!call || in_status(*call, {"completed", "cancelled"}))
      continue;
    enter(*call, "cancelled", {"invocationMessage", "toolInput"});
    (*call)["reason"] = "skipped";
    if (!call->contains("invocationMessage"))
      (*call)["invocationMessage"] = "";
  }
}

bool tool_call_start(object& s, const value& a) {
  auto* turn = gated_turn(s, a);
  if (!turn || !text(a, "toolCallId"))
    return false;
  object call{{"status", "streaming"}};
  for (const auto key : base_members)
    put_given(call, a, key);
  list_at(*turn, "responseParts")
    .push_back(object{{"kind", "toolCall"}, {"toolCall", std::move(call)}});
  return true;
}

bool tool_call_delta(object& s, const value& a) {
  auto* call = named_call(s, a);
  if (!call || !in_status(*call, {"streaming"}))
    return false;
  bool changed = put_given(*call, a, "invocationMessage");
  changed |= put_given(*call, a, "_meta");
  const auto more = text(a, "content");
  if (!more)
    return changed;
  auto& input = (*call)["partialInput"];
  if (!input.is_string())
    input.emplace_string();
  input.get_string().append(*more);
  return true;
}

bool tool_call_ready(object& s, const value& a) {
  auto* call = named_call(s, a);
  if (!call || !in_status(*call, {"streaming", "running", "pending-confirmation"}))
    return false;
  put_given(*call, a, "intention");
  put_given(*call, a, "_meta");
  refine_contributor(*call, a);
  const bool streamed = in_status(*call, {"streaming"});
  const bool pending = in_status(*call, {"pending-confirmation"});
  const bool asks = !json::member(a, "confirmed");
  if (streamed)
    enter(*call, asks ? "pending-confirmation" : "running", {"invocationMessage"});
  else if (pending && asks)
    enter(*call, "pending-confirmation",
          {"invocationMessage", "toolInput", "confirmationTitle", "riskAssessment", "edits",
           "editable", "options"});
  else
    enter(*call, asks ? "pending-confirmation" : "running", {"invocationMessage", "toolInput"});
  put_given(*call, a, "invocationMessage");
  put_given(*call, a, "toolInput");
  if (asks)
    for (const auto* key : {"confirmationTitle", "riskAssessment", "edits", "editable", "options"})
      put_given(*call, a, key);
  else
    put_given(*call, a, "confirmed");
  settle_status(s);
  return true;
}

bool tool_call_confirmed(object& s, const value& a) {
  auto* call = named_call(s, a);
  const auto* approved = json::member(a, "approved");
  if (!call || !approved || !approved->is_bool() || !in_status(*call, {"pending-confirmation"}))
    return false;
  put_given(*call, a, "_meta");
  select_option(*call, a);
  enter(*call, approved->get_bool() ? "running" : "cancelled",
        {"invocationMessage", "toolInput", "selectedOption"});
  if (approved->get_bool()) {
    put_given(*call, a, "confirmed");
    // Input that is kept elsewhere (a ContentRef) cannot be edited inline.
    const auto* input = call->if_contains("toolInput");
    if (!input || input->is_string())
      if (const auto* edited = json::member(a, "editedToolInput"))
        put(*call, "toolInput", edited);
  } else {
    for (const auto* key : {"reason", "reasonMessage", "userSuggestion"})
      put_given(*call, a, key);
  }
  settle_status(s);
  return true;
}

bool tool_call_complete(object& s, const value& a) {
  auto* call = named_call(s, a);
  const auto* result = json::member(a, "result");
  if (!call || !result || !result->is_object() ||
      !in_status(*call, {"running", "pending-confirmation", "auth-required"}))
    return false;
  const bool unauthorised = in_status(*call, {"auth-required"});
  if (unauthorised && truth(*result, "success"))
    return false;
  put_given(*call, a, "_meta");
  if (in_status(*call, {"pending-confirmation"}))
    (*call)["confirmed"] = "not-needed";
  const bool asks = truth(a, "requiresResultConfirmation") && !unauthorised;
  value before;
  if (auto* content = unauthorised ? call->if_contains("content") : nullptr)
    before = std::move(*content);
  enter(*call, asks ? "pending-result-confirmation" : "completed",
        {"invocationMessage", "toolInput", "confirmed", "selectedOption"});
  if (!before.is_null())
    (*call)["content"] = std::move(before);
  take_result(*call, *result);
  settle_status(s);
  return true;
}

bool tool_call_result_confirmed(object& s, const value& a) {
  auto* call = named_call(s, a);
  const auto* approved = json::member(a, "approved");
  if (!call || !approved || !approved->is_bool() ||
      !in_status(*call, {"pending-result-confirmation"}))
    return false;
  put_given(*call, a, "_meta");
  if (approved->get_bool()) {
    (*call)["status"] = "completed";
  } else {
    enter(*call, "cancelled", {"invocationMessage", "toolInput", "selectedOption"});
    (*call)["reason"] = "result-denied";
  }
  settle_status(s);
  return true;
}

bool tool_call_content_changed(object& s, const value& a) {
  auto* call = named_call(s, a);
  if (!call || !in_status(*call, {"running"}) || !array_at(a, "content"))
    return false;
  const bool changed = put_given(*call, a, "_meta");
  return put_given(*call, a, "content") || changed;
}

bool tool_call_auth_required(object& s, const value& a) {
  auto* call = named_call(s, a);
  const auto* contributor = call ? call->if_contains("contributor") : nullptr;
  if (!contributor || json::string_member(*contributor, "kind") != "mcp" ||
      !in_status(*call, {"running"}) || !json::member(a, "auth"))
    return false;
  put_given(*call, a, "_meta");
  put_given(*call, a, "auth");
  (*call)["status"] = "auth-required";
  settle_status(s);
  return true;
}

bool tool_call_auth_resolved(object& s, const value& a) {
  auto* call = named_call(s, a);
  if (!call || !in_status(*call, {"auth-required"}))
    return false;
  put_given(*call, a, "_meta");
  call->erase("auth");
  (*call)["status"] = "running";
  settle_status(s);
  return true;
}

} // namespace ahpd::ahp::reducing
