#include "actors/sandbox/commands.hpp"

#include "actors/core/clock.hpp"
#include "actors/core/scheduler.hpp"
#include "actors/sandbox/command.hpp"
#include "actors/sandbox/command_answers.hpp"
#include "protocol/ahp/time.hpp"
#include "protocol/random.hpp"
#include "runtimes/process/executable.hpp"
#include "runtimes/process/sweep.hpp"

#include <caf/all.hpp>

#include <algorithm>

namespace ahpd::sandbox {

namespace {

using self_ptr = caf::stateful_actor<commands_state>*;
using session = commands_state::session;
using look_atom = caf::atom_constant<caf::atom("look")>;

constexpr std::size_t most_sessions = 1024;
constexpr std::int64_t idle_ms = 1'800'000;
constexpr std::size_t most_ended = 4096; ///< commands whose output is kept in all
constexpr std::chrono::minutes look_every{1};
constexpr std::size_t longest_id = 256;

// ---- sessions -----------------------------------------------------------------------------------

/// The newest command that still runs.
const commands_state::command* current_of(const commands_state& st, const session& s) {
  for (auto id = s.commands.rbegin(); id != s.commands.rend(); ++id)
    if (const auto i = st.commands.find(*id); i != st.commands.end() && i->second.running)
      return &i->second;
  return nullptr;
}

json::object session_answer(const commands_state& st, const session& s) {
  const auto* now = current_of(st, s);
  json::object out{{"session_id", s.id},
                   {"status", "ready"},
                   {"working_dir", s.directory},
                   {"created_at", ahp::iso8601(s.created_ms)},
                   {"last_used_at", ahp::iso8601(s.used_ms)},
                   {"current_command", now ? json::value(now->text) : json::value(nullptr)},
                   {"command_count", s.count}};
  if (s.user)
    out["user"] = *s.user;
  return out;
}

/// Kills everything that was started under a marker and still lives.
void sweep(self_ptr self, const std::string& marker) {
  core::run_blocking(self->system(), [marker] { process::kill_tree({0, {marker}}); });
}

/// Of all that a session's commands start.
std::string marker_of(const commands_state& st, const session& s) {
  return st.host->run_marker + "." + std::to_string(s.number);
}

void forget_command(commands_state& st, const std::string& id) {
  const auto i = st.commands.find(id);
  if (i == st.commands.end())
    return;
  caf::anon_send_exit(i->second.actor, caf::exit_reason::user_shutdown);
  if (const auto s = st.sessions.find(i->second.session); s != st.sessions.end())
    std::erase(s->second.commands, id);
  st.commands.erase(i);
}

void close_session(self_ptr self, const std::string& id) {
  auto& st = self->state;
  const auto i = st.sessions.find(id);
  if (i == st.sessions.end())
    return;
  const auto commands = i->second.commands;
  for (const auto& each : commands)
    forget_command(st, each);
  st.sessions.erase(i);
}

/// Sessions with nothing running that were not used for long, and the longest idle ones when there
/// are too many.
void drop_idle(self_ptr self) {
  auto& st = self->state;
  const auto now = core::now_ms();
  std::vector<std::pair<std::int64_t, std::string>> idle;
  for (const auto& [id, s] : st.sessions)
    if (!current_of(st, s))
      idle.emplace_back(s.used_ms, id);
  std::sort(idle.begin(), idle.end());
  for (const auto& [used, id] : idle)
    if (used + idle_ms < now || st.sessions.size() > most_sessions)
      close_session(self, id);
}

using made_session = std::variant<session*, refusal>;

/// What a new session is to be like.
struct session_wish {
  std::string id;
  std::optional<std::string> directory;
  std::map<std::string, std::string> env;
  std::optional<std::string> user;
  std::string script;
};

made_session make_session(self_ptr self, session_wish wish) {
  auto& st = self->state;
  if (wish.id.size() > longest_id)
    return refusal{400, "The id of a session has at most " + std::to_string(longest_id) + " bytes"};
  auto as = find_runner(*st.host, wish.user);
  if (const auto* why = std::get_if<refusal>(&as))
    return *why;
  session made;
  made.as = std::get<runner>(std::move(as));
  made.id = wish.id.empty() ? new_uuid() : std::move(wish.id);
  made.user = std::move(wish.user);
  made.env = std::move(wish.env);
  made.script = std::move(wish.script);
  made.directory = made.as.home.empty() ? "/" : made.as.home;
  if (wish.directory && !wish.directory->empty()) {
    made.directory = directory_of(*st.host, *wish.directory);
    if (auto why = check_directory(made.directory))
      return *why;
  } else if (check_directory(made.directory)) {
    made.directory = "/"; // an account without a home starts there
  }
  made.number = ++st.last_session;
  made.created_ms = made.used_ms = core::now_ms();
  auto& kept = st.sessions[made.id] = std::move(made);
  if (st.sessions.size() > most_sessions)
    drop_idle(self);
  return &st.sessions.at(kept.id);
}

// ---- running ------------------------------------------------------------------------------------

/// The words of a program that runs an order, or why there is none.
std::variant<std::vector<std::string>, refusal>
words_of(const services& host, const command_order& order, const session& in,
         const std::map<std::string, std::string>& environment) {
  if (order.shell == "none") {
    std::vector<std::string> out{order.command};
    out.insert(out.end(), order.args.begin(), order.args.end());
    return out;
  }
  if (!order.args.empty())
    return refusal{400, "args needs shell \"none\": a script has no arguments"};
  if (order.shell == "powershell" || order.shell == "cmd")
    return refusal{503, "The shell " + order.shell + " is not available on Linux"};
  const bool is_sh = order.shell == "sh";
  std::string shell = is_sh ? "sh" : "bash";
  if (!is_sh && !host.options.bash.empty() && process::can_execute(host.options.bash))
    shell = host.options.bash;
  const auto found = process::find_executable(shell, environment);
  if (found.error != 0)
    return refusal{503, "The shell " + shell + " is not available: it is not on PATH"};
  auto script = order.command;
  if (!in.script.empty())
    script = ". \"$0\"\n" + script;
  std::vector<std::string> out{shell, "-c", std::move(script)};
  if (!in.script.empty())
    out.push_back(in.script);
  return out;
}

/// The session of an order, or why it has none.
made_session session_for(self_ptr self, const command_order& order) {
  auto& st = self->state;
  const auto known = st.sessions.find(order.session);
  if (!order.session.empty() && known == st.sessions.end() && !order.makes_session)
    return refusal{404, "Session not found: " + order.session};
  if (known == st.sessions.end() || order.session.empty())
    return make_session(self, {order.session, order.directory, {}, order.user, {}});
  auto& s = known->second;
  if (order.user && order.user != s.user && *order.user != s.as.name)
    return refusal{400, "The user of session " + s.id + " is fixed"};
  if (order.form == dialect::v1 && order.directory && !order.directory->empty()) {
    const auto directory = directory_of(*st.host, *order.directory);
    if (auto why = check_directory(directory))
      return *why;
    s.directory = directory;
  }
  return &s;
}

void run(self_ptr self, const run_order& what) {
  auto& st = self->state;
  const auto& order = what.order;
  const auto refuse = [&](const refusal& why) { what.what->fail(why.status, why.message); };
  const bool is_new = !st.sessions.count(order.session) || order.session.empty();
  auto found = session_for(self, order);
  if (const auto* why = std::get_if<refusal>(&found))
    return refuse(*why);
  auto& in = *std::get<session*>(found);
  const auto give_up = [&](const refusal& why) {
    if (is_new)
      st.sessions.erase(in.id);
    refuse(why);
  };

  process::spawn_request program;
  program.directory = in.directory;
  if (order.directory && !order.directory->empty()) {
    program.directory = directory_of(*st.host, *order.directory);
    if (const auto why = check_directory(program.directory))
      return give_up(*why);
  }
  program.env = order.env;
  for (const auto& each : {in.env, environment_of(*st.host, in.as)})
    program.env.insert(each.begin(), each.end());
  auto words = words_of(*st.host, order, in, program.env);
  if (const auto* why = std::get_if<refusal>(&words))
    return give_up(*why);
  program.argv = std::get<std::vector<std::string>>(std::move(words));
  program.as = in.as.as;
  program.input = true;

  command_start start{
    new_uuid(), in.id, order, std::move(program), {}, what.what, caf::actor_cast<caf::actor>(self)};
  start.marker = marker_of(st, in) + "." + std::to_string(in.count + 1);
  start.program.env[process::marker_variable] = start.marker;
  in.is_made_for_one = is_new;
  in.used_ms = core::now_ms();
  ++in.count;
  const auto id = start.id;
  in.commands.push_back(id);
  auto& kept = st.commands[id];
  kept.session = in.id;
  kept.text = order.command;
  kept.actor = self->spawn(command_actor, st.host, std::move(start));
  self->monitor(kept.actor);
}

void on_ended(self_ptr self, const std::string& id) {
  auto& st = self->state;
  const auto i = st.commands.find(id);
  if (i == st.commands.end())
    return;
  i->second.running = false;
  if (const auto s = st.sessions.find(i->second.session); s != st.sessions.end())
    s->second.used_ms = core::now_ms();
  st.ended.push_back(id);
  while (st.ended.size() > most_ended) {
    forget_command(st, st.ended.front());
    st.ended.pop_front();
  }
}

void on_failed(self_ptr self, const std::string& id) {
  auto& st = self->state;
  const auto i = st.commands.find(id);
  if (i == st.commands.end())
    return;
  const auto in = i->second.session;
  forget_command(st, id);
  const auto s = st.sessions.find(in);
  if (s != st.sessions.end() && s->second.is_made_for_one && s->second.count == 1)
    st.sessions.erase(s);
}

// ---- its routes ---------------------------------------------------------------------------------

std::map<std::string, std::string> texts_of(const json::object& from, std::string_view key) {
  std::map<std::string, std::string> out;
  if (const auto* given = from.if_contains(key))
    for (const auto& [name, value] : given->as_object())
      out.emplace(name, std::string(value.as_string()));
  return out;
}

std::optional<std::string> text_of(const json::object& from, std::string_view key) {
  const auto* given = from.if_contains(key);
  return given ? std::optional(std::string(given->as_string())) : std::nullopt;
}

void open_session(self_ptr self, call& c) {
  auto& st = self->state;
  const bool v1 = c.route->operation == "openBashV1";
  const auto id = c.text(v1 ? "session_id" : "id");
  auto user = text_of(c.body, "user");
  if (const auto known = st.sessions.find(id); known != st.sessions.end()) {
    if (user && user != known->second.user && *user != known->second.as.name)
      return c.fail(400, "The user of session " + id + " is fixed");
    return c.succeed(session_answer(st, known->second));
  }
  auto made =
    make_session(self, {id, text_of(c.body, v1 ? "exec_dir" : "cwd"), texts_of(c.body, "env"),
                        std::move(user), c.text("snapshot_path")});
  if (const auto* why = std::get_if<refusal>(&made))
    return c.fail(why->status, why->message);
  c.succeed(session_answer(st, *std::get<session*>(made)));
}

void list_sessions(const commands_state& st, call& c) {
  json::array out;
  for (const auto& [id, s] : st.sessions)
    out.push_back(session_answer(st, s));
  c.succeed(std::move(out));
}

void end_session(self_ptr self, call& c) {
  auto& st = self->state;
  const auto& id = c.path.at("session_id");
  const auto s = st.sessions.find(id);
  if (s == st.sessions.end())
    return c.fail(404, "Session not found: " + id);
  sweep(self, marker_of(st, s->second));
  close_session(self, id);
  c.succeed(empty_data(c));
}

/// The command that a call is about: the one it names, else the current or latest of its session.
void pass_on(self_ptr self, const call_ptr& what) {
  auto& st = self->state;
  auto id = what->path.count("command_id") ? what->path.at("command_id") : what->text("command_id");
  if (what->body.contains("session_id")) {
    const auto s = st.sessions.find(what->text("session_id"));
    if (s == st.sessions.end())
      return what->fail(404, "Session not found: " + what->text("session_id"));
    if (id.empty() && s->second.commands.empty())
      return what->fail(404, "Session " + s->first + " has run no command");
    if (id.empty())
      id = s->second.commands.back();
    for (const auto& each : s->second.commands)
      if (const auto c = st.commands.find(each);
          what->text("command_id").empty() && c != st.commands.end() && c->second.running)
        id = each;
  }
  const auto i = st.commands.find(id);
  if (i == st.commands.end() ||
      (what->body.contains("session_id") && i->second.session != what->text("session_id")))
    return what->fail(404, "Command not found: " + id);
  if (const auto s = st.sessions.find(i->second.session); s != st.sessions.end())
    s->second.used_ms = core::now_ms();
  self->send(i->second.actor, serve{what});
}

void serve_route(self_ptr self, const call_ptr& what) {
  const auto operation = what->route->operation;
  if (operation == "openCommandSession" || operation == "openBashV1")
    return open_session(self, *what);
  if (operation == "listCommandSessions" || operation == "listBashV1")
    return list_sessions(self->state, *what);
  if (operation == "closeCommandSession" || operation == "closeBashV1")
    return end_session(self, *what);
  pass_on(self, what);
}

} // namespace

commands_state::~commands_state() {
  for (const auto& [id, each] : commands)
    caf::anon_send_exit(each.actor, caf::exit_reason::user_shutdown);
}

caf::behavior commands_actor(caf::stateful_actor<commands_state>* self, services_ptr host) {
  self->state.host = std::move(host);
  self->set_down_handler([self](caf::down_msg& msg) {
    for (const auto& [id, each] : self->state.commands)
      if (each.actor.address() == msg.source)
        return forget_command(self->state, std::string(id));
  });
  self->delayed_send(self, look_every, look_atom::value);
  return {
    [self](const serve& what) { serve_route(self, what.what); },
    [self](const run_order& what) { run(self, what); },
    [self](const command_ended& what) { on_ended(self, what.id); },
    [self](const command_failed& what) { on_failed(self, what.id); },
    [self](look_atom) {
      drop_idle(self);
      self->delayed_send(self, look_every, look_atom::value);
    },
  };
}

// ---- what comes in ------------------------------------------------------------------------------

namespace {

void to_keeper(const call_ptr& what) {
  caf::anon_send(what->host->commands->get(), serve{what});
}

std::optional<std::chrono::milliseconds> limit_of(const json::object& body, const char* key) {
  const auto* given = body.if_contains(key);
  return given ? std::optional(seconds_of(*given)) : std::nullopt;
}

void run_v2(const call_ptr& what) {
  const auto& body = what->body;
  command_order order;
  order.command = what->text("command");
  order.shell = what->text("shell");
  if (const auto* args = body.if_contains("args"))
    for (const auto& each : args->as_array())
      order.args.emplace_back(each.as_string());
  order.directory = text_of(body, "cwd");
  order.env = texts_of(body, "env");
  order.user = text_of(body, "user");
  order.session = what->text("session");
  const auto mode = what->text("mode");
  const auto accept = what->request.headers.find("Accept");
  const bool wants_frames = accept != what->request.headers.end() &&
                            accept->second.find("application/x-ndjson") != std::string::npos;
  if (mode == "async")
    order.answer = command_order::mode::async;
  else if (mode == "stream" || wants_frames)
    order.answer = command_order::mode::stream;
  order.timeout = limit_of(body, "timeout");
  order.hard_timeout = limit_of(body, "hard_timeout");
  order.output_limit = body.at("max_output_length").to_number<std::size_t>();
  caf::anon_send(what->host->commands->get(), run_order{what, std::move(order)});
}

void run_v1(const call_ptr& what) {
  const auto& body = what->body;
  command_order order;
  order.form = dialect::v1;
  order.command = what->text("command");
  order.directory = text_of(body, "exec_dir");
  order.env = texts_of(body, "env");
  order.session = what->text("session_id");
  order.makes_session = true;
  if (body.at("async_mode").as_bool())
    order.answer = command_order::mode::async;
  order.timeout = limit_of(body, "timeout");
  order.hard_timeout = limit_of(body, "hard_timeout");
  order.output_limit = body.at("max_output_length").to_number<std::size_t>();
  caf::anon_send(what->host->commands->get(), run_order{what, std::move(order)});
}

} // namespace

std::vector<handler> command_handlers() {
  return {{"runCommand", run_v2},
          {"readCommand", to_keeper},
          {"writeCommand", to_keeper},
          {"killCommand", to_keeper},
          {"openCommandSession", to_keeper},
          {"listCommandSessions", to_keeper},
          {"closeCommandSession", to_keeper},
          {"runBashV1", run_v1},
          {"readBashV1", to_keeper},
          {"writeBashV1", to_keeper},
          {"killBashV1", to_keeper},
          {"listBashV1", to_keeper},
          {"openBashV1", to_keeper},
          {"closeBashV1", to_keeper}};
}

} // namespace ahpd::sandbox
