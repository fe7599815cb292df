#include "actors/hub/chat.hpp"

#include "actors/core/clock.hpp"
#include "actors/core/errors.hpp"
#include "actors/core/log.hpp"
#include "actors/hub/chat_tools.hpp"
#include "actors/hub/chat_turns.hpp"
#include "protocol/ahp/actions.hpp"
#include "protocol/ahp/builders.hpp"
#include "protocol/random.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <charconv>

namespace ahpd::hub {

namespace {

using self_ptr = turns::chat_ptr;
using namespace turns;

constexpr std::size_t turns_per_fetch = 50;

/// Text of the turns in one snapshot; older ones are there for `fetchTurns`. A snapshot must fit
/// into what may be queued for a connection.
constexpr std::size_t snapshot_bytes = 8u << 20;

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

void refuse(self_ptr self, const core::client_action& a, std::string_view why) {
  auto& st = self->state;
  ++st.host->metrics.refused_actions_total;
  st.host->order->refuse(*a.action, a.origin, why);
}

// ---- what clients dispatch ----------------------------------------------------------------------

void on_turn_started(self_ptr self, const core::client_action& a) {
  auto& st = self->state;
  if (has_turn(st, turn_id_of(*a.action)))
    return refuse(self, a, "turn " + std::string(turn_id_of(*a.action)) + " has run already");
  start(self, *a.action, a.origin, [self, a](const std::string& why) { refuse(self, a, why); });
}

void on_turn_cancelled(self_ptr self, const core::client_action& a) {
  auto& st = self->state;
  if (turn_id_of(*a.action) != st.running->turn_id)
    return refuse(self, a,
                  "turn " + std::string(turn_id_of(*a.action)) + " is not the running one");
  if (st.running->by)
    self->send(st.running->by, cancel_turn{});
  end(self, *a.action, a.origin, [] {});
}

void on_truncated(self_ptr self, const core::client_action& a) {
  auto& st = self->state;
  const auto id = json::string_member(*a.action, "turnId");
  if (id && !has_turn(st, *id))
    return refuse(self, a, "there is no turn " + std::string(*id));
  if (st.running && !st.running->ended) {
    st.running->ended = true;
    if (st.running->by)
      self->send(st.running->by, cancel_turn{});
  }
  withdraw_questions(self);
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

/// The first answer to a question goes to the agent; a later one is refused, as nothing asks.
void on_confirmed(self_ptr self, const json::value& action) {
  auto& st = self->state;
  mirror_question(self, action);
  const auto* approved = json::member(action, "approved");
  if (st.agent)
    self->send(
      st.agent,
      tool_confirmed{std::string(turn_id_of(action)),
                     std::string(json::string_member(action, "toolCallId").value_or("")),
                     approved && approved->is_bool() && approved->get_bool(),
                     std::string(json::string_member(action, "selectedOptionId").value_or(""))});
}

/// Everything else: reduced, durable, announced. An action that changes nothing is echoed all the
/// same: its sender waits for the echo.
void on_plain(self_ptr self, const core::client_action& a) {
  auto& st = self->state;
  if (!ahp::reduce(ahp::channel_kind::chat, st.doc->state, *a.action))
    return announce(self, *a.action, a.origin);
  commit(
    self, [row = row_of(st)](config::store& db) { db.put_chat(row); },
    [self, a] {
      announce(self, *a.action, a.origin);
      tell_session(self);
      if (type_of(*a.action) == "chat/toolCallConfirmed")
        on_confirmed(self, *a.action);
      else
        mirror_question(self, *a.action);
      answer_calls(self);
      start_queued(self);
    });
}

void take_action(self_ptr self, const core::client_action& a) {
  auto& st = self->state;
  // A cancelled turn's programs are being killed. What follows waits for the end of that.
  if (st.running && st.running->ended)
    return st.deferred.push_back(a);
  const auto why =
    ahp::refuse_action(ahp::channel_kind::chat, st.doc->state, *a.action, a.origin.client_id);
  const auto type = type_of(*a.action);
  if (why) {
    refuse(self, a, *why);
    if (type == "chat/toolCallConfirmed")
      on_denied(self, a);
    return;
  }
  if (type == "chat/turnStarted")
    return on_turn_started(self, a);
  if (type == "chat/turnCancelled")
    return on_turn_cancelled(self, a);
  if (type == "chat/truncated")
    return on_truncated(self, a);
  if (type == "chat/pendingMessageSet" && json::string_member(*a.action, "kind") == "steering")
    return refuse(self, a, st.start.provider + " takes no message while a turn runs; queue it");
  if (type == "chat/turnResume")
    return refuse(self, a,
                  st.start.provider + " cannot go on with a turn that failed; send it again");
  on_plain(self, a);
}

/// The turn's end waits until the edit is durable, as everything else does. The owner of the
/// changesets may crash over it: its successor is asked once more, which does no harm.
void take_edit(self_ptr self, const file_edited& what, bool again = true) {
  auto& st = self->state;
  if (!st.running || st.running->turn_id != what.turn_id)
    return;
  self->request(st.start.session, caf::infinite, what)
    .await([] {},
           [self, what, again](const caf::error& why) {
             if (again)
               return take_edit(self, what, false);
             core::log::error("an edit is in no changeset", {{"chat", self->state.start.uri},
                                                             {"why", core::to_wire(why).message}});
           });
}

/// How many of the newest turns fit into a snapshot; one does at any rate.
std::size_t fitting(const json::array& turns) {
  std::size_t bytes = 0;
  std::size_t n = 0;
  while (n < turns.size()) {
    bytes += json::serialize(turns[turns.size() - n - 1]).size();
    if (n > 0 && bytes > snapshot_bytes)
      break;
    ++n;
  }
  return n;
}

/// Leaves the newest `turns` of a snapshot, or what fits.
void on_follow_view(json::value& state, std::optional<std::uint64_t> wanted,
                    const std::vector<std::int64_t>& ordinals) {
  auto& all = state.at("turns").get_array();
  const auto turns = std::min<std::uint64_t>(wanted.value_or(all.size()), fitting(all));
  if (all.size() <= turns)
    return;
  const auto gone = all.size() - turns;
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(gone));
  state.as_object()["turnsNextCursor"] =
    cursor_before(turns > 0 ? ordinals[gone] : ordinals.back() + 1);
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
  if (running && running->by)
    caf::anon_send_exit(running->by, caf::exit_reason::user_shutdown);
  if (running)
    --host->metrics.turns_running;
}

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
    auto& now = self->state;
    const bool answers = now.running && now.running->by && msg.source == now.running->by.address();
    if (now.agent && msg.source == now.agent.address())
      now.agent = nullptr;
    if (answers)
      on_agent_lost(self, self->system().render(msg.reason));
  });
  if (active_turn(st))
    take_over(self);
  self->send(self,
             go_on_atom::value); // a predecessor, or a hub that stopped, may have left a queue
  return {
    [self](const core::client_action& a) { take_action(self, a); },
    [self](const core::follow& f) {
      auto& now = self->state;
      return now.host->order->follow(*now.doc, f, [&](json::value& state) {
        on_follow_view(state, f.turns, now.turn_ordinals);
      });
    },
    [self](const core::unfollow& u) {
      self->state.host->order->unfollow(*self->state.doc, *u.box);
    },
    [self](const end_chat&) {
      return self->delegate(self->state.start.session, dispose_chat{self->state.start.uri});
    },
    [self](const first_message& m) {
      start_own(self, ahp::build::turn_started(random_hex(16), core::now_ms(), *m.message));
    },
    [self](const turn_step& step) {
      const auto& run = self->state.running;
      if (!run || run->ended || run->turn_id != step.turn_id)
        return;
      publish(self, *step.action);
      mirror_question(self, *step.action);
    },
    [self](const file_edited& what) { take_edit(self, what); },
    [self](const session_step& step) { self->send(self->state.start.session, step); },
    [self](const session_settings& now) {
      self->state.start.settings = now.values;
      if (self->state.agent)
        self->send(self->state.agent, now);
    },
    [self](const session_tools& now) {
      self->state.start.tools = now.tools;
      if (self->state.agent)
        self->send(self->state.agent, now);
    },
    [self](const client_left& who) {
      fail_calls_of(self, who.client_id, who.client_id + " left before it had run this tool");
    },
    [self](const call_offered_tool& what) {
      auto promise = self->make_response_promise();
      call_tool(self, what, promise);
      return promise;
    },
    [self](const give_up_call& what) {
      fail_call(self, what.call, "The agent does not wait for this tool any more");
    },
    [self](const call_late& what) {
      fail_call(self, what.call,
                "The client did not run this tool within " +
                  std::to_string(self->state.host->client_tool_timeout.count()) + " ms");
    },
    [self](const turn_ended& end) {
      const auto& run = self->state.running;
      if (run && run->turn_id == end.turn_id)
        on_ended(self, end.error_type, end.error_message);
    },
    [self](go_on_atom) { start_queued(self); },
    [self](swept_atom) {
      if (self->state.running)
        on_ended(self, "agentLost", "The agent stopped unexpectedly while this turn ran");
    },
    [self](ask_place) { return self->state.start.where; },
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
