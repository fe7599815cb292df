#include "actors/hub/terminal.hpp"

#include "actors/core/clock.hpp"
#include "actors/core/parent.hpp"
#include "actors/core/run_here.hpp"
#include "protocol/ahp/actions.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <utility>

namespace ahpd::hub {

namespace {

using self_ptr = caf::stateful_actor<terminal_state>*;
using window_atom = caf::atom_constant<caf::atom("window")>;
using leave_atom = caf::atom_constant<caf::atom("leave")>;
using kind = ahp::terminal_piece::kind;

constexpr std::chrono::milliseconds grace{2'000}; ///< between SIGTERM and SIGKILL
/// How long a terminal that was told to end waits for its program's end.
constexpr std::chrono::seconds leave_limit{5};
constexpr std::size_t read_at_once = 128 * 1024; ///< bytes of one stream and window
constexpr std::size_t most_shown = 256 * 1024;   ///< bytes of text in the state
constexpr std::size_t kept_when_trimmed = 200'000;

void publish(self_ptr self, json::value action,
             const std::optional<core::action_origin>& origin = std::nullopt) {
  auto& st = self->state;
  st.host->order->publish(*st.doc, std::move(action), origin);
  ++st.host->metrics.actions_total;
}

json::shared info_of(const terminal_state& st) {
  json::object info{{"resource", st.start.uri}};
  for (const char* key : {"title", "claim", "lifecycle"})
    info[key] = st.doc->state.at(key);
  return std::make_shared<const json::value>(std::move(info));
}

void tell_changed(self_ptr self) {
  auto& st = self->state;
  self->send(st.start.terminals, terminal_changed{st.start.uri, info_of(st)});
}

// ---- output -------------------------------------------------------------------------------------

void keep_tail(terminal_state& st, const std::string& text) {
  const auto most = st.start.output_bytes;
  st.tail += text;
  if (st.tail.size() <= 2 * most) // cut rarely: each cut moves all that is kept
    return;
  st.tail.erase(0, st.tail.size() - most);
  st.truncated = true;
}

void show_text(self_ptr self, std::string text) {
  auto& st = self->state;
  keep_tail(st, text);
  st.shown += text.size();
  publish(self, {{"type", "terminal/data"}, {"data", std::move(text)}});
  if (st.shown > most_shown)
    st.shown = ahp::trim_content(st.doc->state, kept_when_trimmed);
}

/// Shell integration names no commands: they are numbered.
void begin_command(self_ptr self, const std::string& line) {
  auto& st = self->state;
  st.command_began = core::now_ms();
  publish(self, {{"type", "terminal/commandExecuted"},
                 {"commandId", std::to_string(++st.commands)},
                 {"commandLine", line},
                 {"timestamp", st.command_began}});
}

void finish_command(self_ptr self, std::optional<int> code) {
  auto& st = self->state;
  if (st.command_began == 0)
    return; // a shell says so at its first prompt too
  json::value action{{"type", "terminal/commandFinished"},
                     {"commandId", std::to_string(st.commands)},
                     {"durationMs", core::now_ms() - st.command_began}};
  if (code)
    action.as_object()["exitCode"] = *code;
  st.command_began = 0;
  publish(self, std::move(action));
}

/// A title or directory that the state has already is not told again: shells repeat both at every
/// prompt.
bool set_member(self_ptr self, const char* type, const char* key, const std::string& value) {
  if (json::string_member(self->state.doc->state, key) == value)
    return false;
  publish(self, {{"type", type}, {key, value}});
  return true;
}

void show(self_ptr self, std::vector<ahp::terminal_piece> pieces) {
  for (auto& piece : pieces)
    switch (piece.what) {
    case kind::text:
      show_text(self, std::move(piece.text));
      break;
    case kind::title:
      if (!piece.text.empty() && set_member(self, "terminal/titleChanged", "title", piece.text))
        tell_changed(self);
      break;
    case kind::directory:
      set_member(self, "terminal/cwdChanged", "cwd", piece.text);
      break;
    case kind::command_started:
      begin_command(self, piece.text);
      break;
    case kind::command_finished:
      finish_command(self, piece.exit_code);
      break;
    }
}

void finish(self_ptr self) {
  auto& st = self->state;
  for (auto& stream : st.streams)
    show(self, stream.reader.finish());
  finish_command(self, std::nullopt);
  json::value action{{"type", "terminal/exited"}};
  if (const auto code = shown_exit_code(*st.ended))
    action.as_object()["exitCode"] = *code;
  st.over = true;
  publish(self, std::move(action));
  tell_changed(self);
}

/// Shows what was written since, then waits a window before it shows more.
void pump(self_ptr self) {
  auto& st = self->state;
  const auto program = st.program->get();
  if (!program || st.over || st.leaving)
    return;
  st.unread = false;
  for (const auto which : {runtimes::output::out, runtimes::output::err}) {
    auto& stream = st.streams[static_cast<std::size_t>(which)];
    const auto got = program->read(which, stream.offset, read_at_once);
    stream.offset = got.offset + got.bytes.size();
    st.unread |= stream.offset < got.end;
    show(self, stream.reader.feed(got.bytes));
  }
  if (st.ended && !st.unread)
    return finish(self);
  st.window_open = true;
  if (st.host->delta_window.count() == 0)
    self->send(self, window_atom::value);
  else
    self->delayed_send(self, st.host->delta_window, window_atom::value);
}

void on_output(self_ptr self) {
  self->state.unread = true;
  if (!self->state.window_open)
    pump(self);
}

void on_window_end(self_ptr self) {
  auto& st = self->state;
  st.window_open = false;
  if (st.unread || st.ended)
    pump(self);
}

void on_exit(self_ptr self, const runtimes::exit_status& status) {
  self->state.ended = status;
  if (self->state.leaving)
    return self->quit();
  if (!self->state.window_open)
    pump(self);
}

// ---- what clients dispatch ----------------------------------------------------------------------

/// Why an action cannot be done although anybody may ask for it.
std::optional<std::string> impossible(const terminal_state& st, std::string_view type) {
  if (type != "terminal/input" && type != "terminal/resized")
    return std::nullopt;
  if (st.over)
    return "the terminal's program has ended";
  if (!st.start.program.terminal)
    return "the terminal's program has no PTY: it takes no input and has no size";
  return std::nullopt;
}

std::uint16_t cells(const json::value& action, const char* key) {
  return action.at(key).to_number<std::uint16_t>();
}

void on_client_action(self_ptr self, const core::client_action& a) {
  auto& st = self->state;
  const auto& action = *a.action;
  const auto type = json::string_member(action, "type").value_or("");
  auto why =
    ahp::refuse_action(ahp::channel_kind::terminal, st.doc->state, action, a.origin.client_id);
  if (!why)
    why = impossible(st, type);
  if (why) {
    ++st.host->metrics.refused_actions_total;
    return st.host->order->refuse(action, a.origin, *why);
  }
  publish(self, action, a.origin);
  if (type == "terminal/input")
    st.program->get()->write(std::string(action.at("data").get_string()));
  else if (type == "terminal/resized")
    st.program->get()->resize({cells(action, "cols"), cells(action, "rows")});
  else if (type == "terminal/cleared")
    st.shown = 0;
  else
    tell_changed(self);
}

// ---- its life -----------------------------------------------------------------------------------

terminal_output output_of(const terminal_state& st) {
  const auto text = ahp::last_bytes(st.tail, st.start.output_bytes);
  terminal_output out{std::string(text), st.truncated || text.size() < st.tail.size(), {}};
  if (st.over)
    out.ended = st.ended;
  return out;
}

void on_started(self_ptr self, const std::string& refused) {
  auto& st = self->state;
  if (refused.empty())
    st.doc = st.host->channels.claim(st.start.uri, ahp::channel_kind::terminal,
                                     caf::actor_cast<caf::actor>(self), *st.start.state);
  self->send(st.start.terminals,
             terminal_started{st.start.uri, st.doc ? info_of(st) : nullptr, refused});
  if (!st.doc)
    self->quit();
}

void begin(self_ptr self) {
  auto& st = self->state;
  runtimes::exec_events events;
  events.on_output = [told = core::back_to<bool>(self, [self](bool) { on_output(self); })] {
    told(true);
  };
  events.on_exit = core::back_to<runtimes::exit_status>(
    self, [self](const runtimes::exit_status& status) { on_exit(self, status); });
  const auto started = core::back_to<std::string>(
    self, [self](const std::string& refused) { on_started(self, refused); });
  st.start.place->exec(st.start.program, std::move(events),
                       [program = st.program, started](const runtimes::exec_result& result) {
                         if (result.program)
                           program->hold(result.program);
                         started(result.refused);
                       });
}

void leave(self_ptr self) {
  auto& st = self->state;
  if (st.ended || !st.doc) // a program that starts yet is killed as it does
    return self->quit();
  if (!std::exchange(st.leaving, true))
    self->delayed_send(self, leave_limit, leave_atom::value);
  st.program->drop();
}

} // namespace

void program_holder::hold(std::shared_ptr<runtimes::running> program) {
  const std::lock_guard lock(guard_);
  program_ = std::move(program);
  if (dropped_)
    program_->kill(std::chrono::milliseconds{0});
}

std::shared_ptr<runtimes::running> program_holder::get() const {
  const std::lock_guard lock(guard_);
  return program_;
}

void program_holder::drop() {
  const std::lock_guard lock(guard_);
  dropped_ = true;
  if (program_)
    program_->kill(std::chrono::milliseconds{0});
}

terminal_state::~terminal_state() {
  program->drop();
}

caf::behavior terminal_actor(caf::stateful_actor<terminal_state>* self, services_ptr host,
                             terminal_start start) {
  auto& st = self->state;
  st.host = std::move(host);
  st.start = std::move(start);
  core::watch_parent(self, st.start.terminals);
  self->set_down_handler([self](caf::down_msg&) { leave(self); });
  self->set_exit_handler([self](caf::exit_msg&) { leave(self); });
  begin(self);
  return {
    core::take_run_here(),
    [self](window_atom) { on_window_end(self); },
    [self](leave_atom) { self->quit(); },
    [self](const core::client_action& a) { on_client_action(self, a); },
    [self](const core::follow& f) { return self->state.host->order->follow(*self->state.doc, f); },
    [self](const core::unfollow& u) {
      self->state.host->order->unfollow(*self->state.doc, *u.box);
    },
    [self](const read_terminal&) { return output_of(self->state); },
    [self](const kill_terminal&) {
      if (const auto program = self->state.program->get())
        program->kill(grace);
    },
  };
}

} // namespace ahpd::hub
