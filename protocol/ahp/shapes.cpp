#include "protocol/ahp/shapes.hpp"

#include "protocol/ahp/shapes_internal.hpp"
#include "protocol/ahp/time.hpp"
#include "protocol/ahp/uris.hpp"

#include <algorithm>
#include <cmath>

namespace ahpd::ahp::shapes {

namespace {

refusal string_of(const place& where, const json::value& v, std::size_t most) {
  if (!v.is_string())
    return needs(where, "a string");
  if (v.get_string().size() > most)
    return needs(where, "at most " + std::to_string(most) + " bytes long");
  return std::nullopt;
}

refusal uri(const place& where, const json::value& v) {
  if (!v.is_string() || !plausible_uri(v.get_string()))
    return needs(where, "a URI of at most 2048 bytes");
  return std::nullopt;
}

refusal time(const place& where, const json::value& v) {
  if (!v.is_string() || !parse_iso8601(v.get_string()))
    return needs(where, "an ISO 8601 time such as 2026-11-30T10:00:00.000Z");
  return std::nullopt;
}

refusal number(const place& where, const json::value& v) {
  if (!v.is_number() || !(v.to_number<double>() >= 0))
    return needs(where, "a number that is not negative");
  return std::nullopt;
}

refusal cells(const place& where, const json::value& v) {
  if (!v.is_int64() || v.get_int64() < 1 || v.get_int64() > 10'000)
    return needs(where, "an integer of 1 to 10000");
  return std::nullopt;
}

refusal prose(const place& where, const json::value& v) {
  if (v.is_string())
    return string_of(where, v, max_text_bytes);
  if (!json::string_member(v, "markdown"))
    return needs(where, "a string or an object with markdown");
  return string_of(where.in("markdown"), *json::member(v, "markdown"), max_text_bytes);
}

} // namespace

place place::in(std::string_view member) const {
  return {action, path.empty() ? std::string(member) : path + "." + std::string(member)};
}

place place::at(std::size_t index) const {
  return {action, path + "[" + std::to_string(index) + "]"};
}

std::string needs(const place& where, std::string_view what) {
  return std::string(where.action) + " needs " + where.path + " to be " + std::string(what);
}

refusal check_items(const place& where, const json::value& v, kind what) {
  if (auto why = check(where, v, kind::array))
    return why;
  const auto& items = v.get_array();
  for (std::size_t i = 0; i < items.size(); ++i)
    if (auto why = check(where.at(i), items[i], what))
      return why;
  return std::nullopt;
}

refusal check(const place& where, const json::value& v, kind what) {
  switch (what) {
  case kind::id:
    if (v.is_string() && v.get_string().empty())
      return needs(where, "a string that is not empty");
    return string_of(where, v, max_id_bytes);
  case kind::label:
    return string_of(where, v, max_label_bytes);
  case kind::text:
    return string_of(where, v, max_text_bytes);
  case kind::uri:
    return uri(where, v);
  case kind::time:
    return time(where, v);
  case kind::boolean:
    return v.is_bool() ? std::nullopt : refusal(needs(where, "true or false"));
  case kind::number:
    return number(where, v);
  case kind::cells:
    return cells(where, v);
  case kind::object:
    return v.is_object() ? std::nullopt : refusal(needs(where, "an object"));
  case kind::array:
    if (!v.is_array())
      return needs(where, "an array");
    if (v.get_array().size() > max_items)
      return needs(where, "an array of at most " + std::to_string(max_items) + " items");
    return std::nullopt;
  case kind::ids:
    return check_items(where, v, kind::id);
  case kind::uris:
    return check_items(where, v, kind::uri);
  case kind::prose:
    return prose(where, v);
  case kind::user_message:
    return check_message(where, v, "user");
  case kind::automation_message:
    return check_message(where, v, "automation");
  case kind::active_client:
    return check_active_client(where, v);
  case kind::enablement:
    return check_enablement(where, v);
  case kind::tool_content:
    return check_tool_content(where, v);
  case kind::tool_result:
    return check_tool_result(where, v);
  case kind::answer:
    return check_answer(where, v);
  case kind::answers:
    return check_answers(where, v);
  case kind::claim:
    return check_claim(where, v);
  case kind::range:
    return check_range(where, v);
  case kind::annotation:
    return check_annotation(where, v);
  case kind::annotation_origin:
    return check_annotation_origin(where, v);
  case kind::annotation_entry:
    return check_annotation_entry(where, v);
  case kind::automation_definition:
    return check_automation(where, v, true);
  case kind::automation_changes:
    return check_automation(where, v, false);
  }
  return std::nullopt;
}

refusal check_member(const place& where, const json::value& o, std::string_view name, kind what,
                     bool required) {
  const auto* v = json::member(o, name);
  if (v)
    return check(where.in(name), *v, what);
  // The value's own check words what was expected.
  return required ? check(where.in(name), json::value(), what) : std::nullopt;
}

refusal check_word(const place& where, const json::value& o, std::string_view name,
                   std::initializer_list<std::string_view> words) {
  const auto word = json::string_member(o, name);
  if (word && std::find(words.begin(), words.end(), *word) != words.end())
    return std::nullopt;
  std::string expected;
  for (const auto w : words)
    expected += (expected.empty() ? "" : " or ") + std::string(w);
  return needs(where.in(name), expected);
}

} // namespace ahpd::ahp::shapes
