#include "protocol/ahp/shapes_internal.hpp"

namespace ahpd::ahp::shapes {

namespace {

refusal attachment(const place& where, const json::value& v) {
  if (auto why = check_member(where, v, "label", kind::label, true))
    return why;
  const auto type = json::string_member(v, "type");
  if (!type)
    return needs(where.in("type"), "a string");
  if (type == "simple")
    return check_member(where, v, "modelRepresentation", kind::text, true);
  if (type == "embeddedResource") {
    const auto* data =
      json::member(v, "data"); // bounded by the frame: base64 of a picture is large
    if (!data || !data->is_string())
      return needs(where.in("data"), "a string of base64");
    return check_member(where, v, "contentType", kind::label, true);
  }
  if (type == "resource")
    return check_member(where, v, "uri", kind::uri, true);
  if (type == "annotations" || type == "chat")
    return check_member(where, v, "resource", kind::uri, true);
  return std::nullopt; // unions stay open: a kind of a later version passes
}

} // namespace

refusal check_message(const place& where, const json::value& v, std::string_view origin) {
  if (auto why = check(where, v, kind::object))
    return why;
  if (auto why = check_member(where, v, "text", kind::text, true))
    return why;
  const auto* from = json::member(v, "origin");
  if (!from || json::string_member(*from, "kind") != origin)
    return needs(where.in("origin.kind"), origin);
  if (const auto* attachments = json::member(v, "attachments")) {
    const auto there = where.in("attachments");
    if (auto why = check(there, *attachments, kind::array))
      return why;
    const auto& items = attachments->get_array();
    for (std::size_t i = 0; i < items.size(); ++i)
      if (auto why = attachment(there.at(i), items[i]))
        return why;
  }
  if (const auto* model = json::member(v, "model"))
    if (auto why = check_member(where.in("model"), *model, "id", kind::id, true))
      return why;
  if (const auto* agent = json::member(v, "agent"))
    if (auto why = check_member(where.in("agent"), *agent, "uri", kind::uri, true))
      return why;
  return check_member(where, v, "_meta", kind::object, false);
}

refusal check_tool_content(const place& where, const json::value& v) {
  if (auto why = check(where, v, kind::array))
    return why;
  const auto& items = v.get_array();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto type = json::string_member(items[i], "type");
    if (!type)
      return needs(where.at(i).in("type"), "a string");
    if (type == "text")
      if (auto why = check_member(where.at(i), items[i], "text", kind::text, true))
        return why;
  }
  return std::nullopt;
}

refusal check_tool_result(const place& where, const json::value& v) {
  if (auto why = check(where, v, kind::object))
    return why;
  if (auto why = check_member(where, v, "success", kind::boolean, true))
    return why;
  if (auto why = check_member(where, v, "pastTenseMessage", kind::prose, true))
    return why;
  if (auto why = check_member(where, v, "content", kind::tool_content, false))
    return why;
  if (auto why = check_member(where, v, "structuredContent", kind::object, false))
    return why;
  const auto* error = json::member(v, "error");
  return error ? check_member(where.in("error"), *error, "message", kind::text, true)
               : std::nullopt;
}

refusal check_answer(const place& where, const json::value& v) {
  if (auto why = check(where, v, kind::object))
    return why;
  if (auto why = check_word(where, v, "state", {"draft", "submitted", "skipped"}))
    return why;
  if (json::string_member(v, "state") == "skipped")
    return check_member(where, v, "freeformValues", kind::array, false);
  const auto* value = json::member(v, "value");
  if (!value || !value->is_object())
    return needs(where.in("value"), "an object: only a skipped answer has none");
  const auto there = where.in("value");
  const auto type = json::string_member(*value, "kind");
  if (!type)
    return needs(there.in("kind"), "a string");
  if (type == "text" || type == "selected")
    return check_member(there, *value, "value", kind::text, true);
  if (type == "number") {
    const auto* n = json::member(*value, "value");
    return n && n->is_number() ? std::nullopt : refusal(needs(there.in("value"), "a number"));
  }
  if (type == "boolean")
    return check_member(there, *value, "value", kind::boolean, true);
  if (type == "selected-many")
    return check_member(there, *value, "value", kind::ids, true);
  return std::nullopt;
}

refusal check_answers(const place& where, const json::value& v) {
  if (auto why = check(where, v, kind::object))
    return why;
  if (v.get_object().size() > max_items)
    return needs(where, "an object of at most " + std::to_string(max_items) + " answers");
  for (const auto& [question, answer] : v.get_object()) {
    if (question.size() > max_id_bytes)
      return needs(where, "keyed by ids of at most " + std::to_string(max_id_bytes) + " bytes");
    if (answer.is_null())
      continue;
    if (auto why = check_answer(where.in(question), answer))
      return why;
  }
  return std::nullopt;
}

} // namespace ahpd::ahp::shapes
