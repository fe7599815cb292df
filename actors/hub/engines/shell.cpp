#include "actors/core/run_here.hpp"
#include "actors/hub/engines/built_in.hpp"
#include "actors/hub/engines/shell_output.hpp"
#include "actors/hub/machines.hpp"
#include "actors/hub/services.hpp"
#include "actors/hub/store_actor.hpp"
#include "actors/hub/tools.hpp"
#include "protocol/ahp/builders.hpp"

#include <caf/all.hpp>

#include <optional>

namespace ahpd::hub {

namespace {

namespace build = ahp::build;
using std::chrono::milliseconds;

/// Between SIGTERM and SIGKILL when a turn is cancelled.
constexpr milliseconds grace{2'000};

/// What a cancelled program left running has so long after the program's own end, then SIGKILL.
constexpr milliseconds rest_grace{500};

/// How long an agent that was told to end waits for what its turns started.
constexpr std::chrono::seconds leave_limit{5};

/// Every update of a running call carries its whole content, so a large one must come more rarely:
/// this many bytes of content are worth one millisecond more of waiting.
constexpr std::size_t bytes_per_ms = 2'000;

struct shell_state {
  static inline const char* name = "shell";

  struct turn {
    begin_turn what;
    std::shared_ptr<runtimes::running> program;
    bool cancelled = false;
    bool flush_due = false;    ///< an update is scheduled
    std::size_t last_size = 0; ///< bytes of content in the last update
  };

  agent_context context;
  std::optional<turn> now;
  std::string marker; ///< of all that its turns started, theirs begin with it; empty: nothing yet
  std::shared_ptr<runtimes::place> place; ///< where that was
  bool leaving = false; ///< told to end: goes when nothing that its turns started is left
};

using self_ptr = caf::stateful_actor<shell_state>*;
using flush_atom = caf::atom_constant<caf::atom("flush")>;
using rest_atom = caf::atom_constant<caf::atom("rest")>;
using leave_atom = caf::atom_constant<caf::atom("leave")>;

constexpr const char* call_id = "command"; ///< a turn has one call; its turn tells it from others

std::string call_of(const std::string& turn) {
  return turn + ":" + call_id;
}

void step(self_ptr self, json::value action) {
  auto& st = self->state;
  self->send(st.context.chat, turn_step{st.now->what.turn_id,
                                        std::make_shared<const json::value>(std::move(action))});
}

/// What a turn leaves in the background is the chat's, and ends with it.
void sweep_and_quit(self_ptr self) {
  auto& st = self->state;
  if (!st.place)
    return self->quit();
  const auto swept = core::back_to<std::string>(self, [self](const std::string& failure) {
    const auto& of = self->state.context;
    const auto& marker = self->state.marker;
    if (failure.empty())
      caf::anon_send(of.host->store->get(),
                     make_store_job([marker](config::store& db) { db.remove_run(marker); }));
    else if (!of.where.machine.empty())
      caf::anon_send(of.host->machines->get(), sweep_machine{of.where.machine, marker});
    self->quit();
  });
  st.place->sweep({st.marker},
                  [swept](std::size_t, const std::string& failure) { swept(failure); });
}

void end(self_ptr self, std::string error_type = {}, std::string message = {}) {
  auto& st = self->state;
  self->send(st.context.chat,
             turn_ended{st.now->what.turn_id, std::move(error_type), std::move(message)});
  st.now.reset();
  if (st.leaving)
    sweep_and_quit(self);
}

std::string text_of(const begin_turn& what) {
  return std::string(json::string_member(*what.message, "text").value_or(""));
}

void show_call(self_ptr self) {
  const auto& what = self->state.now->what;
  const auto call = call_of(what.turn_id);
  const auto text = text_of(what);
  step(self, build::tool_call_start(what.turn_id, call, "shell", "Run command"));
  step(self, build::tool_call_ready(what.turn_id, call, "Running a command", text));
}

/// Shows what the program has written so far, at most once a window.
void flush_later(self_ptr self) {
  auto& turn = *self->state.now;
  if (turn.flush_due)
    return;
  turn.flush_due = true;
  const auto wait = self->state.context.host->delta_window +
                    milliseconds(static_cast<std::int64_t>(turn.last_size / bytes_per_ms));
  if (wait.count() == 0)
    self->send(self, flush_atom::value, turn.what.turn_id);
  else
    self->delayed_send(self, wait, flush_atom::value, turn.what.turn_id);
}

void flush(self_ptr self) {
  auto& turn = *self->state.now;
  turn.flush_due = false;
  auto content = shell_content(*turn.program, false);
  turn.last_size = 0;
  for (const auto& entry : content)
    turn.last_size += json::string_member(entry, "text").value_or("").size() +
                      json::string_member(entry, "data").value_or("").size();
  step(self,
       build::tool_call_content(turn.what.turn_id, call_of(turn.what.turn_id), std::move(content)));
}

void on_exit(self_ptr self, const runtimes::exit_status& status) {
  auto& turn = *self->state.now;
  json::value done{{"type", "chat/toolCallComplete"},
                   {"turnId", turn.what.turn_id},
                   {"toolCallId", call_of(turn.what.turn_id)},
                   {"result", shell_result(*turn.program, status)}};
  step(self, std::move(done));
  if (!turn.cancelled)
    return end(self);
  self->delayed_send(self, rest_grace, rest_atom::value, turn.what.turn_id);
}

void on_started(self_ptr self, const runtimes::exec_result& result) {
  auto& turn = *self->state.now;
  if (!result.program)
    return end(self, "commandNotStarted", result.refused);
  turn.program = result.program;
  if (turn.cancelled || self->state.leaving)
    turn.program->kill(grace);
}

/// Runs `work` when the turn it belongs to is still the one under way.
template <class T, class Work> std::function<void(T)> for_this_turn(self_ptr self, Work work) {
  return core::back_to<T>(self, [self, work, id = self->state.now->what.turn_id](T value) {
    if (self->state.now && self->state.now->what.turn_id == id)
      work(std::move(value));
  });
}

/// A cancelled turn is over when nothing that it started is left.
void end_rest(self_ptr self) {
  const auto& what = self->state.now->what;
  const auto swept = for_this_turn<bool>(self, [self](bool) { end(self); });
  what.place->sweep({what.marker}, [swept](std::size_t, const std::string&) { swept(true); });
}

/// What is left in the background is known to the store before the turn's end is: a hub that is
/// killed leaves nothing running.
void note_place(self_ptr self, const begin_turn& what) {
  auto& st = self->state;
  st.place = what.place;
  if (!st.marker.empty())
    return;
  st.marker = what.marker.substr(0, what.marker.find('.'));
  caf::anon_send(st.context.host->store->get(),
                 make_store_job([marker = st.marker, machine = st.context.where.machine,
                                 uri = st.context.chat_uri](config::store& db) {
                   db.put_run(config::run_row::of_agent(marker, machine, uri));
                 }));
}

void begin(self_ptr self, const begin_turn& what) {
  auto& st = self->state;
  note_place(self, what);
  st.now.emplace();
  st.now->what = what;
  show_call(self);
  runtimes::exec_request run;
  run.argv = {"sh", "-c", text_of(what)};
  run.directory = what.directory;
  run.marker = what.marker;
  const auto wrote = for_this_turn<bool>(self, [self](bool) { flush_later(self); });
  runtimes::exec_events events;
  events.on_output = [wrote] { wrote(true); };
  events.on_exit = for_this_turn<runtimes::exit_status>(
    self, [self](const runtimes::exit_status& status) { on_exit(self, status); });
  what.place->exec(std::move(run), std::move(events),
                   for_this_turn<runtimes::exec_result>(
                     self, [self](const runtimes::exec_result& r) { on_started(self, r); }));
}

void cancel(self_ptr self) {
  auto& st = self->state;
  if (!st.now || st.now->cancelled)
    return;
  st.now->cancelled = true;
  if (st.now->program)
    st.now->program->kill(grace);
}

/// Ends when nothing of its turns is left, or when their place does not answer in time.
void leave(self_ptr self) {
  auto& st = self->state;
  if (st.leaving)
    return;
  st.leaving = true;
  self->delayed_send(self, leave_limit, leave_atom::value);
  if (!st.now)
    return sweep_and_quit(self);
  if (st.now->program)
    st.now->program->kill(milliseconds{0});
}

caf::behavior shell_actor(self_ptr self, agent_context context) {
  self->state.context = std::move(context);
  self->monitor(self->state.context.chat);
  self->set_down_handler([self](caf::down_msg&) { leave(self); });
  self->set_exit_handler([self](caf::exit_msg&) { leave(self); });
  return {
    core::take_run_here(),
    [self](const begin_turn& what) { begin(self, what); },
    [self](const cancel_turn&) { cancel(self); },
    [](const session_settings&) {}, // it has none
    [](const session_tools&) {},    // and calls none
    [self](rest_atom, const std::string& turn) {
      if (const auto& now = self->state.now; now && now->what.turn_id == turn)
        end_rest(self);
    },
    [self](leave_atom) { self->quit(); },
    [self](flush_atom, const std::string& turn) {
      const auto& now = self->state.now;
      if (now && now->what.turn_id == turn && now->program && !now->cancelled)
        flush(self);
    },
  };
}

} // namespace

engine shell_engine() {
  return {"shell", "Shell", "Runs a message as a command in the session's computer and folder.",
          [](caf::actor_system& system, agent_context context) {
            return caf::actor_cast<caf::actor>(system.spawn(shell_actor, std::move(context)));
          }};
}

} // namespace ahpd::hub
