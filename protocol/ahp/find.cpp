#include "protocol/ahp/find.hpp"

#include <utility>

namespace ahpd::ahp {

std::optional<std::int64_t> integer_member(const json::value& v, std::string_view key) {
  const auto* found = json::member(v, key);
  if (!found || !found->is_number())
    return std::nullopt;
  json::error_code ec;
  const auto n = found->to_number<std::int64_t>(ec);
  return ec ? std::nullopt : std::optional<std::int64_t>(n);
}

json::value* find_by(json::value* list, std::string_view key, std::string_view wanted) {
  auto* items = list ? list->if_array() : nullptr;
  if (items)
    for (auto& item : *items)
      if (json::string_member(item, key) == wanted)
        return &item;
  return nullptr;
}

json::value* find_customization(json::value* list, std::string_view id) {
  if (auto* top = find_by(list, "id", id))
    return top;
  auto* items = list ? list->if_array() : nullptr;
  if (items)
    for (auto& container : *items)
      if (auto* child = find_by(json::member(container, "children"), "id", id))
        return child;
  return nullptr;
}

json::value* find_tool_call(json::value& turn, std::string_view id) {
  auto* parts = json::member(turn, "responseParts");
  auto* items = parts ? parts->if_array() : nullptr;
  if (!items)
    return nullptr;
  for (auto& part : *items) {
    auto* call =
      json::string_member(part, "kind") == "toolCall" ? json::member(part, "toolCall") : nullptr;
    if (call && json::string_member(*call, "toolCallId") == id)
      return call;
  }
  return nullptr;
}

json::value* find_open_input(json::value& turn, std::string_view id) {
  auto* parts = json::member(turn, "responseParts");
  auto* items = parts ? parts->if_array() : nullptr;
  if (!items)
    return nullptr;
  for (auto& part : *items) {
    if (json::string_member(part, "kind") != "inputRequest" || json::member(part, "response"))
      continue;
    const auto* request = json::member(part, "request");
    if (request && json::string_member(*request, "id") == id)
      return &part;
  }
  return nullptr;
}

const json::value* active_turn(const json::value& chat, std::string_view turn) {
  const auto* active = json::member(chat, "activeTurn");
  return active && json::string_member(*active, "id") == turn ? active : nullptr;
}

// The read-only look-ups change nothing either: they share the code above.

const json::value* find_by(const json::value* list, std::string_view key, std::string_view wanted) {
  return find_by(const_cast<json::value*>(list), key, wanted);
}

const json::value* find_customization(const json::value* list, std::string_view id) {
  return find_customization(const_cast<json::value*>(list), id);
}

const json::value* find_tool_call(const json::value& turn, std::string_view id) {
  return find_tool_call(const_cast<json::value&>(turn), id);
}

const json::value* find_open_input(const json::value& turn, std::string_view id) {
  return find_open_input(const_cast<json::value&>(turn), id);
}

} // namespace ahpd::ahp
