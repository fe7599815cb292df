#include "actors/sandbox/command.hpp"

#include "actors/core/parent.hpp"
#include "actors/core/run_here.hpp"
#include "actors/core/scheduler.hpp"
#include "actors/sandbox/command_answers.hpp"
#include "protocol/utf8.hpp"
#include "runtimes/process/program.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <utility>

namespace ahpd::sandbox {

namespace {

using self_ptr = caf::stateful_actor<command_state>*;
using runtimes::output;
using std::chrono::milliseconds;

/// Of each stream; what a program wrote before that is gone.
constexpr std::size_t kept_bytes = 128u << 20;
constexpr std::size_t stream_piece = 64u << 10;
constexpr std::size_t most_segments = 4096;

using output_atom = caf::atom_constant<caf::atom("output")>;
using over_atom = caf::atom_constant<caf::atom("over")>;
using limit_atom = caf::atom_constant<caf::atom("limit")>;
using taken_atom = caf::atom_constant<caf::atom("taken")>;
using lost_atom = caf::atom_constant<caf::atom("lost")>;

output_reader reader_of(const command_state& st) {
  return {*st.program, st.is_over()};
}

/// Notes how far each stream has come, which also has the program tell of more.
void note_arrival(command_state& st) {
  for (const auto which : {output::out, output::err}) {
    const auto upto = st.program->read(which, UINT64_MAX, 0).end;
    auto known = std::find_if(st.arrived.rbegin(), st.arrived.rend(),
                              [&](const auto& each) { return each.which == which; });
    if (upto == (known == st.arrived.rend() ? 0 : known->upto))
      continue;
    if (!st.arrived.empty() && st.arrived.back().which == which)
      st.arrived.back().upto = upto;
    else if (st.arrived.size() < most_segments)
      st.arrived.push_back({which, upto});
    else
      known->upto = upto; // so interleaved that nobody reads it in order
  }
}

void answer_run(const command_state& st, call& to) {
  to.succeed(run_answer(st));
}

void answer_read(const command_state& st, call& to, std::uint64_t offset,
                 std::uint64_t error_offset) {
  to.succeed(read_answer(st, offset, error_offset));
}

// ---- streams ------------------------------------------------------------------------------------

std::string line(const json::object& what) {
  return json::serialize(what) + '\n';
}

/// Sends what there is for a stream, at most one piece of each kind, and ends it with the command.
/// True when it has ended.
bool advance(self_ptr self, command_state::stream& to) {
  auto& st = self->state;
  if (to.busy)
    return false;
  const auto from = reader_of(st);
  std::string frames;
  const auto take = [&](output which, const char* type, const char* key, std::uint64_t& offset) {
    auto got = from.increment(which, offset, stream_piece);
    const bool some = !got.text.empty() || got.truncated;
    offset = got.end;
    if (!some)
      return false;
    json::object frame{{"type", type}, {"data", std::move(got.text)}, {key, offset}};
    if (got.truncated)
      frame["truncated"] = true;
    frames += line(frame);
    return true;
  };
  const bool more_out = take(output::out, "stdout", "offset", to.offset);
  const bool more_err = take(output::err, "stderr", "stderr_offset", to.error_offset);
  const bool ends = !more_out && !more_err && st.is_over();
  if (ends)
    frames += line(exit_frame(st));
  if (!frames.empty()) {
    to.busy = true;
    to.to->send(std::move(frames));
    to.to->when_taken([me = caf::actor_cast<caf::actor>(self), number = to.number] {
      caf::anon_send(me, taken_atom::value, number);
    });
  }
  return ends;
}

void advance_streams(self_ptr self) {
  self->state.streams.remove_if([&](auto& each) { return advance(self, each); });
}

/// The waiting time of a stream is over while its command runs.
void end_stream(self_ptr self, std::uint64_t number) {
  auto& st = self->state;
  const auto it = std::find_if(st.streams.begin(), st.streams.end(),
                               [&](const auto& each) { return each.number == number; });
  if (it == st.streams.end())
    return;
  it->to->send(line(exit_frame(st)));
  st.streams.erase(it);
}

void open_stream(self_ptr self, const call_ptr& what) {
  auto& st = self->state;
  const auto number = ++st.last_number;
  transport::http_response head{200, {{"Content-Type", "application/x-ndjson"}}, {}};
  head.body =
    line({{"type", "start"}, {"session_id", st.start.session}, {"command_id", st.start.id}});
  head.goes_on = [me = caf::actor_cast<caf::actor>(self),
                  number](std::unique_ptr<transport::body_stream> to) {
    caf::anon_send(me, command_stream{number, std::move(to)});
    return [me, number] { caf::anon_send(me, lost_atom::value, number); };
  };
  what->send(std::move(head));
  if (const auto limit = st.start.order.timeout)
    self->delayed_send(self, *limit, limit_atom::value, number);
}

// ---- waiting ------------------------------------------------------------------------------------

void wait(self_ptr self, const call_ptr& what, bool for_end, std::uint64_t offset,
          std::uint64_t error_offset, std::optional<milliseconds> limit) {
  auto& st = self->state;
  const auto number = ++st.last_number;
  st.waiters.push_back({number, what, for_end, offset, error_offset});
  if (limit)
    self->delayed_send(self, *limit, limit_atom::value, number);
}

void answer_waiter(const command_state& st, const command_state::waiter& w) {
  if (w.for_end)
    answer_run(st, *w.what);
  else
    answer_read(st, *w.what, w.offset, w.error_offset);
}

bool has_more(const command_state& st, std::uint64_t offset, std::uint64_t error_offset) {
  const auto from = reader_of(st);
  return from.end(output::out) > offset || from.end(output::err) > error_offset;
}

void answer_waiters(command_state& st) {
  st.waiters.remove_if([&](const auto& w) {
    if (!st.is_over() && (w.for_end || !has_more(st, w.offset, w.error_offset)))
      return false;
    answer_waiter(st, w);
    return true;
  });
}

void on_limit(self_ptr self, std::uint64_t number) {
  auto& st = self->state;
  const auto it = std::find_if(st.waiters.begin(), st.waiters.end(),
                               [&](const auto& each) { return each.number == number; });
  if (it == st.waiters.end())
    return end_stream(self, number);
  answer_waiter(st, *it);
  st.waiters.erase(it);
}

// ---- its routes ---------------------------------------------------------------------------------

void read(self_ptr self, const call_ptr& what) {
  auto& st = self->state;
  const auto& from = what->route->in == aio::takes::json ? what->body : what->query;
  const auto offset = from.at("offset").to_number<std::uint64_t>();
  const auto error_offset = from.at("stderr_offset").to_number<std::uint64_t>();
  if (!from.at("wait").as_bool() || st.is_over() || has_more(st, offset, error_offset))
    return answer_read(st, *what, offset, error_offset);
  wait(self, what, false, offset, error_offset, seconds_of(from.at("wait_timeout")));
}

void write(self_ptr self, const call_ptr& what) {
  auto& st = self->state;
  if (st.is_over())
    return what->fail(400, "Command is not running");
  st.program->write(what->text("input"));
  if (const auto* close = what->body.if_contains("close"); close && close->as_bool())
    st.program->close_input();
  what->succeed(empty_data(*what));
}

void kill(self_ptr self, const call_ptr& what) {
  auto& st = self->state;
  const auto name = what->text("signal");
  const auto number = signal_number(name);
  if (!number)
    return what->fail(400, "unknown signal: " + name);
  if (!st.is_over())
    st.program->signal(*number);
  const bool v1 = what->route->operation == "killBashV1";
  what->succeed(empty_data(*what), v1 ? "Signal " + name + " sent" : std::string(aio::fine));
}

void serve_route(self_ptr self, const call_ptr& what) {
  const auto operation = what->route->operation;
  if (!self->state.program) // it is being started
    return self->state.early.push_back(what);
  if (operation == "readCommand" || operation == "readBashV1")
    return read(self, what);
  if (operation == "writeCommand" || operation == "writeBashV1")
    return write(self, what);
  kill(self, what);
}

// ---- its life -----------------------------------------------------------------------------------

void on_output(self_ptr self) {
  auto& st = self->state;
  if (!st.program)
    return;
  note_arrival(st);
  answer_waiters(st);
  advance_streams(self);
}

void on_exit(self_ptr self, const runtimes::exit_status& how) {
  auto& st = self->state;
  note_arrival(st);
  st.status = st.timed_out ? "timed_out" : how.lost.empty() ? "completed" : "killed";
  if (how.lost.empty())
    st.exit_code = how.code.value_or(-1);
  st.host->counters.command_done(std::chrono::steady_clock::now() - st.began);
  answer_waiters(st);
  advance_streams(self);
  self->send(st.start.keeper, command_ended{st.start.id});
}

void on_started(self_ptr self, const runtimes::exec_result& how) {
  auto& st = self->state;
  const auto first = std::move(st.start.first);
  st.program = how.program;
  if (!st.program) {
    first->fail(400, how.refused);
    self->send(st.start.keeper, command_failed{st.start.id});
    return self->quit();
  }
  const auto& order = st.start.order;
  if (order.hard_timeout)
    self->delayed_send(self, *order.hard_timeout, over_atom::value);
  if (order.answer == command_order::mode::async)
    answer_run(st, *first);
  else if (order.answer == command_order::mode::stream)
    open_stream(self, first);
  else
    wait(self, first, true, 0, 0, order.timeout);
  for (const auto& each : std::exchange(st.early, {}))
    serve_route(self, each);
}

void begin(self_ptr self) {
  auto& st = self->state;
  st.began = std::chrono::steady_clock::now();
  const auto me = caf::actor_cast<caf::actor>(self);
  process::run_options options{st.start.marker, kept_bytes, false, true};
  runtimes::exec_events events{
    [me] { caf::anon_send(me, output_atom::value); },
    core::back_to<runtimes::exit_status>(self, [self](const auto& how) { on_exit(self, how); })};
  process::start_program(
    core::io_of(self->system()), core::blocking_pool_of(self->system()),
    std::move(st.start.program), std::move(options), std::move(events),
    core::back_to<runtimes::exec_result>(self, [self](const auto& how) { on_started(self, how); }));
}

} // namespace

command_state::~command_state() {
  if (program && !is_over())
    program->kill(milliseconds(0));
  if (!program)
    return;
  if (!is_over())
    status = "killed";
  for (const auto& w : waiters)
    answer_waiter(*this, w);
}

caf::behavior command_actor(caf::stateful_actor<command_state>* self, services_ptr host,
                            command_start start) {
  auto& st = self->state;
  st.host = std::move(host);
  st.start = std::move(start);
  core::watch_parent(self, st.start.keeper);
  self->set_down_handler([self](caf::down_msg& msg) { self->quit(std::move(msg.reason)); });
  begin(self);
  return {
    core::take_run_here(),
    [self](const serve& what) { serve_route(self, what.what); },
    [self](output_atom) { on_output(self); },
    [self](over_atom) {
      auto& now = self->state;
      if (now.is_over())
        return;
      now.timed_out = true;
      now.program->kill(milliseconds(0));
    },
    [self](limit_atom, std::uint64_t number) { on_limit(self, number); },
    [self](const command_stream& what) {
      self->state.streams.push_back({what.number, what.to, 0, 0, false});
      advance_streams(self);
    },
    [self](taken_atom, std::uint64_t number) {
      for (auto& each : self->state.streams)
        if (each.number == number)
          each.busy = false;
      advance_streams(self);
    },
    [self](lost_atom, std::uint64_t number) {
      self->state.streams.remove_if([&](const auto& each) { return each.number == number; });
    },
  };
}

} // namespace ahpd::sandbox
