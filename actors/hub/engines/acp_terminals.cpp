#include "actors/core/errors.hpp"
#include "actors/hub/engines/acp_agent.hpp"
#include "actors/hub/services.hpp"
#include "actors/hub/terminals.hpp"
#include "protocol/ahp/find.hpp"

#include <caf/all.hpp>

#include <string.h>

namespace ahpd::hub::acp_agent {

namespace {

constexpr std::size_t most_output = 1u << 20;

void refuse(const server_ptr& of, const json::value& id, int code, std::string why) {
  send(of, of->peer.refuse(id, {code, std::move(why), nullptr}));
}

/// Asks the terminals' keeper; `then` makes the result of the server's request.
template <class Answer, class Question, class Work>
void pass_on(self_ptr self, const server_ptr& of, const json::value& id, Question what, Work then) {
  self->request(self->state.context.host->terminals->get(), caf::infinite, std::move(what))
    .then([of, id, then](const Answer& answer) { send(of, of->peer.answer(id, then(answer))); },
          [of, id](const caf::error& why) {
            refuse(of, id, jsonrpc::internal_error, core::to_wire(why).message);
          });
}

/// The same for what is answered with `unit`, which CAF hands on as no value at all.
template <class Question>
void pass_on(self_ptr self, const server_ptr& of, const json::value& id, Question what) {
  self->request(self->state.context.host->terminals->get(), caf::infinite, std::move(what))
    .then([of, id] { send(of, of->peer.answer(id, json::object{})); },
          [of, id](const caf::error& why) {
            refuse(of, id, jsonrpc::internal_error, core::to_wire(why).message);
          });
}

json::object exit_of(const std::optional<runtimes::exit_status>& status) {
  json::object out{{"exitCode", nullptr}, {"signal", nullptr}};
  if (status && status->code)
    out["exitCode"] = *status->code;
  if (const auto* name = status && status->signal ? ::sigabbrev_np(*status->signal) : nullptr)
    out["signal"] = std::string("SIG") + name;
  return out;
}

json::value output_of(const terminal_output& now) {
  json::object out{{"output", now.text}, {"truncated", now.truncated}};
  if (now.ended)
    out["exitStatus"] = exit_of(now.ended);
  return out;
}

/// What to run: a program with its arguments, or without any a line for the shell.
std::vector<std::string> argv_of(const state& st, const json::object& params,
                                 const std::string& command) {
  std::vector<std::string> argv{command};
  const auto* args = params.if_contains("args");
  if (args && args->is_array())
    for (const auto& arg : args->get_array())
      if (arg.is_string())
        argv.emplace_back(arg.get_string());
  return argv.size() > 1 ? argv
                         : shell_argv(st.context.host->shell, st.context.where.machine, command);
}

void create(self_ptr self, const server_ptr& of, const acp::peer::call& call) {
  const auto& st = self->state;
  const json::value params(call.params);
  const std::string command(json::string_member(params, "command").value_or(""));
  const std::string directory(json::string_member(params, "cwd").value_or(""));
  if (command.empty())
    return refuse(of, call.id, jsonrpc::invalid_params, "command must name a program");
  if (!directory.empty() && directory[0] != '/')
    return refuse(of, call.id, jsonrpc::invalid_params, "cwd must be an absolute path");
  open_terminal what;
  json::object claim{
    {"kind", "session"}, {"session", st.context.session_uri}, {"chat", st.context.chat_uri}};
  if (st.now)
    claim["turnId"] = st.now->what.turn_id;
  what.claim = std::make_shared<const json::value>(std::move(claim));
  what.title = command;
  what.where = st.context.where;
  what.directory = directory;
  what.argv = argv_of(st, call.params, command);
  const auto* env = json::member(params, "env");
  if (env && env->is_array())
    for (const auto& one : env->get_array())
      if (const auto name = json::string_member(one, "name"); name && !name->empty())
        what.env[std::string(*name)] = json::string_member(one, "value").value_or("");
  const auto limit = ahp::integer_member(params, "outputByteLimit");
  what.output_bytes =
    limit && *limit >= 0 ? std::min(static_cast<std::size_t>(*limit), most_output) : most_output;
  pass_on<terminal_opened>(
    self, of, call.id, std::move(what), [self, of](const terminal_opened& opened) -> json::value {
      if (of->ending || !of->terminals.insert(opened.uri).second)
        caf::anon_send(self->state.context.host->terminals->get(), close_terminal{opened.uri});
      return {{"terminalId", opened.uri}};
    });
}

} // namespace

void on_terminal(self_ptr self, const server_ptr& of, const acp::peer::call& call) {
  if (call.method == "terminal/create")
    return create(self, of, call);
  const json::value params(call.params);
  const std::string uri(json::string_member(params, "terminalId").value_or(""));
  if (!of->terminals.count(uri))
    return refuse(of, call.id, jsonrpc::invalid_params, "there is no terminal " + uri);
  if (call.method == "terminal/output")
    return pass_on<terminal_output>(self, of, call.id, read_terminal{uri}, output_of);
  if (call.method == "terminal/wait_for_exit")
    return pass_on<terminal_output>(
      self, of, call.id, wait_terminal{uri},
      [](const terminal_output& now) -> json::value { return exit_of(now.ended); });
  if (call.method == "terminal/kill")
    return pass_on(self, of, call.id, kill_terminal{uri});
  if (call.method != "terminal/release")
    return refuse(of, call.id, jsonrpc::method_not_found,
                  "this host does not serve " + call.method);
  of->terminals.erase(uri);
  pass_on(self, of, call.id, close_terminal{uri});
}

void close_terminals(self_ptr self, const server_ptr& of) {
  for (const auto& uri : std::exchange(of->terminals, {}))
    caf::anon_send(self->state.context.host->terminals->get(), close_terminal{uri});
}

} // namespace ahpd::hub::acp_agent
