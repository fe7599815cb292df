#include "actors/hub/chat_tools.hpp"

#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/find.hpp"

#include <caf/all.hpp>

#include <utility>
#include <vector>

namespace ahpd::hub::turns {

namespace {

namespace build = ahp::build;
using json::text;

tool_answer failed(std::string_view why) {
  return {std::make_shared<const json::value>(
    json::object{{"success", false}, {"pastTenseMessage", why}, {"error", {{"message", why}}}})};
}

/// The call as the running turn shows it.
const json::value* shown(const chat_state& st, const std::string& call) {
  const auto* turn = active_turn(st);
  return turn ? ahp::find_tool_call(*turn, call) : nullptr;
}

} // namespace

void call_tool(chat_ptr self, const call_offered_tool& what, caf::response_promise answer) {
  auto& st = self->state;
  const auto& tool = what.tool;
  if (!st.running || st.running->ended || !active_turn(st))
    return answer.deliver(failed("No turn is running, and " + tool.name + " runs only in one"));
  const auto& turn = st.running->turn_id;
  auto start = build::tool_call_start(turn, what.call, tool.own_name, tool.title);
  start.as_object()["contributor"] = json::object{{"kind", "client"}, {"clientId", tool.client_id}};
  auto ready = build::tool_call_ready(turn, what.call, tool.title, json::serialize(what.arguments));
  st.calls[what.call] = {tool.client_id, tool.own_name, std::move(answer)};
  publish(self, std::move(start));
  publish(self, ready);
  mirror_question(self, ready);
  if (const auto limit = st.host->client_tool_timeout; limit.count() > 0)
    st.calls[what.call].late =
      core::later(self->system(), limit, caf::actor_cast<caf::actor>(self), call_late{what.call});
}

void fail_call(chat_ptr self, const std::string& call, const std::string& why) {
  auto& st = self->state;
  const auto* there = st.calls.count(call) > 0 ? shown(st, call) : nullptr;
  if (!there)
    return;
  const auto action = build::tool_call_complete(st.running->turn_id, call, false,
                                                text(*there, "displayName"), {}, why);
  publish(self, action);
  mirror_question(self, action);
  answer_calls(self);
}

void fail_calls_of(chat_ptr self, const std::string& client_id, const std::string& why) {
  std::vector<std::string> theirs;
  for (const auto& [id, call] : self->state.calls)
    if (call.client_id == client_id)
      theirs.push_back(id);
  for (const auto& id : theirs)
    fail_call(self, id, why);
}

void on_denied(chat_ptr self, const core::client_action& a) {
  const auto id = text(*a.action, "toolCallId");
  const auto found = self->state.calls.find(id);
  const auto* approved = json::member(*a.action, "approved");
  if (found == self->state.calls.end() || found->second.client_id != a.origin.client_id ||
      !approved || *approved != json::value(false))
    return;
  const auto reason = json::member(*a.action, "reasonMessage");
  fail_call(self, id,
            reason && reason->is_string()
              ? std::string(reason->get_string())
              : a.origin.client_id + " does not run the tool " + found->second.tool);
}

void answer_calls(chat_ptr self) {
  auto& calls = self->state.calls;
  for (auto i = calls.begin(); i != calls.end();) {
    const auto* call = shown(self->state, i->first);
    const auto status = call ? text(*call, "status") : std::string();
    if (status == "completed") // it has the members of its result
      i->second.answer.deliver(tool_answer{std::make_shared<const json::value>(*call)});
    else if (status == "cancelled")
      i->second.answer.deliver(failed("The result of " + i->second.tool + " was denied"));
    i = status == "completed" || status == "cancelled" ? calls.erase(i) : std::next(i);
  }
}

void drop_calls(chat_ptr self) {
  for (auto& [id, call] : std::exchange(self->state.calls, {}))
    call.answer.deliver(failed("The turn ended before " + call.tool + " did"));
}

} // namespace ahpd::hub::turns
