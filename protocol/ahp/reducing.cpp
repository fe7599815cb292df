#include "protocol/ahp/reducing.hpp"

#include "protocol/ahp/status.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace ahpd::ahp::reducing {

bool put(json::object& o, std::string_view key, const json::value* v) {
  auto* held = o.if_contains(key);
  if (!v) {
    const bool there = held && !held->is_null();
    if (held)
      o.erase(key);
    return there;
  }
  if (held && *held == *v)
    return false;
  if (held)
    *held = *v;
  else
    o.emplace(key, *v);
  return true;
}

bool put_from(json::object& o, const json::value& action, std::string_view key) {
  return put(o, key, json::member(action, key));
}

bool put_given(json::object& o, const json::value& action, std::string_view key) {
  const auto* v = json::member(action, key);
  return v && put(o, key, v);
}

json::object* object_at(json::object& o, std::string_view key) {
  auto* v = o.if_contains(key);
  return v ? v->if_object() : nullptr;
}

json::array* array_at(json::object& o, std::string_view key) {
  auto* v = o.if_contains(key);
  return v ? v->if_array() : nullptr;
}

const json::array* array_at(const json::value& v, std::string_view key) {
  const auto* found = json::member(v, key);
  return found ? found->if_array() : nullptr;
}

json::array& list_at(json::object& o, std::string_view key) {
  auto& v = o[key];
  return v.is_array() ? v.get_array() : v.emplace_array();
}

bool upsert(json::object& o, std::string_view key, std::string_view id, const json::value* item) {
  const auto wanted = item ? json::string_member(*item, id) : std::nullopt;
  if (!wanted)
    return false;
  if (auto* held = find_by(o.if_contains(key), id, *wanted)) {
    if (*held == *item)
      return false;
    *held = *item;
    return true;
  }
  list_at(o, key).push_back(*item);
  return true;
}

bool remove(json::object& o, std::string_view key, std::string_view id,
            std::optional<std::string_view> wanted) {
  auto* list = array_at(o, key);
  if (!list || !wanted)
    return false;
  auto* last = std::remove_if(list->begin(), list->end(), [&](const json::value& item) {
    return json::string_member(item, id) == wanted;
  });
  const bool found = last != list->end();
  list->erase(last, list->end());
  return found;
}

void drop_empty(json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  if (v &&
      ((v->is_array() && v->get_array().empty()) || (v->is_object() && v->get_object().empty())))
    o.erase(key);
}

bool reorder(json::object& o, std::string_view key, std::string_view id, const json::array* order) {
  auto* list = array_at(o, key);
  if (!list || !order)
    return false;
  // Positions instead of items: the list is only rebuilt when its order really changes.
  std::unordered_map<std::string_view, std::size_t> at;
  for (std::size_t i = 0; i < list->size(); ++i)
    if (const auto name = json::string_member((*list)[i], id))
      at.emplace(*name, i);
  std::vector<std::size_t> positions;
  std::vector<bool> placed(list->size());
  for (const auto& wanted : *order) {
    const auto found =
      wanted.is_string() ? at.find(std::string_view(wanted.get_string())) : at.end();
    if (found == at.end() || placed[found->second])
      continue;
    placed[found->second] = true;
    positions.push_back(found->second);
  }
  for (std::size_t i = 0; i < list->size(); ++i)
    if (!placed[i])
      positions.push_back(i);
  if (std::is_sorted(positions.begin(), positions.end()))
    return false;
  json::array sorted;
  sorted.reserve(positions.size());
  for (const auto i : positions)
    sorted.push_back(std::move((*list)[i]));
  *list = std::move(sorted);
  return true;
}

bool add_string(json::object& o, std::string_view key, std::optional<std::string_view> text) {
  if (!text)
    return false;
  if (const auto* list = array_at(o, key))
    for (const auto& item : *list)
      if (item.is_string() && item.get_string() == *text)
        return false;
  list_at(o, key).push_back(json::value(*text));
  return true;
}

bool remove_string(json::object& o, std::string_view key, std::optional<std::string_view> text) {
  auto* list = array_at(o, key);
  if (!list || !text)
    return false;
  auto* last = std::remove_if(list->begin(), list->end(), [&](const json::value& item) {
    return item.is_string() && item.get_string() == *text;
  });
  const bool found = last != list->end();
  list->erase(last, list->end());
  return found;
}

std::int64_t status_of(const json::object& o) {
  const auto* v = o.if_contains("status");
  if (!v || !v->is_number())
    return 0;
  json::error_code ec;
  const auto n = v->to_number<std::int64_t>(ec);
  return ec ? 0 : n;
}

bool set_status(json::object& o, std::int64_t bits) {
  if (status_of(o) == bits && o.contains("status"))
    return false;
  o["status"] = bits;
  return true;
}

bool set_activity(json::object& o, std::int64_t activity) {
  return set_status(o, (status_of(o) & ~status::activity_mask) | activity);
}

bool set_flag(json::object& o, const json::value& action, std::string_view flag, std::int64_t bit) {
  const auto* on = json::member(action, flag);
  if (!on || !on->is_bool())
    return false;
  const auto bits = status_of(o);
  return set_status(o, on->get_bool() ? bits | bit : bits & ~bit);
}

bool change_config(json::object& o, const json::value& action) {
  auto* config = object_at(o, "config");
  const auto* changes = json::member(action, "config");
  if (!config || !changes || !changes->is_object())
    return false;
  if (truth(action, "replace"))
    return put(*config, "values", changes);
  auto& held = (*config)["values"];
  auto& values = held.is_object() ? held.get_object() : held.emplace_object();
  bool changed = false;
  for (const auto& kv : changes->get_object())
    if (!kv.value().is_null())
      changed |= put(values, kv.key(), &kv.value());
  return changed;
}

std::optional<std::string_view> text(const json::value& action, std::string_view key) {
  return json::string_member(action, key);
}

bool truth(const json::value& action, std::string_view key) {
  const auto* v = json::member(action, key);
  return v && v->is_bool() && v->get_bool();
}

} // namespace ahpd::ahp::reducing
