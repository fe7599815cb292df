#include "protocol/ahp/chat_steps.hpp"
#include "protocol/ahp/status.hpp"
#include "protocol/ahp/time.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace ahpd::ahp::reducing {

namespace {

using json::object;
using json::value;

bool turn_started(object& s, const value& a) {
  const auto turn = text(a, "turnId");
  if (!turn || !json::member(a, "message"))
    return false;
  object active{{"id", *turn}};
  put_given(active, a, "startedAt");
  put_given(active, a, "message");
  active["responseParts"].emplace_array();
  s["activeTurn"] = std::move(active);
  if (const auto* started = json::member(a, "startedAt"))
    put(s, "modifiedAt", started);
  settle_status(s);
  set_status(s, status_of(s) & ~status::is_read);
  if (const auto queued = text(a, "queuedMessageId"))
    take_pending(s, *queued);
  return true;
}

/// Appends text to the part `partId` when it is of `kind`. Looks from the end: text arrives for the
/// newest parts.
bool fill(object& s, const value& a, std::string_view kind) {
  auto* turn = gated_turn(s, a);
  auto* parts = turn ? array_at(*turn, "responseParts") : nullptr;
  const auto id = text(a, "partId");
  const auto more = text(a, "content");
  if (!parts || !id || !more || more->empty())
    return false;
  for (auto i = parts->size(); i-- > 0;) {
    auto& part = (*parts)[i];
    if (json::string_member(part, "id") != id)
      continue;
    if (json::string_member(part, "kind") != kind)
      return false;
    auto& content = part.get_object()["content"];
    if (!content.is_string())
      content.emplace_string();
    content.get_string().append(*more);
    return true;
  }
  return false;
}

bool response_part(object& s, const value& a) {
  auto* turn = gated_turn(s, a);
  const auto* part = json::member(a, "part");
  // An error part ends a turn; it comes with chat/error only.
  if (!turn || !part || !part->is_object() || json::string_member(*part, "kind") == "error")
    return false;
  list_at(*turn, "responseParts").push_back(*part);
  return true;
}

bool usage(object& s, const value& a) {
  auto* turn = gated_turn(s, a);
  return turn && put_given(*turn, a, "usage");
}

/// A turn's length; a broken one counts as none.
value duration_of(const value& a) {
  const auto* given = json::member(a, "duration");
  const bool sane = given && given->is_number() && given->to_number<double>() > 0;
  return sane ? *given : value(0);
}

void stamp_end(object& s, const object& turn) {
  const auto* started = turn.if_contains("startedAt");
  const auto at =
    started && started->is_string() ? parse_iso8601(started->get_string()) : std::nullopt;
  const double length = turn.at("duration").to_number<double>();
  constexpr double longest = 1e14; // past any date that can be written
  if (at && length < longest)
    s["modifiedAt"] = iso8601(*at + static_cast<std::int64_t>(length));
}

bool end_turn(object& s, const value& a, std::string_view state) {
  auto* turn = gated_turn(s, a);
  if (!turn)
    return false;
  cancel_tool_calls(*turn);
  list_at(*turn, "responseParts");
  (*turn)["duration"] = duration_of(a);
  (*turn)["state"] = state;
  const auto* part = state == "error" ? json::member(a, "part") : nullptr;
  if (part && json::string_member(*part, "kind") == "error")
    list_at(*turn, "responseParts").push_back(*part);
  stamp_end(s, *turn);
  value ended = std::move(s["activeTurn"]);
  s.erase("activeTurn");
  list_at(s, "turns").push_back(std::move(ended));
  if (state == "error")
    set_activity(s, status::error);
  else
    settle_status(s);
  return true;
}

bool turn_resume(object& s, const value& a) {
  const auto id = text(a, "turnId");
  const auto* active = s.if_contains("activeTurn");
  auto* turns = array_at(s, "turns");
  if (!id || (active && !active->is_null()) || !turns || turns->empty())
    return false;
  auto& last = turns->back();
  const auto* parts = array_at(last, "responseParts");
  if (json::string_member(last, "id") != id || json::string_member(last, "state") != "error" ||
      !parts || parts->empty() || json::string_member(parts->back(), "kind") != "error" ||
      !truth(parts->back(), "resumable"))
    return false;
  value resumed = std::move(last);
  turns->pop_back();
  resumed.get_object().erase("state");
  resumed.get_object().erase("duration");
  s["activeTurn"] = std::move(resumed);
  settle_status(s);
  return true;
}

bool truncated(object& s, const value& a) {
  const auto* named = json::member(a, "turnId");
  bool changed = false;
  if (!named) {
    auto& turns = list_at(s, "turns");
    changed = !turns.empty();
    turns.clear();
    changed |= put(s, "turnsNextCursor", nullptr);
  } else {
    auto* turns = array_at(s, "turns");
    if (!turns || !named->is_string())
      return false;
    auto* at = std::find_if(turns->begin(), turns->end(), [&](const value& turn) {
      return json::string_member(turn, "id") == std::string_view(named->get_string());
    });
    if (at == turns->end())
      return false;
    changed = at + 1 != turns->end();
    turns->erase(at + 1, turns->end());
  }
  changed |= put(s, "activeTurn", nullptr);
  return settle_status(s) || changed;
}

bool turns_loaded(object& s, const value& a) {
  const auto* loaded = array_at(a, "turns");
  if (!loaded)
    return false;
  auto& turns = list_at(s, "turns");
  std::unordered_set<std::string_view> held;
  for (const auto& turn : turns)
    if (const auto id = json::string_member(turn, "id"))
      held.insert(*id);
  json::array all;
  for (const auto& turn : *loaded) {
    const auto id = json::string_member(turn, "id");
    if (id && !held.count(*id))
      all.push_back(turn);
  }
  const bool more = !all.empty();
  if (more) {
    all.reserve(all.size() + turns.size());
    for (auto& turn : turns)
      all.push_back(std::move(turn));
    turns = std::move(all);
  }
  return put_from(s, a, "turnsNextCursor") || more;
}

} // namespace

object* gated_turn(object& s, const value& a) {
  const auto id = text(a, "turnId");
  auto* active = s.if_contains("activeTurn");
  return id && active && json::string_member(*active, "id") == id ? active->if_object() : nullptr;
}

bool settle_status(object& s) {
  const auto* active = s.if_contains("activeTurn");
  if (!active || active->is_null())
    return set_activity(s, status::idle);
  const auto* parts = array_at(*active, "responseParts");
  const bool waits = parts && std::any_of(parts->begin(), parts->end(), [](const value& part) {
                       const auto kind = json::string_member(part, "kind");
                       if (kind == "inputRequest")
                         return json::member(part, "response") == nullptr;
                       const auto* call =
                         kind == "toolCall" ? json::member(part, "toolCall") : nullptr;
                       return call && tool_call_waits(*call);
                     });
  return set_activity(s, waits ? status::input_needed : status::in_progress);
}

const steps& chat_steps() {
  static const steps all{
    {"chat/turnStarted", turn_started},
    {"chat/responsePart", response_part},
    {"chat/delta", [](object& s, const value& a) { return fill(s, a, "markdown"); }},
    {"chat/reasoning", [](object& s, const value& a) { return fill(s, a, "reasoning"); }},
    {"chat/usage", usage},
    {"chat/turnComplete", [](object& s, const value& a) { return end_turn(s, a, "complete"); }},
    {"chat/turnCancelled", [](object& s, const value& a) { return end_turn(s, a, "cancelled"); }},
    {"chat/error", [](object& s, const value& a) { return end_turn(s, a, "error"); }},
    {"chat/turnResume", turn_resume},
    {"chat/activityChanged", [](object& s, const value& a) { return put_from(s, a, "activity"); }},
    {"chat/toolCallStart", tool_call_start},
    {"chat/toolCallDelta", tool_call_delta},
    {"chat/toolCallReady", tool_call_ready},
    {"chat/toolCallConfirmed", tool_call_confirmed},
    {"chat/toolCallComplete", tool_call_complete},
    {"chat/toolCallResultConfirmed", tool_call_result_confirmed},
    {"chat/toolCallContentChanged", tool_call_content_changed},
    {"chat/toolCallAuthRequired", tool_call_auth_required},
    {"chat/toolCallAuthResolved", tool_call_auth_resolved},
    {"chat/truncated", truncated},
    {"chat/turnsLoaded", turns_loaded},
    {"chat/pendingMessageSet", pending_message_set},
    {"chat/pendingMessageRemoved", pending_message_removed},
    {"chat/queuedMessagesReordered",
     [](object& s, const value& a) {
       return reorder(s, "queuedMessages", "id", array_at(a, "order"));
     }},
    {"chat/draftChanged", [](object& s, const value& a) { return put_from(s, a, "draft"); }},
    {"chat/inputRequested", input_requested},
    {"chat/inputAnswerChanged", input_answer_changed},
    {"chat/inputCompleted", input_completed},
    {"chat/workingDirectorySet",
     [](object& s, const value& a) {
       return add_string(s, "workingDirectories", text(a, "directory"));
     }},
    {"chat/workingDirectoryRemoved",
     [](object& s, const value& a) {
       return remove_string(s, "workingDirectories", text(a, "directory"));
     }},
    {"chat/isReadChanged",
     [](object& s, const value& a) { return set_flag(s, a, "isRead", status::is_read); }},
    {"chat/isArchivedChanged",
     [](object& s, const value& a) { return set_flag(s, a, "isArchived", status::is_archived); }},
    {"chat/backgroundWorkSet",
     [](object& s, const value& a) {
       return upsert(s, "backgroundWork", "id", json::member(a, "work"));
     }},
    {"chat/backgroundWorkRemoved",
     [](object& s, const value& a) { return remove(s, "backgroundWork", "id", text(a, "id")); }},
    {"chat/movableChanged", [](object& s, const value& a) { return put_given(s, a, "movable"); }},
    {"chat/changesetsChanged",
     [](object& s, const value& a) { return put_from(s, a, "changesets"); }},
    {"chat/canvasesChanged", [](object& s, const value& a) { return put_from(s, a, "canvases"); }},
  };
  return all;
}

} // namespace ahpd::ahp::reducing
