#pragma once

#include "protocol/json.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

/// Look-ups in state documents, shared by the reducers and the checks of dispatched actions. Each
/// tolerates any shape and gives null where the thing is not there.
namespace ahpd::ahp {

/// The member `key` as a whole number, in whichever way JSON text or code wrote it.
std::optional<std::int64_t> integer_member(const json::value& v, std::string_view key);

/// The first item of the array `list` whose string member `key` is `wanted`.
json::value* find_by(json::value* list, std::string_view key, std::string_view wanted);
const json::value* find_by(const json::value* list, std::string_view key, std::string_view wanted);

/// A customization by id in the list `customizations`: at top level, else among the children of
/// one.
json::value* find_customization(json::value* list, std::string_view id);
const json::value* find_customization(const json::value* list, std::string_view id);

/// The running turn of a chat, when its id is `turn`.
const json::value* active_turn(const json::value& chat, std::string_view turn);

/// The state of a tool call in a turn.
json::value* find_tool_call(json::value& turn, std::string_view id);
const json::value* find_tool_call(const json::value& turn, std::string_view id);

/// The part of a turn that asks for input under `id` and is not answered yet.
json::value* find_open_input(json::value& turn, std::string_view id);
const json::value* find_open_input(const json::value& turn, std::string_view id);

} // namespace ahpd::ahp
