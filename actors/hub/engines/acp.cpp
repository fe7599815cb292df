#include "actors/hub/engines/acp.hpp"

#include "actors/core/run_here.hpp"
#include "actors/hub/engines/acp_agent.hpp"
#include "actors/hub/services.hpp"
#include "protocol/acp/permission.hpp"
#include "protocol/acp/prompt.hpp"

#include <caf/all.hpp>

#include <utility>

namespace ahpd::hub {

namespace acp_agent {

namespace {

void tell_chat(self_ptr self, std::vector<json::value> actions) {
  const auto& st = self->state;
  for (auto& action : actions)
    self->send(st.context.chat, turn_step{st.now->what.turn_id,
                                          std::make_shared<const json::value>(std::move(action))});
}

/// Shows what the agent says of the session. It is what the session wants from now on too.
void show_settings(self_ptr self) {
  auto& st = self->state;
  if (!st.server || !st.server->open || st.server->applying > 0)
    return;
  for (auto& action : st.server->settings.drain()) {
    if (const auto* config = json::member(action, "config"))
      for (const auto& item : config->get_object())
        st.wanted[item.key()] = item.value();
    self->send(st.context.chat,
               session_step{std::make_shared<const json::value>(std::move(action))});
  }
}

void flush(self_ptr self) {
  auto& st = self->state;
  st.flush_due = false;
  if (st.now) {
    st.now->shown.flush();
    tell_chat(self, st.now->shown.drain());
  }
  show_settings(self);
}

/// Shows what was gathered, at most once a window; without a window each update by itself.
void flush_later(self_ptr self) {
  auto& st = self->state;
  if (st.context.host->delta_window.count() == 0)
    return flush(self);
  if (!std::exchange(st.flush_due, true))
    self->delayed_send(self, st.context.host->delta_window, flush_atom::value);
}

/// Nobody will answer these any more.
void cancel_questions(const server_ptr& of) {
  for (const auto& [call, question] : std::exchange(of->questions, {}))
    send(of, of->peer.answer(question.id, acp::cancelled_outcome()));
}

/// The agent is done with the prompt.
void on_done(self_ptr self, const json::value& how) {
  auto& st = self->state;
  auto& turn = *st.now;
  turn.shown.take_answer(how);
  const auto ending = acp::ending_of(how);
  turn.error_type = ending.error_type;
  if (const auto* error = json::member(how, "error"))
    turn.error_message = st.agent->id + ": " +
                         std::string(json::string_member(*error, "message").value_or("it failed"));
  else if (!ending.error_type.empty())
    turn.error_message = st.agent->id + " stopped: " + ending.error_type;
  if (ending.cancelled && !turn.cancelled) {
    turn.error_type = "cancelled";
    turn.error_message = st.agent->id + " cancelled the turn itself";
  }
  end(self);
}

void on_prompted(self_ptr self, const server_ptr& of, const acp::outcome& what) {
  auto& st = self->state;
  auto& turn = *st.now;
  if (const auto* error = std::get_if<jsonrpc::error>(&what)) {
    std::tie(turn.error_type, turn.error_message) = explain(st, *of, *error);
    return end(self);
  }
  if (!of->draft())
    return on_done(self, std::get<json::value>(what));
  turn.accepted = true;
  if (turn.idle)
    on_done(self, json::value(*turn.idle));
}

/// In the draft the answer to a prompt says that it was taken, and this what becomes of it.
void on_agent_state(self_ptr self, const json::value& update) {
  auto& now = self->state.now;
  const auto what = json::string_member(update, "state").value_or("");
  if (!now || !now->prompted)
    return;
  if (what == "running" || what == "requires_action") {
    now->ran = true;
  } else if (what == "idle" && now->ran && !now->idle) {
    now->idle = update;
    if (now->accepted)
      on_done(self, update);
  }
}

/// `session/request_permission`: shown as a call that waits.
void on_permission(self_ptr self, const server_ptr& of, acp::peer::call& call) {
  auto& st = self->state;
  const auto* options = call.params.if_contains("options");
  auto shown = acp::confirmation_options(options);
  if (shown.empty())
    return send(of, of->peer.refuse(call.id, {jsonrpc::invalid_params,
                                              "options must hold one to pick", nullptr}));
  const auto what =
    acp::questioned_call(call.params, "permission:" + std::to_string(++of->last_question));
  const bool takes = st.now && st.now->prompted && !st.now->cancelled;
  const auto id = takes ? st.now->shown.ask(what, std::move(shown)) : std::string();
  if (id.empty())
    return send(of, of->peer.answer(call.id, acp::cancelled_outcome()));
  if (const auto earlier = of->questions.find(id); earlier != of->questions.end())
    send(of, of->peer.answer(earlier->second.id, acp::cancelled_outcome()));
  of->questions[id] = {call.id, *options};
  tell_chat(self, st.now->shown.drain());
}

void on_confirmed(self_ptr self, const tool_confirmed& what) {
  auto& st = self->state;
  if (!st.now || st.now->what.turn_id != what.turn_id || !st.server)
    return;
  auto& open = st.server->questions;
  const auto found = open.find(what.call);
  if (found == open.end())
    return;
  const auto question = std::move(found->second);
  open.erase(found);
  if (!what.approved)
    st.now->shown.deny(what.call);
  const auto option = acp::option_for(&question.options, what.approved, what.option);
  send(st.server, st.server->peer.answer(question.id, option ? acp::selected_outcome(*option)
                                                             : acp::cancelled_outcome()));
}

/// Calls of the session's tools are shown where they run.
void leave_out_tools(state& st) {
  std::vector<std::string> names;
  for (const auto& tool : *st.tools)
    names.push_back(tool.name);
  st.now->shown.leave_out(std::move(names));
}

void begin(self_ptr self, const begin_turn& what) {
  auto& st = self->state;
  st.now.emplace(what, st.cost);
  leave_out_tools(st);
  if (st.server)
    prompt(self);
  else
    start_server(self);
}

void cancel(self_ptr self) {
  auto& st = self->state;
  if (!st.now || std::exchange(st.now->cancelled, true) || !st.server)
    return;
  if (!st.now->prompted) // it may never be ready, and nothing of the turn has begun
    return fail(self, "cancelled", "the turn was cancelled before its agent was ready");
  cancel_questions(st.server);
  send(st.server, acp::peer::tell("session/cancel", json::object{{"sessionId", *st.session}}));
  self->delayed_send(self, st.limits.cancel, grace_atom::value, st.now->what.turn_id);
}

/// Ends when nothing of the server is left, or when its place does not answer in time.
void leave(self_ptr self) {
  auto& st = self->state;
  if (st.leaving)
    return;
  st.leaving = true;
  self->delayed_send(self, st.limits.close * 2, leave_atom::value);
  if (const auto server = std::exchange(st.server, nullptr)) {
    if (server->open && server->facts.close_session)
      ask(self, server, "session/close", json::object{{"sessionId", *st.session}},
          [](const acp::outcome&) {});
    stop(server, st.limits.close);
  }
  if (st.going == 0)
    self->quit();
}

void on_tools(self_ptr self, const session_tools& what) {
  auto& st = self->state;
  st.tools = what.tools;
  if (st.now)
    leave_out_tools(st);
  if (st.server && st.server->tools)
    self->send(st.server->tools->server, what);
}

void on_settings(self_ptr self, const session_settings& what) {
  auto& st = self->state;
  st.wanted = what.values->get_object();
  if (st.server && st.server->open)
    apply_settings(self, st.server, [self] { flush_later(self); });
}

} // namespace

void prompt(self_ptr self) {
  // A setting that changed just now holds for this prompt already.
  apply_settings(self, self->state.server, [self, turn = self->state.now->what.turn_id] {
    auto& st = self->state;
    if (!st.now || st.now->what.turn_id != turn || st.now->prompted)
      return;
    st.now->prompted = true;
    show_settings(self);
    ask(self, st.server, "session/prompt",
        json::object{{"sessionId", *st.session},
                     {"prompt", acp::prompt_of(*st.now->what.message, st.server->facts)}},
        [self, of = st.server](const acp::outcome& what) { on_prompted(self, of, what); });
  });
}

void tell_edit(self_ptr self, const begin_turn& in, ahp::file_edit what) {
  self->send(
    self->state.context.chat,
    file_edited{in.turn_id, in.directory, std::make_shared<const ahp::file_edit>(std::move(what))});
}

void end(self_ptr self) {
  auto& st = self->state;
  if (st.server)
    cancel_questions(st.server);
  show_settings(self);
  st.now->shown.finish();
  tell_chat(self, st.now->shown.drain());
  st.cost = st.now->shown.total_cost();
  self->send(st.context.chat, turn_ended{st.now->what.turn_id, std::move(st.now->error_type),
                                         std::move(st.now->error_message)});
  st.now.reset();
  if (st.leaving && st.going == 0)
    self->quit();
}

void on_call(self_ptr self, const server_ptr& of, acp::peer::call call) {
  if (call.method == "session/request_permission")
    return on_permission(self, of, call);
  if (call.method == "fs/read_text_file")
    return read_file(self, of, call);
  if (call.method == "fs/write_text_file")
    return write_file(self, of, call);
  if (call.method.starts_with("terminal/"))
    return on_terminal(self, of, call);
  send(of, of->peer.refuse(call.id, {jsonrpc::method_not_found,
                                     "this host does not serve " + call.method, nullptr}));
}

void on_word(self_ptr self, const server_ptr& of, const acp::peer::word& word) {
  auto& st = self->state;
  const auto* update = word.params.if_contains("update");
  const auto* session = word.params.if_contains("sessionId");
  if (word.method != "session/update" || !update || !session || !st.session ||
      *session != json::value(*st.session))
    return;
  if (json::string_member(*update, "sessionUpdate") == "state_update")
    return on_agent_state(self, *update);
  if (!of->settings.take(*update)) {
    // What is replayed while a session opens is in the chat already.
    if (!st.now || !st.now->prompted)
      return;
    st.now->shown.take(*update);
    for (auto& edit : st.now->shown.drain_edits())
      tell_edit(self, st.now->what, std::move(edit));
    if (st.now->shown.size() > st.limits.turn_bytes)
      return fail(self, "outputTooLarge",
                  st.agent->id + ": one turn may hold " +
                    std::to_string(st.limits.turn_bytes >> 20) +
                    " MiB, and this one was stopped when it held more");
    tell_chat(self, st.now->shown.drain());
    if (!st.now->shown.gathered())
      return;
  }
  flush_later(self);
}

caf::behavior acp_actor(self_ptr self, agent_context context,
                        std::shared_ptr<const config::acp_agent> agent, acp_limits limits) {
  auto& st = self->state;
  st.context = std::move(context);
  st.agent = std::move(agent);
  st.limits = limits;
  self->monitor(st.context.chat);
  self->set_down_handler([self](caf::down_msg&) { leave(self); });
  self->set_exit_handler([self](caf::exit_msg&) { leave(self); });
  return {
    core::take_run_here(),
    [self](const begin_turn& what) { begin(self, what); },
    [self](const cancel_turn&) { cancel(self); },
    [self](const tool_confirmed& what) { on_confirmed(self, what); },
    [self](const session_settings& what) { on_settings(self, what); },
    [self](const session_tools& what) { on_tools(self, what); },
    [self](flush_atom) { flush(self); },
    [self](late_atom, const std::string& marker) {
      const auto& server = self->state.server;
      if (server && server->marker == marker && !server->open)
        fail(self, "agentError",
             self->state.agent->id + ": this ACP server did not answer " +
               (server->asked.empty() ? "its start" : server->asked) + " in time");
    },
    [self](grace_atom, const std::string& turn) {
      const auto& now = self->state.now;
      if (now && now->what.turn_id == turn && self->state.server)
        fail(self, "cancelled", "the turn did not end when it was cancelled");
    },
    [self](leave_atom) { self->quit(); },
  };
}

} // namespace acp_agent

namespace {

/// Settings that an agent may have; what it offers is known once it runs.
json::object settings_of_acp() {
  const auto one = [](const char* title, const char* about) {
    return json::object{
      {"type", "string"}, {"title", title}, {"description", about}, {"sessionMutable", true}};
  };
  return {{"permissionMode", one("Mode", "How the agent works and what it asks before.")},
          {"model", one("Model", "The model that answers.")}};
}

std::string sentences(const std::vector<std::string>& all) {
  std::string out;
  for (const auto& one : all)
    out += (out.empty() ? "" : "; ") + one;
  return out;
}

} // namespace

engine acp_engine(const config::acp_agent& agent, const acp_limits& limits) {
  engine out;
  out.provider = agent.id;
  out.display_name = agent.name;
  out.description = agent.description;
  out.settings = settings_of_acp();
  out.tells_edits = true;
  out.refused_here = sentences(agent.lacks);
  auto inside = agent.lacks;
  inside.insert(inside.end(), agent.machine_lacks.begin(), agent.machine_lacks.end());
  out.refused_in_machine = sentences(inside);
  out.spawn = [shared = std::make_shared<const config::acp_agent>(agent),
               limits](caf::actor_system& system, agent_context context) {
    return caf::actor_cast<caf::actor>(
      system.spawn(acp_agent::acp_actor, std::move(context), shared, limits));
  };
  return out;
}

} // namespace ahpd::hub
