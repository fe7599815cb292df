#include "actors/hub/chat.hpp"

#include "actors/core/errors.hpp"
#include "actors/core/ids.hpp"
#include "actors/core/log.hpp"

#include "actors/hub/machines.hpp"
#include "actors/hub/store_actor.hpp"
#include "protocol/ahp/actions.hpp"
#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/status.hpp"
#include "protocol/ahp/time.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <charconv>

namespace ahpd::hub {

namespace {

using self_ptr = caf::stateful_actor<chat_state>*;
using core::now_ms;
using core::random_id;
using ended_atom = caf::atom_constant<caf::atom("ended")>;
using go_on_atom = caf::atom_constant<caf::atom("go on")>;

/// A machine answers where its programs run from what is known; a minute is a hang.
constexpr std::chrono::seconds place_limit{60};

/// Turns kept in memory while nobody follows the chat; older ones are fetched when asked for.
constexpr std::size_t turns_kept = 200;
constexpr std::size_t turns_per_fetch = 50;

std::string cursor_before(std::int64_t ordinal) { return "t" + std::to_string(ordinal); }

std::optional<std::int64_t> ordinal_of(const std::string& cursor) {
  std::int64_t n = 0;
  const auto* end = cursor.data() + cursor.size();
  if (cursor.size() < 2 || cursor[0] != 't')
    return std::nullopt;
  const auto [at, ec] = std::from_chars(cursor.data() + 1, end, n);
  if (ec != std::errc{} || at != end || n < 1)
    return std::nullopt;
  return n;
}

std::string_view type_of(const json::value& action) {
  return json::string_member(action, "type").value_or("");
}

std::string_view turn_id_of(const json::value& v) {
  return json::string_member(v, "turnId").value_or("");
}

json::array& turns_of(chat_state& st) { return st.doc->state.at("turns").get_array(); }

const json::value* active_turn(const chat_state& st) {
  return json::member(st.doc->state, "activeTurn");
}

bool has_turn(chat_state& st, std::string_view id) {
  const auto& turns = turns_of(st);
  return std::any_of(turns.begin(), turns.end(),
                     [&](const auto& t) { return json::string_member(t, "id") == id; });
}

/// The chat as its row keeps it: without turns, which have rows of their own.
config::chat_row row_of(const chat_state& st) {
  json::object head;
  for (const auto& [key, value] : st.doc->state.get_object())
    if (key != "turns" && key != "activeTurn" && key != "turnsNextCursor")
      head[key] = value;
  return {st.start.uri, st.start.session_id, st.start.ordinal, std::move(head)};
}

void tell_session(self_ptr self, std::string first_text = {}) {
  auto& st = self->state;
  self->send(st.start.session,
             chat_changed{st.start.uri,
                          std::make_shared<const json::value>(ahp::build::chat_summary(st.doc->state)),
                          std::move(first_text)});
}

void commit(self_ptr self, std::function<void(config::store&)> write, std::function<void()> then) {
  after_commit(self, self->state.host->store->get(), std::move(write), std::move(then));
}

void publish(self_ptr self, json::value action,
             const std::optional<core::action_origin>& origin = std::nullopt) {
  auto& st = self->state;
  st.host->order->publish(*st.doc, std::move(action), origin);
  ++st.host->metrics.actions_total;
}

void announce(self_ptr self, json::value action,
              const std::optional<core::action_origin>& origin = std::nullopt) {
  auto& st = self->state;
  st.host->order->announce(*st.doc, std::move(action), origin);
  ++st.host->metrics.actions_total;
}

void refuse(self_ptr self, const core::client_action& a, std::string_view why) {
  auto& st = self->state;
  ++st.host->metrics.refused_actions_total;
  st.host->order->refuse(*a.action, a.origin, why);
}

void take_action(self_ptr self, const core::client_action& a);
void start_queued(self_ptr self);

/// Old turns leave memory when nobody would see them go.
void trim(self_ptr self) {
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
void programs_gone(self_ptr self) {
  auto& st = self->state;
  const auto marker = st.running->marker;
  st.running.reset();
  --st.host->metrics.turns_running;
  write_later(self, st.host->store->get(),
              [marker](config::store& db) { db.remove_run(marker); });
  auto waiting = std::move(st.deferred);
  st.deferred.clear();
  for (auto& a : waiting)
    self->send(self, std::move(a));
  self->send(self, go_on_atom::value); // behind what waited, which may start a turn itself
}

/// Ends the active turn for everyone who follows: reduce, commit the turn, announce.
void end_turn(self_ptr self, json::value ending, std::optional<core::action_origin> origin,
              std::function<void()> then) {
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
    [self, ordinal, ending = std::move(ending), origin = std::move(origin),
     then = std::move(then)]() mutable {
      self->state.turn_ordinals.push_back(*ordinal);
      announce(self, std::move(ending), origin);
      tell_session(self);
      trim(self);
      then();
    });
}

std::int64_t duration_of(const chat_state& st) {
  const auto* turn = active_turn(st);
  const auto started = turn
    ? ahp::parse_iso8601(json::string_member(*turn, "startedAt").value_or("")).value_or(now_ms())
    : now_ms();
  return std::max<std::int64_t>(0, now_ms() - started);
}

/// The agent is done with the running turn, or was lost while it ran.
void on_ended(self_ptr self, const std::string& error_type, const std::string& message) {
  auto& st = self->state;
  if (st.running->ended)
    return programs_gone(self);
  const auto& id = st.running->turn_id;
  auto ending = error_type.empty() ? ahp::build::turn_complete(id, duration_of(st))
                                   : ahp::build::chat_error(id, duration_of(st), error_type, message);
  end_turn(self, std::move(ending), std::nullopt, [self] { programs_gone(self); });
}

/// The agent's actor died. What it had started is found by its marker; then the turn ends.
void on_agent_lost(self_ptr self, const std::string& why) {
  auto& st = self->state;
  st.agent = nullptr;
  if (!st.running)
    return;
  core::log::error("agent lost", {{"chat", st.start.uri}, {"why", why}});
  const auto report = [self = caf::actor_cast<caf::actor>(self)](std::size_t, const std::string&) {
    caf::anon_send(self, ended_atom::value);
  };
  if (st.start.where.machine.empty())
    return st.host->this_host->sweep({st.running->marker}, report);
  self->send(st.host->machines->get(), sweep_machine{st.start.where.machine, st.running->marker});
  self->send(self, ended_atom::value);
}

void ensure_agent(self_ptr self) {
  auto& st = self->state;
  if (st.agent)
    return;
  const auto* engine = st.host->find_engine(st.start.provider);
  st.agent = engine->spawn(self->system(),
                           {caf::actor_cast<caf::actor>(self), st.host->delta_window});
  self->monitor(st.agent);
}

/// Where a turn runs, or why it cannot.
struct destination {
  std::shared_ptr<runtimes::place> place;
  std::string directory;
  std::string refused;
};

/// A turn was accepted: durable first, then seen by all, then begun.
void begin(self_ptr self, json::value started, std::optional<core::action_origin> origin,
           destination where) {
  auto& st = self->state;
  const auto message = std::make_shared<const json::value>(*json::member(started, "message"));
  const bool first = turns_of(st).empty() && !json::member(st.doc->state, "turnsNextCursor");
  ahp::reduce(ahp::channel_kind::chat, st.doc->state, started);
  st.running = chat_state::run{std::string(turn_id_of(started)), random_id(), false};
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
      announce(self, std::move(started), origin);
      tell_session(self, first ? std::string(json::string_member(*message, "text").value_or(""))
                               : std::string{});
      if (!where.place)
        return on_ended(self, "placeUnavailable", where.refused);
      ensure_agent(self);
      auto& now = self->state;
      self->send(now.agent, begin_turn{now.running->turn_id, message, now.running->marker,
                                       std::move(where.place), std::move(where.directory)});
    });
}

/// Finds where the session's programs run, then begins the turn; or says why not.
void start_turn(self_ptr self, json::value started, std::optional<core::action_origin> origin,
                std::function<void(const std::string&)> refused) {
  auto& st = self->state;
  if (!st.host->find_engine(st.start.provider))
    return refused(st.start.provider + " is not loaded on this host");
  if (st.start.where.machine.empty())
    return begin(self, std::move(started), std::move(origin),
                 {st.host->this_host, st.start.where.directory, {}});
  self
    ->request(st.host->machines->get(), place_limit,
              enter_machine{st.start.where.machine, st.start.where.directory})
    .await(
      [=](const machine_place& there) mutable {
        begin(self, std::move(started), std::move(origin), {there.place, there.directory, {}});
      },
      [refused](const caf::error& why) { refused(core::to_wire(why).message); });
}

void start_queued(self_ptr self) {
  auto& st = self->state;
  const auto* queue = json::member(st.doc->state, "queuedMessages");
  if (st.running || active_turn(st) || !queue || queue->get_array().empty())
    return;
  const json::value next = queue->get_array().front();
  const std::string id(json::string_member(next, "id").value_or(""));
  publish(self, ahp::build::pending_message_removed("queued", id));
  auto started = ahp::build::turn_started(random_id(), now_ms(), next.at("message"), id);
  // The machine may be gone by now: the message is answered all the same, by a turn that says why.
  start_turn(self, started, std::nullopt, [self, started](const std::string& why) {
    begin(self, started, std::nullopt, {nullptr, {}, why});
  });
}

// ---- what clients dispatch ----------------------------------------------------------------------

void on_turn_started(self_ptr self, const core::client_action& a) {
  auto& st = self->state;
  if (has_turn(st, turn_id_of(*a.action)))
    return refuse(self, a, "turn " + std::string(turn_id_of(*a.action)) + " has run already");
  start_turn(self, *a.action, a.origin,
             [self, a](const std::string& why) { refuse(self, a, why); });
}

void on_turn_cancelled(self_ptr self, const core::client_action& a) {
  auto& st = self->state;
  if (turn_id_of(*a.action) != st.running->turn_id)
    return refuse(self, a, "turn " + std::string(turn_id_of(*a.action)) + " is not the running one");
  if (st.agent)
    self->send(st.agent, cancel_turn{});
  end_turn(self, *a.action, a.origin, [] {});
}

void on_truncated(self_ptr self, const core::client_action& a) {
  auto& st = self->state;
  const auto id = json::string_member(*a.action, "turnId");
  if (id && !has_turn(st, *id))
    return refuse(self, a, "there is no turn " + std::string(*id));
  if (st.running && !st.running->ended) {
    st.running->ended = true;
    if (st.agent)
      self->send(st.agent, cancel_turn{});
  }
  ahp::reduce(ahp::channel_kind::chat, st.doc->state, *a.action);
  st.turn_ordinals.resize(turns_of(st).size());
  const auto last = st.turn_ordinals.empty() ? 0 : st.turn_ordinals.back();
  commit(
    self,
    [row = row_of(st), last](config::store& db) {
      db.remove_turns_after(row.uri, last);
      db.remove_active_turn(row.uri);
      db.put_chat(row);
    },
    [self, a] {
      announce(self, *a.action, a.origin);
      tell_session(self);
    });
}

/// Everything else: reduced, durable, announced. An action that changes nothing is echoed all the same:
/// its sender waits for the echo.
void on_plain(self_ptr self, const core::client_action& a) {
  auto& st = self->state;
  if (!ahp::reduce(ahp::channel_kind::chat, st.doc->state, *a.action))
    return announce(self, *a.action, a.origin);
  commit(
    self, [row = row_of(st)](config::store& db) { db.put_chat(row); },
    [self, a] {
      announce(self, *a.action, a.origin);
      tell_session(self);
      start_queued(self);
    });
}

void take_action(self_ptr self, const core::client_action& a) {
  auto& st = self->state;
  // A cancelled turn's programs are being killed. What follows waits for the end of that.
  if (st.running && st.running->ended)
    return st.deferred.push_back(a);
  const auto why
    = ahp::refuse_action(ahp::channel_kind::chat, st.doc->state, *a.action, a.origin.client_id);
  if (why)
    return refuse(self, a, *why);
  const auto type = type_of(*a.action);
  if (type == "chat/turnStarted")
    return on_turn_started(self, a);
  if (type == "chat/turnCancelled")
    return on_turn_cancelled(self, a);
  if (type == "chat/truncated")
    return on_truncated(self, a);
  if (type == "chat/pendingMessageSet" && json::string_member(*a.action, "kind") == "steering")
    return refuse(self, a, st.start.provider + " takes no message while a turn runs; queue it");
  if (type == "chat/turnResume")
    return refuse(self, a, st.start.provider + " cannot go on with a turn that failed; send it again");
  on_plain(self, a);
}

void on_follow_view(json::value& state, std::uint64_t turns,
                    const std::vector<std::int64_t>& ordinals) {
  auto& all = state.at("turns").get_array();
  if (all.size() <= turns)
    return;
  const auto gone = all.size() - turns;
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(gone));
  state.as_object()["turnsNextCursor"] = cursor_before(
    turns > 0 ? ordinals[gone] : ordinals.back() + 1);
}

/// Publishes older turns that the store gave.
void on_fetched(self_ptr self, const std::vector<config::turn_row>& rows, bool more) {
  auto& st = self->state;
  json::array turns;
  std::vector<std::int64_t> fresh;
  for (const auto& row : rows) {
    if (!has_turn(st, json::string_member(row.turn, "id").value_or("")))
      fresh.push_back(row.ordinal);
    turns.push_back(row.turn);
  }
  st.turn_ordinals.insert(st.turn_ordinals.begin(), fresh.begin(), fresh.end());
  json::value action{{"type", "chat/turnsLoaded"}, {"turns", std::move(turns)}};
  if (more)
    action.as_object()["turnsNextCursor"] = cursor_before(rows.front().ordinal);
  publish(self, std::move(action));
}

} // namespace

chat_state::~chat_state() {
  if (agent)
    caf::anon_send_exit(agent, caf::exit_reason::user_shutdown);
  if (running)
    --host->metrics.turns_running;
}

namespace {

/// The turn that runs in the channel was a crashed predecessor's: whatever it started is killed, then
/// the turn ends.
void take_over_turn(self_ptr self) {
  auto& st = self->state;
  st.running
    = chat_state::run{std::string(json::string_member(*active_turn(st), "id").value_or("")), {}, false};
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

} // namespace

caf::behavior chat_actor(caf::stateful_actor<chat_state>* self, services_ptr host,
                         chat_start start) {
  auto& st = self->state;
  st.host = std::move(host);
  st.turn_ordinals = start.turn_ordinals;
  st.start = std::move(start);
  st.doc = st.host->channels.claim(st.start.uri, ahp::channel_kind::chat,
                                   caf::actor_cast<caf::actor>(self), *st.start.state);
  self->monitor(st.start.session);
  self->set_down_handler([self](caf::down_msg& msg) {
    if (msg.source == self->state.start.session.address())
      return self->quit(std::move(msg.reason));
    if (self->state.agent && msg.source == self->state.agent.address())
      on_agent_lost(self, self->system().render(msg.reason));
  });
  if (active_turn(st))
    take_over_turn(self);
  self->send(self, go_on_atom::value); // a predecessor, or a hub that stopped, may have left a queue
  return {
    [self](const core::client_action& a) { take_action(self, a); },
    [self](const core::follow& f) {
      auto& now = self->state;
      std::function<void(json::value&)> view;
      if (f.turns)
        view = [n = *f.turns, &now](json::value& state) {
          on_follow_view(state, n, now.turn_ordinals);
        };
      auto shot = now.host->order->follow(*now.doc, f.box, f.spelling, view);
      return core::followed{std::move(shot.state), shot.from_seq};
    },
    [self](const core::unfollow& u) { self->state.host->order->unfollow(*self->state.doc, *u.box); },
    [self](const end_chat&) {
      return self->delegate(self->state.start.session, dispose_chat{self->state.start.uri});
    },
    [self](const first_message& m) {
      auto started = ahp::build::turn_started(random_id(), now_ms(), *m.message);
      start_turn(self, started, std::nullopt, [self, started](const std::string& why) {
        begin(self, started, std::nullopt, {nullptr, {}, why});
      });
    },
    [self](const turn_step& step) {
      const auto& run = self->state.running;
      if (run && !run->ended && run->turn_id == step.turn_id)
        publish(self, *step.action);
    },
    [self](const turn_ended& end) {
      const auto& run = self->state.running;
      if (run && run->turn_id == end.turn_id)
        on_ended(self, end.error_type, end.error_message);
    },
    [self](go_on_atom) { start_queued(self); },
    [self](ended_atom) {
      if (self->state.running)
        on_ended(self, "agentLost", "The agent stopped unexpectedly while this turn ran");
    },
    [self](const fetch_turns& what) -> caf::result<caf::unit_t> {
      auto& now = self->state;
      const auto oldest = now.turn_ordinals.empty() ? 0 : now.turn_ordinals.front();
      const auto before = what.cursor.empty() ? std::optional(oldest) : ordinal_of(what.cursor);
      if (!before)
        return core::refusal(jsonrpc::invalid_params, "Unrecognised cursor " + what.cursor);
      if (*before == 0)
        return caf::unit; // a chat without turns has no older ones
      auto promise = self->make_response_promise();
      auto rows = std::make_shared<std::vector<config::turn_row>>();
      self
        ->request(now.host->store->get(), caf::infinite,
                  make_store_job([rows, before, uri = now.start.uri](config::store& db) {
                    *rows = db.turns_of(uri, turns_per_fetch + 1, *before);
                  }))
        .await(
          [self, rows, promise]() mutable {
            const bool more = rows->size() > turns_per_fetch;
            if (more)
              rows->erase(rows->begin());
            if (!rows->empty())
              on_fetched(self, *rows, more);
            promise.deliver(caf::unit);
          },
          [promise](caf::error& why) mutable { promise.deliver(std::move(why)); });
      return promise;
    },
  };
}

} // namespace ahpd::hub
