#include "protocol/ahp/shapes_internal.hpp"

namespace ahpd::ahp::shapes {

refusal check_active_client(const place& where, const json::value& v) {
  if (auto why = check(where, v, kind::object))
    return why;
  if (auto why = check_member(where, v, "clientId", kind::id, true))
    return why;
  if (auto why = check_member(where, v, "displayName", kind::label, false))
    return why;
  if (auto why = check_member(where, v, "tools", kind::array, true))
    return why;
  const auto& tools = json::member(v, "tools")->get_array();
  for (std::size_t i = 0; i < tools.size(); ++i)
    if (auto why = check_member(where.in("tools").at(i), tools[i], "name", kind::id, true))
      return why;
  const auto* customizations = json::member(v, "customizations");
  if (!customizations)
    return std::nullopt;
  const auto there = where.in("customizations");
  if (auto why = check(there, *customizations, kind::array))
    return why;
  const auto& items = customizations->get_array();
  for (std::size_t i = 0; i < items.size(); ++i)
    if (auto why = check_member(there.at(i), items[i], "id", kind::label, true))
      return why;
  return std::nullopt;
}

refusal check_enablement(const place& where, const json::value& v) {
  if (auto why = check(where, v, kind::array))
    return why;
  const auto& items = v.get_array();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto there = where.at(i);
    if (auto why = check_word(there, items[i], "kind", {"session", "workspace", "global"}))
      return why;
    if (auto why = check_member(there, items[i], "enabled", kind::boolean, true))
      return why;
    const bool workspace = json::string_member(items[i], "kind") == "workspace";
    if (auto why = check_member(there, items[i], "uri", kind::uri, workspace))
      return why;
  }
  return std::nullopt;
}

refusal check_claim(const place& where, const json::value& v) {
  if (auto why = check_word(where, v, "kind", {"client", "session"}))
    return why;
  if (json::string_member(v, "kind") == "client")
    return check_member(where, v, "clientId", kind::id, true);
  if (auto why = check_member(where, v, "session", kind::uri, true))
    return why;
  return check_member(where, v, "chat", kind::uri, true);
}

refusal check_range(const place& where, const json::value& v) {
  for (const auto* end : {"start", "end"})
    for (const auto* axis : {"line", "character"}) {
      const auto* point = json::member(v, end);
      const auto there = where.in(end);
      if (!point)
        return needs(there, "an object");
      if (auto why = check_member(there, *point, axis, kind::number, true))
        return why;
    }
  return std::nullopt;
}

refusal check_annotation_origin(const place& where, const json::value& v) {
  if (auto why = check_member(where, v, "session", kind::uri, true))
    return why;
  if (auto why = check_member(where, v, "chat", kind::uri, false))
    return why;
  return check_member(where, v, "turnId", kind::id, false);
}

refusal check_annotation_entry(const place& where, const json::value& v) {
  if (auto why = check_member(where, v, "id", kind::id, true))
    return why;
  return check_member(where, v, "text", kind::prose, true);
}

refusal check_annotation(const place& where, const json::value& v) {
  if (auto why = check_member(where, v, "id", kind::id, true))
    return why;
  if (auto why = check_member(where, v, "origin", kind::annotation_origin, true))
    return why;
  if (auto why = check_member(where, v, "resource", kind::uri, true))
    return why;
  if (auto why = check_member(where, v, "resolved", kind::boolean, true))
    return why;
  if (auto why = check_member(where, v, "range", kind::range, false))
    return why;
  const auto there = where.in("entries");
  const auto* entries = json::member(v, "entries");
  if (!entries || !entries->is_array() || entries->get_array().empty())
    return needs(there, "an array that is not empty");
  return check_items(there, *entries, kind::annotation_entry);
}

namespace {

refusal trigger(const place& where, const json::value& v) {
  if (auto why = check_member(where, v, "id", kind::id, true))
    return why;
  if (auto why = check_word(where, v, "kind", {"schedule", "event"}))
    return why;
  if (json::string_member(v, "kind") == "event") {
    if (auto why = check_member(where, v, "type", kind::id, true))
      return why;
    return check_member(where, v, "events", kind::array, true);
  }
  const auto* schedule = json::member(v, "schedule");
  const auto there = where.in("schedule");
  if (!schedule)
    return needs(there, "an object");
  if (auto why = check_member(there, *schedule, "expression", kind::label, true))
    return why;
  return check_member(there, *schedule, "timeZone", kind::label, true);
}

} // namespace

refusal check_automation(const place& where, const json::value& v, bool whole) {
  if (auto why = check(where, v, kind::object))
    return why;
  if (auto why = check_member(where, v, "title", kind::label, whole))
    return why;
  if (auto why = check_member(where, v, "message", kind::automation_message, whole))
    return why;
  if (auto why = check_member(where, v, "session", kind::object, whole))
    return why;
  if (auto why = check_member(where, v, "enabled", kind::boolean, whole))
    return why;
  if (auto why = check_member(where, v, "disableConditions", kind::array, false))
    return why;
  if (auto why = check_member(where, v, "triggers", kind::array, whole))
    return why;
  if (const auto* triggers = json::member(v, "triggers")) {
    const auto& items = triggers->get_array();
    for (std::size_t i = 0; i < items.size(); ++i)
      if (auto why = trigger(where.in("triggers").at(i), items[i]))
        return why;
  }
  return check_member(where, v, "_meta", kind::object, false);
}

} // namespace ahpd::ahp::shapes
