#include "actors/core/log.hpp"
#include "actors/core/run_here.hpp"
#include "actors/hub/engines/acp_agent.hpp"
#include "actors/hub/services.hpp"
#include "actors/hub/store_actor.hpp"
#include "protocol/random.hpp"
#include "protocol/utf8.hpp"

#include <caf/all.hpp>

#include <algorithm>

#include <string.h>

namespace ahpd::hub::acp_agent {

namespace {

constexpr std::size_t keep_bytes = 1u << 20;     ///< of each output stream
constexpr std::size_t bytes_a_turn = 256u << 10; ///< so that a flood leaves the thread to others
constexpr std::size_t last_words = 8u << 10;     ///< of standard error, for a sentence
constexpr unsigned most_garbage = 20;            ///< lines that are no messages

/// Callbacks of a server's program, run inside the actor.
template <class T, class Work>
std::function<void(T)> for_server(self_ptr self, const server_ptr& of, Work work) {
  return core::back_to<T>(self, [self, of, work](T value) { work(self, of, std::move(value)); });
}

/// What the server last wrote to its standard error, as text; empty: nothing.
std::string said(const server& of) {
  if (!of.program)
    return {};
  const auto end = of.program->read(runtimes::output::err, 0, 0).end;
  auto bytes =
    of.program->read(runtimes::output::err, end > last_words ? end - last_words : 0).bytes;
  bytes.erase(0, utf8::leading_rest(bytes));
  while (!bytes.empty() && isspace(static_cast<unsigned char>(bytes.back())))
    bytes.pop_back();
  return utf8::valid(bytes) ? bytes : std::string();
}

std::string how_it_ended(const state& st, const server& of, const runtimes::exit_status& status) {
  std::string out = st.agent->command;
  if (status.code)
    out += " exited with code " + std::to_string(*status.code);
  else if (const auto* name = status.signal ? ::sigabbrev_np(*status.signal) : nullptr)
    out += std::string(" exited on SIG") + name;
  else if (status.signal)
    out += " exited on signal " + std::to_string(*status.signal);
  else
    out += ": " + status.lost;
  if (of.lines.inside_line())
    out += " in the middle of a message";
  const auto words = said(of);
  return words.empty() ? out : out + ": " + words;
}

/// Everything of the turn's end that waited for the server's.
void gone(self_ptr self, const server_ptr& what) {
  auto& st = self->state;
  write_later(self, st.context.host->store->get(),
              [marker = what->marker](config::store& db) { db.remove_run(marker); });
  --st.going;
  if (st.going > 0)
    return;
  if (st.now && !st.server)
    end(self);
  else if (st.leaving)
    self->quit();
}

/// The program has ended: nothing that it started may be left either.
void sweep(self_ptr self, const server_ptr& what) {
  const auto swept =
    for_server<bool>(self, what, [](self_ptr me, const server_ptr& of, bool) { gone(me, of); });
  what->place->sweep({what->marker}, [swept](std::size_t, const std::string&) { swept(true); });
}

void on_line(self_ptr self, const server_ptr& of, const std::string& line) {
  auto event = of->peer.take(line);
  if (auto* call = std::get_if<acp::peer::call>(&event))
    return on_call(self, of, std::move(*call));
  if (const auto* word = std::get_if<acp::peer::word>(&event))
    return on_word(self, of, *word);
  const auto* fault = std::get_if<acp::peer::fault>(&event);
  if (!fault)
    return;
  if (!fault->reply.empty())
    send(of, fault->reply);
  core::log::warning("a line of an ACP server was left out",
                     {{"agent", self->state.agent->id}, {"why", fault->why}});
  if (++of->garbage > most_garbage)
    fail(self, "agentError",
         self->state.agent->id + ": its server writes what is no ACP message: " + fault->why);
}

/// Takes some of what the server has written; true when there may be more.
bool read_some(self_ptr self, const server_ptr& of) {
  // Of its standard error only the end is wanted, but it waits for who does not read.
  const auto errors = of->program->read(runtimes::output::err, of->errors_to);
  of->errors_to = errors.offset + errors.bytes.size();
  const auto got = of->program->read(runtimes::output::out, of->read_to, bytes_a_turn);
  if (of->ending)
    return false;
  const auto& id = self->state.agent->id;
  of->read_to = got.offset + got.bytes.size();
  for (const auto& line : of->lines.feed(got.bytes))
    if (!of->ending)
      on_line(self, of, line);
  if (!of->ending && of->lines.too_long())
    fail(self, "agentError",
         id + ": its server sent a message of more than " +
           std::to_string(acp::longest_line >> 20) + " MiB");
  return of->read_to < got.end;
}

void on_output(self_ptr self, const server_ptr& of) {
  if (of->program && read_some(self, of))
    for_server<bool>(self, of,
                     [](self_ptr me, const server_ptr& from, bool) { on_output(me, from); })(true);
}

void on_exit(self_ptr self, const server_ptr& of, const runtimes::exit_status& status) {
  auto& st = self->state;
  while (read_some(self, of)) {
  }
  of->peer.forget();
  of->tools.reset();
  close_terminals(self, of);
  if (st.server == of)
    st.server.reset();
  // Of a turn that it was running this is the failure, unless one is known already.
  if (st.now && !st.server && st.now->error_type.empty()) {
    st.now->error_type = "agentEnded";
    st.now->error_message = how_it_ended(st, *of, status);
  }
  sweep(self, of);
}

void on_started(self_ptr self, const server_ptr& of, const runtimes::exec_result& result) {
  auto& st = self->state;
  if (!result.program) {
    if (st.server == of)
      st.server.reset();
    if (st.now && st.now->error_type.empty()) {
      st.now->error_type = "agentNotStarted";
      st.now->error_message = result.refused;
    }
    return sweep(self, of); // one that was given up on may start yet
  }
  of->program = result.program;
  if (of->ending || st.leaving)
    return stop(of, std::chrono::milliseconds{0});
  open_session(self, of);
}

runtimes::exec_request command_of(const state& st, const server& what) {
  const auto& agent = *st.agent;
  const bool inside = !st.context.where.machine.empty();
  runtimes::exec_request run;
  run.argv = {agent.command};
  run.argv.insert(run.argv.end(), agent.args.begin(), agent.args.end());
  run.env = agent.env;
  run.directory = st.now->what.directory;
  if (inside) {
    for (const auto& [key, value] : agent.machine_env)
      run.env[key] = value;
    if (!agent.machine_state.empty())
      run.argv.insert(run.argv.begin(),
                      {"sh", "-c", "mkdir -p -- \"$0\" && exec \"$@\"", agent.machine_state});
  } else if (!agent.cwd.empty()) {
    run.directory = agent.cwd;
  }
  run.input = true;
  run.marker = what.marker;
  run.keep_bytes = keep_bytes;
  run.wait_for_reader = true;
  return run;
}

void run(self_ptr self, const server_ptr& what) {
  runtimes::exec_events events;
  const auto wrote = for_server<bool>(
    self, what, [](self_ptr me, const server_ptr& of, bool) { on_output(me, of); });
  events.on_output = [wrote] { wrote(true); };
  events.on_exit = for_server<runtimes::exit_status>(self, what, on_exit);
  what->place->exec(command_of(self->state, *what), std::move(events),
                    for_server<runtimes::exec_result>(self, what, on_started));
}

} // namespace

state::~state() {
  if (!server)
    return;
  server->peer.forget();
  server->tools.reset();
  if (server->program)
    server->program->kill(std::chrono::milliseconds{0});
}

void start_server(self_ptr self) {
  auto& st = self->state;
  st.server = std::make_shared<server>(st.agent->id, st.now->what.place, random_hex(16));
  ++st.going;
  st.server->late = core::later(self->system(), st.limits.open, caf::actor_cast<caf::actor>(self),
                                late_atom::value, st.server->marker);
  // What is started is known to the store first: a hub that is killed leaves nothing running.
  auto session = std::make_shared<std::string>();
  auto job = [session, marker = st.server->marker, uri = st.context.chat_uri,
              machine = st.context.where.machine](config::store& db) {
    db.put_run(config::run_row::of_agent(marker, machine, uri));
    *session = db.backend_of_chat(uri);
  };
  self->request(st.context.host->store->get(), caf::infinite, make_store_job(job))
    .then(
      [self, session, what = st.server] {
        auto& now = self->state;
        if (!now.session)
          now.session = *session;
        if (!what->ending && now.now)
          return run(self, what);
        if (now.server == what)
          now.server.reset();
        gone(self, what);
      },
      [self](const caf::error& why) { self->quit(why); });
}

void send(const server_ptr& to, std::string frame) {
  if (frame.empty() || !to->program)
    return;
  frame += '\n';
  to->program->write(std::move(frame));
}

void ask(self_ptr self, const server_ptr& of, std::string_view method, const json::value& params,
         std::function<void(acp::outcome)> done) {
  // Called inside `take`, so inside the actor; a server that is on its way out answers nobody.
  send(of, of->peer.ask(method, params, [self, weak = std::weak_ptr(of), done](acp::outcome what) {
    const auto still = weak.lock();
    if (still && !still->ending && self->state.server == still)
      done(std::move(what));
  }));
}

void fail(self_ptr self, std::string error_type, std::string message) {
  auto& st = self->state;
  core::log::warning("an ACP server is ended", {{"agent", st.agent->id}, {"why", message}});
  if (st.now && st.now->error_type.empty()) {
    st.now->error_type = std::move(error_type);
    st.now->error_message = std::move(message);
  }
  if (const auto what = std::exchange(st.server, nullptr))
    stop(what, std::chrono::milliseconds{0});
}

void stop(const server_ptr& what, std::chrono::milliseconds grace) {
  what->ending = true;
  what->peer.forget();
  what->tools.reset();
  if (!what->program)
    return; // its start will see that
  what->program->close_input();
  what->program->kill(grace);
}

} // namespace ahpd::hub::acp_agent
