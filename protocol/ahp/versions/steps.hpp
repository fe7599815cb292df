#pragma once

#include "protocol/ahp/versions.hpp"

#include <algorithm>
#include <initializer_list>

/// How each version of AHP reads in the one before it, one file a version. Everything here takes
/// any shape and leaves alone what it does not know.
namespace ahpd::ahp::versions {

using json::object;
using json::value;

/// One step back, and the way up again. What is not set differs in nothing.
struct step {
  dialect older;
  /// Actions that the older version does not know, and what says the same there.
  bool (*lacks)(std::string_view type, const value& action) = [](std::string_view, const value&) {
    return false;
  };
  std::vector<value> (*instead)(std::string_view type, const value& action, const value& state) =
    [](std::string_view, const value&, const value&) { return std::vector<value>{}; };
  bool (*needs_state)(std::string_view type) = [](std::string_view) { return false; };
  /// Actions that `action` rewrites. `state` is the channel's after the action, in the 1.0 model.
  bool (*differs)(std::string_view type, const value& action) = [](std::string_view, const value&) {
    return false;
  };
  void (*action)(std::string_view type, object& action,
                 const value& state) = [](std::string_view, object&, const value&) {};
  void (*state)(channel_kind kind, object& state) = [](channel_kind, object&) {};
  /// A session's row, or a part of one.
  void (*summary)(object& summary) = [](object&) {};
  void (*notification)(std::string_view method, object& params) = [](std::string_view, object&) {};
  void (*result)(std::string_view method, object& result) = [](std::string_view, object&) {};
  void (*accept)(std::string_view method, object& params) = [](std::string_view, object&) {};
};

extern const step to_0_9;
extern const step to_0_8;
extern const step to_0_7;
extern const step to_0_6;

using names = std::initializer_list<std::string_view>;

inline bool one_of(std::string_view name, names list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

inline void erase(object& o, names keys) {
  for (const auto key : keys)
    o.erase(key);
}

/// The member `key` as an object or a list; null when it is something else.
object* object_member(object& o, std::string_view key);
json::array* list_member(object& o, std::string_view key);

/// The word in the member `key`; empty when there is none.
std::string_view word(const object& o, std::string_view key);

using change = void (*)(object& what);

/// Calls `how` for each object that stands in a member named in `wanted`, or in a list there: in
/// `in` itself, and in whatever stands likewise in the members named in `through`.
void each(object& in, names wanted, names through, change how);

/// Each Message of a chat's document or of an action.
void each_message(object& in, change how);
/// Each Turn, the running one too.
void each_turn(object& in, change how);
/// Each ToolCallState of a chat or a session.
void each_tool_call(object& in, change how);
/// Each Customization of a session or of the root, children too.
void each_customization(object& in, change how);
/// Each ChatSummary of a session, whole or in part.
void each_chat_summary(object& in, change how);

} // namespace ahpd::ahp::versions
