#include "actors/hub/chat_turns.hpp"

#include "actors/core/clock.hpp"
#include "actors/core/errors.hpp"
#include "actors/core/log.hpp"
#include "actors/hub/chat_tools.hpp"
#include "actors/hub/command_turn.hpp"
#include "actors/hub/machines.hpp"
#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/find.hpp"
#include "protocol/ahp/time.hpp"
#include "protocol/random.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <utility>

namespace ahpd::hub::turns {

using core::now_ms;

std::string cursor_before(std::int64_t ordinal) {
  return "t" + std::to_string(ordinal);
}

std::string_view turn_id_of(const json::value& action) {
  return json::string_member(action, "turnId").value_or("");
}

json::array& turns_of(chat_state& st) {
  return st.doc->state.at("turns").get_array();
}

const json::value* active_turn(const chat_state& st) {
  return json::member(st.doc->state, "activeTurn");
}

bool has_turn(chat_state& st, std::string_view id) {
  const auto& turns = turns_of(st);
  return std::any_of(turns.begin(), turns.end(),
                     [&](const auto& t) { return json::string_member(t, "id") == id; });
}

config::chat_row row_of(const chat_state& st) {
  json::object head;
  for (const auto& [key, value] : st.doc->state.get_object())
    if (key != "turns" && key != "activeTurn" && key != "turnsNextCursor")
      head[key] = value;
  return {st.start.uri, st.start.session_id, st.start.ordinal, std::move(head)};
}

void tell_session(chat_ptr self, std::string first_text) {
  auto& st = self->state;
  self->send(st.start.session, chat_changed{st.start.uri,
                                            std::make_shared<const json::value>(
                                              ahp::build::chat_summary(st.doc->state)),
                                            std::move(first_text)});
}

namespace {

void tell_session_of(chat_ptr self, json::value action) {
  self->send(self->state.start.session,
             session_step{std::make_shared<const json::value>(std::move(action))});
}

/// What the session's channel asks about a call (AHP "SessionInputRequest"): its `kind`, and the id
/// of the request; nothing when the call waits for nobody.
struct question {
  std::string kind;
  std::string id;
};
std::optional<question> question_about(const json::value& call) {
  const std::string id(json::string_member(call, "toolCallId").value_or(""));
  const auto status = json::string_member(call, "status").value_or("");
  if (status == "pending-confirmation")
    return question{"toolConfirmation", id + ":permission"};
  const auto* by = json::member(call, "contributor");
  if (status == "running" && by && json::string_member(*by, "kind") == "client")
    return question{"toolClientExecution", id + ":execution"};
  return std::nullopt;
}

} // namespace

void withdraw_questions(chat_ptr self) {
  for (const auto& [call, id] : std::exchange(self->state.asking, {}))
    tell_session_of(self, ahp::build::input_needed_removed(id));
  drop_calls(self);
}

void mirror_question(chat_ptr self, const json::value& action) {
  auto& st = self->state;
  const auto type = json::string_member(action, "type").value_or("");
  if (type != "chat/toolCallReady" && type != "chat/toolCallConfirmed" &&
      type != "chat/toolCallComplete")
    return;
  const std::string id(json::string_member(action, "toolCallId").value_or(""));
  const auto* turn = active_turn(st);
  const auto* call = turn ? ahp::find_tool_call(*turn, id) : nullptr;
  const auto asks = call ? question_about(*call) : std::nullopt;
  const auto before = st.asking.find(id);
  if (asks) {
    st.asking[id] = asks->id;
    json::object request{{"id", asks->id},
                         {"chat", st.start.uri},
                         {"kind", asks->kind},
                         {"turnId", turn_id_of(action)},
                         {"toolCall", *call}};
    if (asks->kind == "toolClientExecution")
      request["clientId"] = call->at("contributor").at("clientId");
    tell_session_of(self, ahp::build::input_needed_set(std::move(request)));
  } else if (before != st.asking.end()) {
    tell_session_of(self, ahp::build::input_needed_removed(before->second));
    st.asking.erase(before);
  } else {
    return;
  }
  tell_session(self); // the chat's status says whether it waits
}

void commit(chat_ptr self, std::function<void(config::store&)> write, std::function<void()> then) {
  after_commit(self, self->state.host->store->get(), std::move(write), std::move(then));
}

void publish(chat_ptr self, json::value action, const origin& from) {
  auto& st = self->state;
  st.host->order->publish(*st.doc, std::move(action), from);
  ++st.host->metrics.actions_total;
}

void announce(chat_ptr self, json::value action, const origin& from) {
  auto& st = self->state;
  st.host->order->announce(*st.doc, std::move(action), from);
  ++st.host->metrics.actions_total;
}

namespace {

/// A machine answers where its programs run from what is known; a minute is a hang.
constexpr std::chrono::seconds place_limit{60};

/// Turns kept in memory while nobody follows the chat; older ones are fetched when asked for.
constexpr std::size_t turns_kept = 200;

/// Old turns leave memory when nobody would see them go.
void trim(chat_ptr self) {
  auto& st = self->state;
  auto& turns = turns_of(st);
  if (turns.size() <= turns_kept || st.host->order->followers(*st.doc) > 0)
    return;
  const auto gone = turns.size() - turns_kept;
  turns.erase(turns.begin(), turns.begin() + static_cast<std::ptrdiff_t>(gone));
  st.turn_ordinals.erase(st.turn_ordinals.begin(),
                         st.turn_ordinals.begin() + static_cast<std::ptrdiff_t>(gone));
  st.doc->state.as_object()["turnsNextCursor"] = cursor_before(st.turn_ordinals.front());
}

/// The programs of a turn are gone: forget what would have to be killed, and go on.
void programs_gone(chat_ptr self) {
  auto& st = self->state;
  const auto marker = st.running->marker;
  st.running.reset();
  --st.host->metrics.turns_running;
  write_later(self, st.host->store->get(), [marker](config::store& db) { db.remove_run(marker); });
  auto waiting = std::move(st.deferred);
  st.deferred.clear();
  for (auto& a : waiting)
    self->send(self, std::move(a));
  self->send(self, go_on_atom::value); // behind what waited, which may start a turn itself
}

std::int64_t duration_of(const chat_state& st) {
  return std::max<std::int64_t>(0, now_ms() - st.running->began_ms);
}

void ensure_agent(chat_ptr self) {
  auto& st = self->state;
  if (st.agent)
    return;
  const auto* engine = st.host->find_engine(st.start.provider);
  st.agent = engine->spawn(self->system(), {caf::actor_cast<caf::actor>(self), st.start.uri,
                                            st.start.session_uri, st.start.where, st.host});
  self->monitor(st.agent);
  self->send(st.agent, session_settings{st.start.settings});
  self->send(st.agent, session_tools{st.start.tools});
}

/// A turn that its terminal answers, not the engine.
void run_command(chat_ptr self, const std::string& command) {
  auto& st = self->state;
  st.running->by = self->system().spawn(
    command_turn, st.host,
    command_start{caf::actor_cast<caf::actor>(self), st.start.uri, st.start.session_uri,
                  st.running->turn_id, command, st.start.where});
  self->monitor(st.running->by);
}

/// Where a turn runs, or why it cannot.
struct destination {
  std::shared_ptr<runtimes::place> place;
  std::string directory;
  std::string refused;
};

/// A turn was accepted: durable first, then seen by all, then begun.
void begin(chat_ptr self, json::value started, origin from, destination where) {
  auto& st = self->state;
  const auto message = std::make_shared<const json::value>(*json::member(started, "message"));
  const bool first = turns_of(st).empty() && !json::member(st.doc->state, "turnsNextCursor");
  ahp::reduce(ahp::channel_kind::chat, st.doc->state, started);
  st.running = chat_state::run{std::string(turn_id_of(started)), st.marker + '.' + random_hex(8),
                               now_ms(), false};
  ++st.host->metrics.turns_total;
  ++st.host->metrics.turns_running;
  commit(
    self,
    [row = row_of(st), turn = *active_turn(st), marker = st.running->marker,
     machine = st.start.where.machine](config::store& db) {
      db.put_chat(row);
      db.put_active_turn({row.uri, turn});
      db.put_run({marker, machine, row.uri});
    },
    [=]() mutable {
      announce(self, std::move(started), from);
      tell_session(self, first ? std::string(json::string_member(*message, "text").value_or(""))
                               : std::string{});
      if (!where.place)
        return on_ended(self, "placeUnavailable", where.refused);
      auto& now = self->state;
      if (const auto command = terminal_command(*message))
        return run_command(self, *command);
      ensure_agent(self);
      now.running->by = now.agent;
      self->send(now.agent, begin_turn{now.running->turn_id, message, now.running->marker,
                                       std::move(where.place), std::move(where.directory)});
    });
}

} // namespace

void start(chat_ptr self, json::value started, origin from,
           std::function<void(const std::string&)> refused) {
  auto& st = self->state;
  if (!st.host->find_engine(st.start.provider))
    return refused(st.start.provider + " is not loaded on this host");
  if (st.start.where.machine.empty())
    return begin(self, std::move(started), std::move(from),
                 {st.host->this_host, st.start.where.directory, {}});
  self
    ->request(st.host->machines->get(), place_limit,
              enter_machine{st.start.where.machine, st.start.where.directory, st.start.provider})
    .await(
      [=](const machine_place& there) mutable {
        begin(self, std::move(started), std::move(from), {there.place, there.directory, {}});
      },
      [refused](const caf::error& why) { refused(core::to_wire(why).message); });
}

void start_own(chat_ptr self, json::value started) {
  // The machine may be gone by now: the message is answered all the same, by a turn that says why.
  start(self, started, std::nullopt, [self, started](const std::string& why) {
    begin(self, started, std::nullopt, {nullptr, {}, why});
  });
}

void start_queued(chat_ptr self) {
  auto& st = self->state;
  const auto* queue = json::member(st.doc->state, "queuedMessages");
  if (st.running || active_turn(st) || !queue || queue->get_array().empty())
    return;
  const json::value next = queue->get_array().front();
  const std::string id(json::string_member(next, "id").value_or(""));
  publish(self, ahp::build::pending_message_removed("queued", id));
  auto started = ahp::build::turn_started(random_hex(16), now_ms(), next.at("message"), id);
  start_own(self, std::move(started));
}

namespace {

/// The turn that `ending` ends, for who follows the traces.
void trace(const chat_state& st, const json::value& ending) {
  auto& telemetry = st.host->telemetry;
  if (!telemetry.followed(ahp::signal::traces))
    return;
  constexpr std::int64_t ns_per_ms = 1'000'000;
  const auto end_ns = core::now_ns();
  const auto how = json::string_member(ending, "type").value_or("");
  otlp::span what{"turn",
                  std::min(end_ns, st.running->began_ms * ns_per_ms),
                  end_ns,
                  {{"ahp.session.id", st.start.session_id},
                   {"ahp.turn.id", st.running->turn_id},
                   {"ahp.chat", st.start.uri},
                   {"ahp.provider", st.start.provider},
                   {"ahp.turn.ending", std::string(how)}}};
  if (how == "chat/error") {
    what.failed = true;
    what.attributes.emplace_back("error.type",
                                 ending.at("part").at("error").at("errorType").as_string());
  }
  telemetry.export_span(std::move(what));
}

} // namespace

void end(chat_ptr self, json::value ending, origin from, std::function<void()> then) {
  auto& st = self->state;
  ahp::reduce(ahp::channel_kind::chat, st.doc->state, ending);
  st.running->ended = true;
  auto ordinal = std::make_shared<std::int64_t>(0);
  auto turn = std::make_shared<const json::value>(turns_of(st).back());
  commit(
    self,
    [row = row_of(st), turn, ordinal](config::store& db) {
      *ordinal = db.append_turn(row.uri, *turn);
      db.remove_active_turn(row.uri);
      db.put_chat(row);
    },
    [self, ordinal, ending = std::move(ending), from = std::move(from),
     then = std::move(then)]() mutable {
      self->state.turn_ordinals.push_back(*ordinal);
      trace(self->state, ending);
      announce(self, std::move(ending), from);
      withdraw_questions(self);
      tell_session(self);
      trim(self);
      then();
    });
}

void on_ended(chat_ptr self, const std::string& error_type, const std::string& message) {
  auto& st = self->state;
  if (st.running->ended)
    return programs_gone(self);
  const auto& id = st.running->turn_id;
  auto ending = error_type.empty()
                  ? ahp::build::turn_complete(id, duration_of(st))
                  : ahp::build::chat_error(id, duration_of(st), error_type, message);
  end(self, std::move(ending), std::nullopt, [self] { programs_gone(self); });
}

void on_agent_lost(chat_ptr self, const std::string& why) {
  auto& st = self->state;
  st.running->by = nullptr;
  core::log::error("agent lost", {{"chat", st.start.uri}, {"why", why}});
  const auto report = [self = caf::actor_cast<caf::actor>(self)](std::size_t, const std::string&) {
    caf::anon_send(self, swept_atom::value);
  };
  if (st.start.where.machine.empty())
    return st.host->this_host->sweep({st.running->marker}, report);
  self->send(st.host->machines->get(), sweep_machine{st.start.where.machine, st.running->marker});
  self->send(self, swept_atom::value);
}

void take_over(chat_ptr self) {
  auto& st = self->state;
  const auto& turn = *active_turn(st);
  const auto began = ahp::parse_iso8601(json::string_member(turn, "startedAt").value_or(""));
  st.running = chat_state::run{
    std::string(json::string_member(turn, "id").value_or("")), {}, began.value_or(now_ms()), false};
  for (const auto& part : turn.at("responseParts").as_array())
    if (const auto* call = json::member(part, "toolCall"))
      if (const auto asks = question_about(*call))
        st.asking.emplace(json::string_member(*call, "toolCallId").value_or(""), asks->id);
  ++st.host->metrics.turns_running;
  auto runs = std::make_shared<std::vector<config::run_row>>();
  commit(
    self, [runs](config::store& db) { *runs = db.runs(); },
    [self, runs] {
      auto& now = self->state;
      for (const auto& run : *runs)
        if (run.chat == now.start.uri)
          now.running->marker = run.marker;
      on_agent_lost(self, "its chat crashed");
    });
}

} // namespace ahpd::hub::turns
