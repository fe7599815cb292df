#include "protocol/ahp/find.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/ahp/versions/steps.hpp"

/// 0.9 as 0.8 has it: turns fail with a member instead of a part, terminals end with a code, and
/// nobody automates.
namespace ahpd::ahp::versions {

namespace {

constexpr std::string_view annotations_leaf = "/annotations";

// ---- parts that differ --------------------------------------------------------------------------

bool is_error(const value& part) {
  return json::string_member(part, "kind") == "error";
}

/// Of a turn that failed, the last error part is its `error`. One that was resumed has earlier
/// ones, which 0.8 cannot show.
void turn(object& t) {
  auto* parts = list_member(t, "responseParts");
  if (!parts)
    return;
  value error;
  if (word(t, "state") == "error" && !parts->empty() && is_error(parts->back()))
    if (const auto* why = json::member(parts->back(), "error"))
      error = *why;
  parts->erase(std::remove_if(parts->begin(), parts->end(), is_error), parts->end());
  if (!error.is_null())
    t["error"] = std::move(error); // moves the members that `parts` pointed into
}

void message(object& m) {
  auto* origin = object_member(m, "origin");
  if (origin && word(*origin, "kind") == "automation")
    (*origin)["kind"] = "systemNotification";
}

/// A terminal's state or its row in the root's list.
void terminal(object& t) {
  if (auto* claim = object_member(t, "claim"))
    claim->erase("chat");
  if (const auto* lifecycle = object_member(t, "lifecycle"))
    if (const auto* code = lifecycle->if_contains("exitCode"); code && code->is_number())
      t["exitCode"] = *code;
  t.erase("lifecycle");
}

/// An annotation, or the members of one that annotations/updated sets.
void annotation(object& a) {
  const auto* origin = object_member(a, "origin");
  if (!origin)
    return;
  a["turnId"] = word(*origin, "turnId"); // 0.8 needs one; an empty one names no turn
  a.erase("origin");
}

// ---- actions ------------------------------------------------------------------------------------

bool lacks(std::string_view type, const value& a) {
  if (type == "chat/responsePart") {
    const auto* part = json::member(a, "part");
    return part && is_error(*part);
  }
  return type == "chat/turnResume" || type.substr(0, 11) == "automation/" ||
         type.substr(0, 14) == "automationRun/";
}

bool needs_state(std::string_view type) {
  return type == "chat/turnResume";
}

/// A turn that goes on after its failure: 0.8 forgets it and hears it again from its start.
std::vector<value> resumed(const value& a, const value& chat) {
  const auto id = json::string_member(a, "turnId");
  const auto* turn_now = id ? active_turn(chat, *id) : nullptr;
  if (!turn_now)
    return {};
  object cut{{"type", "chat/truncated"}};
  const auto* turns = json::member(chat, "turns");
  const bool more = turns && turns->is_array() && !turns->get_array().empty();
  if (more)
    if (const auto last = json::string_member(turns->get_array().back(), "id"))
      cut["turnId"] = *last;
  std::vector<value> out{std::move(cut)};
  // Cutting all turns off forgets that older ones can be fetched.
  if (const auto* cursor = json::member(chat, "turnsNextCursor"); cursor && !more)
    out.push_back(
      {{"type", "chat/turnsLoaded"}, {"turns", json::array{}}, {"turnsNextCursor", *cursor}});
  object started{{"type", "chat/turnStarted"}, {"turnId", *id}};
  for (const auto* key : {"startedAt", "message"})
    if (const auto* v = json::member(*turn_now, key))
      started[key] = *v;
  each_message(started, message);
  out.push_back(std::move(started));
  const auto* parts = json::member(*turn_now, "responseParts");
  if (parts && parts->is_array())
    for (const auto& part : parts->get_array())
      if (!is_error(part))
        out.push_back(object{{"type", "chat/responsePart"}, {"turnId", *id}, {"part", part}});
  if (const auto* usage = json::member(*turn_now, "usage"))
    out.push_back(object{{"type", "chat/usage"}, {"turnId", *id}, {"usage", *usage}});
  return out;
}

std::vector<value> instead(std::string_view type, const value& a, const value& chat) {
  return type == "chat/turnResume" ? resumed(a, chat) : std::vector<value>{};
}

bool differs(std::string_view type, const value&) {
  return one_of(type,
                {"chat/error", "chat/turnStarted", "chat/pendingMessageSet", "chat/draftChanged",
                 "chat/turnsLoaded", "root/terminalsChanged", "terminal/claimed", "annotations/set",
                 "annotations/updated", "changeset/contentChanged"});
}

void action(std::string_view type, object& a, const value& state_after) {
  if (type == "chat/error") {
    if (auto* part = object_member(a, "part")) {
      if (auto* error = part->if_contains("error"))
        a["error"] = value(*error);
      a.erase("part");
    }
  } else if (type == "root/terminalsChanged") {
    each(a, {"terminals"}, {}, terminal);
  } else if (type == "terminal/claimed") {
    terminal(a);
  } else if (type == "annotations/set") {
    each(a, {"annotation"}, {}, annotation);
  } else if (type == "annotations/updated") {
    annotation(a);
  } else if (type == "changeset/contentChanged") {
    // In 0.8 new content clears the error unless it says it again; since 0.9 it stays.
    if (const auto* error = json::member(state_after, "error"))
      a["error"] = *error;
  } else {
    each_turn(a, turn);
    each_message(a, message);
  }
}

// ---- documents ----------------------------------------------------------------------------------

void state(channel_kind kind, object& s) {
  switch (kind) {
  case channel_kind::root:
    return each(s, {"terminals"}, {}, terminal);
  case channel_kind::session:
    if (word(s, "lifecycle") == "failed")
      s["lifecycle"] = "creationFailed";
    s.erase("origin"); // an automation
    return;
  case channel_kind::chat:
    each_turn(s, turn);
    return each_message(s, message);
  case channel_kind::terminal:
    return terminal(s);
  case channel_kind::annotations:
    return each(s, {"annotations"}, {}, annotation);
  default:
    return;
  }
}

void summary(object& s) {
  s.erase("origin");
}

void result(std::string_view method, object& r) {
  if (method == "initialize")
    erase(r, {"_meta", "automations"});
}

// ---- what a peer of 0.8 sends -------------------------------------------------------------------

/// A session's terminal belongs to one of its chats since 0.9: the first, when nobody says which.
void accept_claim(object& in) {
  auto* claim = object_member(in, "claim");
  if (claim && word(*claim, "kind") == "session" && !word(*claim, "session").empty() &&
      !claim->contains("chat"))
    (*claim)["chat"] = default_chat_uri(word(*claim, "session"));
}

void accept_annotation(object& a, std::string_view channel) {
  if (a.contains("origin"))
    return;
  if (channel.size() > annotations_leaf.size() &&
      channel.substr(channel.size() - annotations_leaf.size()) == annotations_leaf)
    channel.remove_suffix(annotations_leaf.size());
  object origin{{"session", channel}};
  if (const auto* id = a.if_contains("turnId"); id && *id != value(""))
    origin["turnId"] = *id;
  a["origin"] = std::move(origin);
  a.erase("turnId");
}

void accept(std::string_view method, object& params) {
  if (method == "createTerminal")
    return accept_claim(params);
  auto* a = method == "dispatchAction" ? object_member(params, "action") : nullptr;
  if (!a)
    return;
  const auto type = word(*a, "type");
  if (type == "terminal/claimed")
    accept_claim(*a);
  else if (type == "annotations/updated" && a->contains("turnId"))
    accept_annotation(*a, word(params, "channel"));
  else if (auto* set = type == "annotations/set" ? object_member(*a, "annotation") : nullptr)
    accept_annotation(*set, word(params, "channel"));
}

} // namespace

const step to_0_8{.older = dialect::v0_8,
                  .lacks = lacks,
                  .instead = instead,
                  .needs_state = needs_state,
                  .differs = differs,
                  .action = action,
                  .state = state,
                  .summary = summary,
                  .result = result,
                  .accept = accept};

} // namespace ahpd::ahp::versions
