#pragma once

#include "protocol/ahp/find.hpp"
#include "protocol/json.hpp"

#include <initializer_list>
#include <string_view>
#include <unordered_map>

/// What the reducers share. A step folds one type of action into a state and says whether the state
/// changed. Everything here tolerates any shape: what does not fit changes nothing.
namespace ahpd::ahp::reducing {

using step = bool (*)(json::object& state, const json::value& action);
using steps = std::unordered_map<std::string_view, step>;

const steps& root_steps();
const steps& session_steps();
const steps& chat_steps();
const steps& terminal_steps();
const steps& changeset_steps();
const steps& annotations_steps();
const steps& automations_steps();
const steps& automation_run_steps();
const steps& computers_steps();

/// Sets the member `key` to a copy of `v`, or removes it when `v` is null.
bool put(json::object& o, std::string_view key, const json::value* v);

/// `put` of the action's member of the same name: absent removes.
bool put_from(json::object& o, const json::value& action, std::string_view key);

/// The same, but an absent member changes nothing.
bool put_given(json::object& o, const json::value& action, std::string_view key);

/// The member `key` as an object or array, or null.
json::object* object_at(json::object& o, std::string_view key);
json::array* array_at(json::object& o, std::string_view key);
const json::array* array_at(const json::value& v, std::string_view key);

/// The member `key`, made an empty array where it is none.
json::array& list_at(json::object& o, std::string_view key);

/// Puts `item` into the list `key`, in place of the one whose member `id` is the same.
bool upsert(json::object& o, std::string_view key, std::string_view id, const json::value* item);

/// Takes the items whose string member `id` is `wanted` out of the list `key`.
bool remove(json::object& o, std::string_view key, std::string_view id,
            std::optional<std::string_view> wanted);

/// Removes the member `key` when it is an empty array or object.
void drop_empty(json::object& o, std::string_view key);

/// Items whose member `id` is in `order` first, in that order, then the others as they were.
bool reorder(json::object& o, std::string_view key, std::string_view id, const json::array* order);

/// Appends to and removes from a list of strings, each string there once.
bool add_string(json::object& o, std::string_view key, std::optional<std::string_view> text);
bool remove_string(json::object& o, std::string_view key, std::optional<std::string_view> text);

/// Status bits: the activity, and one flag by the boolean member `flag` of the action.
std::int64_t status_of(const json::object& o);
bool set_activity(json::object& o, std::int64_t activity);
bool set_status(json::object& o, std::int64_t bits);
bool set_flag(json::object& o, const json::value& action, std::string_view flag, std::int64_t bit);

/// `root/configChanged` and `session/configChanged`.
bool change_config(json::object& o, const json::value& action);

/// The member `key` of the action as text.
std::optional<std::string_view> text(const json::value& action, std::string_view key);
bool truth(const json::value& action, std::string_view key);

} // namespace ahpd::ahp::reducing
