#include "actors/hub/terminals.hpp"

#include "actors/core/errors.hpp"
#include "actors/core/log.hpp"
#include "actors/core/run_here.hpp"
#include "actors/hub/catalogue.hpp"
#include "actors/hub/machines.hpp"
#include "actors/hub/store_actor.hpp"
#include "actors/hub/terminal.hpp"
#include "protocol/ahp/codes.hpp"
#include "protocol/random.hpp"

#include <caf/all.hpp>

#include <sys/stat.h>

#include <algorithm>

namespace ahpd::hub {

namespace {

using self_ptr = caf::stateful_actor<terminals_state>*;
using entry = terminals_state::entry;
using leave_atom = caf::atom_constant<caf::atom("leave")>;

constexpr std::size_t most_running = 100;
constexpr std::size_t most_ended = 50; ///< the one that ended first goes for the next

/// A machine answers where its programs run from what is known; a minute is a hang.
constexpr std::chrono::seconds place_limit{60};

/// How long the end of the hub waits for the ends of its terminals.
constexpr std::chrono::seconds leave_limit{5};

caf::error no_terminal(const std::string& uri) {
  return core::refusal(ahp::not_found, "There is no terminal " + uri);
}

entry* find(self_ptr self, const std::string& uri) {
  const auto i = self->state.terminals.find(uri);
  return i == self->state.terminals.end() ? nullptr : &i->second;
}

std::string session_of(const json::value& claim) {
  return std::string(json::string_member(claim, "session").value_or(""));
}

/// Keeps the root channel's list in step; `then` runs once its followers were told.
void tell_list(
  self_ptr self, const std::function<void()>& then = [] {}) {
  json::array list;
  for (const auto& [uri, e] : self->state.terminals)
    if (!e.info.is_null())
      list.push_back(e.info);
  self
    ->request(self->state.host->catalogue->get(), caf::infinite,
              listed_terminals{std::make_shared<const json::value>(std::move(list))})
    .then(then, [then](const caf::error&) { then(); });
}

// ---- closing ------------------------------------------------------------------------------------

/// Nothing of a terminal is left to kill: it is forgotten.
void forget(self_ptr self, const std::string& uri) {
  auto& st = self->state;
  const auto i = st.terminals.find(uri);
  auto gone = std::move(i->second);
  st.terminals.erase(i);
  st.host->channels.remove(uri);
  if (gone.opening.pending())
    gone.opening.deliver(gone.refused ? gone.refused : no_terminal(uri));
  for (auto& promise : gone.waiters)
    promise.deliver(no_terminal(uri));
  tell_list(self, [closers = std::move(gone.closers)]() mutable {
    for (auto& promise : closers)
      promise.deliver(caf::unit);
  });
  if (st.leaving && st.terminals.empty())
    self->quit();
}

/// Nothing of a terminal's run is left.
void forget_run(self_ptr self, const std::string& uri) {
  const auto then = [self, uri] { forget(self, uri); };
  self
    ->request(self->state.host->store->get(), caf::infinite,
              make_store_job(
                [marker = find(self, uri)->marker](config::store& db) { db.remove_run(marker); }))
    .then(then, [then](const caf::error&) { then(); });
}

/// Kills what the program left behind in its place, then forgets the terminal.
void sweep(self_ptr self, const std::string& uri) {
  const auto* e = find(self, uri);
  const auto swept = core::back_to<std::string>(
    self, [self, uri, marker = e->marker, machine = e->machine](const std::string& failure) {
      if (failure.empty())
        return forget_run(self, uri);
      if (machine.empty())
        core::log::warning("could not sweep this host", {{"why", failure}});
      else // as soon as it can be asked
        self->send(self->state.host->machines->get(), sweep_machine{machine, marker});
      forget(self, uri);
    });
  e->place->sweep({e->marker},
                  [swept](std::size_t, const std::string& failure) { swept(failure); });
}

void close(self_ptr self, entry& e) {
  if (std::exchange(e.closing, true))
    return;
  if (e.actor) // else it is being opened, and ends there
    self->send_exit(e.actor, caf::exit_reason::user_shutdown);
}

void close_those_of(self_ptr self, const std::string& session) {
  for (auto& [uri, e] : self->state.terminals)
    if (e.session == session)
      close(self, e);
}

void leave(self_ptr self) {
  auto& st = self->state;
  if (st.terminals.empty())
    return self->quit();
  if (!std::exchange(st.leaving, true))
    self->delayed_send(self, leave_limit, leave_atom::value);
  for (auto& [uri, e] : st.terminals)
    close(self, e);
}

void on_terminal_down(self_ptr self, const caf::down_msg& msg) {
  auto& st = self->state;
  const auto i = std::find_if(st.terminals.begin(), st.terminals.end(), [&](const auto& t) {
    return t.second.actor && t.second.actor.address() == msg.source;
  });
  if (i == st.terminals.end())
    return;
  auto& [uri, e] = *i;
  if (!e.closing && msg.reason) {
    core::log::error("terminal crashed",
                     {{"terminal", uri}, {"reason", self->system().render(msg.reason)}});
    if (const auto doc = st.host->channels.find(uri); doc && e.exited == 0)
      st.host->order->publish(*doc, {{"type", "terminal/exited"}});
  }
  e.closing = true;
  sweep(self, uri);
}

// ---- opening ------------------------------------------------------------------------------------

void refuse_opening(self_ptr self, const std::string& uri, const caf::error& why) {
  find(self, uri)->refused = why;
  forget(self, uri);
}

/// Its run is durable, so whatever comes now is swept: the program starts.
void start(self_ptr self, const open_terminal& what, const std::string& directory) {
  auto& e = *find(self, what.uri);
  if (e.closing)
    return forget_run(self, what.uri);
  auto from = start_of(what, e.marker, directory);
  from.place = e.place;
  from.terminals = caf::actor_cast<caf::actor>(self);
  e.actor = self->system().spawn(terminal_actor, self->state.host, std::move(from));
  self->monitor(e.actor);
}

void record_run(self_ptr self, const open_terminal& what, const std::string& directory) {
  const auto& e = *find(self, what.uri);
  self
    ->request(self->state.host->store->get(), caf::infinite,
              make_store_job([marker = e.marker, machine = e.machine](config::store& db) {
                db.put_run({marker, machine, {}});
              }))
    .then([self, what, directory] { start(self, what, directory); },
          [self, uri = what.uri](const caf::error& why) { refuse_opening(self, uri, why); });
}

/// Finds where the program runs, and the directory there.
void enter(self_ptr self, const open_terminal& what) {
  auto& st = self->state;
  auto& e = *find(self, what.uri);
  if (e.machine.empty()) {
    const auto& directory = what.directory.empty() ? what.where.directory : what.directory;
    struct stat info {};
    if (!directory.empty() && (::stat(directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)))
      return refuse_opening(
        self, what.uri,
        core::refusal(jsonrpc::invalid_params,
                      "cwd names " + directory + ", and that folder is not there"));
    e.place = st.host->this_host;
    return record_run(self, what, directory);
  }
  const auto& directory = what.directory.empty() ? what.where.directory : what.directory;
  self
    ->request(st.host->machines->get(), place_limit,
              enter_machine{e.machine, directory, {}, what.directory})
    .then(
      [self, what](const machine_place& there) {
        find(self, what.uri)->place = there.place;
        record_run(self, what, there.directory);
      },
      [self, uri = what.uri](const caf::error& why) { refuse_opening(self, uri, why); });
}

std::size_t running(const terminals_state& st) {
  return static_cast<std::size_t>(std::count_if(
    st.terminals.begin(), st.terminals.end(), [](const auto& t) { return t.second.exited == 0; }));
}

void open(self_ptr self, open_terminal what, caf::response_promise promise) {
  auto& st = self->state;
  if (st.leaving)
    return promise.deliver(core::refusal(jsonrpc::internal_error, "The host is stopping"));
  if (what.uri.empty())
    what.uri = "ahp-terminal:/" + random_hex(16);
  if (what.title.empty())
    what.title = what.argv.front().substr(what.argv.front().rfind('/') + 1);
  if (st.terminals.count(what.uri) || st.host->channels.find(what.uri))
    return promise.deliver(core::refusal(ahp::already_exists, what.uri + " already exists"));
  if (running(st) >= most_running)
    return promise.deliver(core::refusal(
      jsonrpc::invalid_params, "This host runs " + std::to_string(most_running) +
                                 " terminals, and this one would be one more; dispose of one"));
  auto& e = st.terminals[what.uri];
  e.marker = random_hex(16);
  e.machine = what.where.machine;
  e.session = session_of(*what.claim);
  e.opening = std::move(promise);
  enter(self, what);
}

void on_started(self_ptr self, const terminal_started& what) {
  auto& e = *find(self, what.uri);
  if (!what.refused.empty()) {
    e.refused = core::refusal(jsonrpc::internal_error, what.refused);
    return; // and it ends
  }
  e.info = *what.info;
  tell_list(self, [promise = std::exchange(e.opening, {}), uri = what.uri]() mutable {
    promise.deliver(terminal_opened{uri});
  });
}

// ---- what terminals tell ------------------------------------------------------------------------

/// Those that ended first go when there are too many of them.
void bound_ended(self_ptr self) {
  entry* oldest = nullptr;
  std::size_t ended = 0;
  for (auto& [uri, e] : self->state.terminals) {
    if (e.exited == 0 || e.closing)
      continue;
    ++ended;
    if (!oldest || e.exited < oldest->exited)
      oldest = &e;
  }
  if (ended > most_ended)
    close(self, *oldest);
}

void answer_with_output(self_ptr self, const std::string& uri, caf::response_promise promise) {
  self->request(find(self, uri)->actor, caf::infinite, read_terminal{uri})
    .then([promise](const terminal_output& out) mutable { promise.deliver(out); },
          [promise, uri](const caf::error&) mutable { promise.deliver(no_terminal(uri)); });
}

void on_changed(self_ptr self, const terminal_changed& what) {
  auto& st = self->state;
  auto* e = find(self, what.uri);
  if (!e)
    return;
  e->info = *what.info;
  e->session = session_of(e->info.at("claim"));
  tell_list(self);
  if (e->exited > 0 || json::string_member(e->info.at("lifecycle"), "status") == "running")
    return;
  e->exited = ++st.exits;
  for (auto& waiter : std::exchange(e->waiters, {}))
    answer_with_output(self, what.uri, std::move(waiter));
  bound_ended(self);
}

/// Runs `work` with the terminal, which its opener knows of, or refuses.
caf::response_promise
with_terminal(self_ptr self, const std::string& uri,
              const std::function<void(entry&, caf::response_promise)>& work) {
  auto promise = self->make_response_promise();
  auto* e = find(self, uri);
  if (!e || e->info.is_null())
    promise.deliver(no_terminal(uri));
  else
    work(*e, promise);
  return promise;
}

} // namespace

terminals_state::~terminals_state() {
  for (const auto& [uri, e] : terminals)
    if (e.actor)
      caf::anon_send_exit(e.actor, caf::exit_reason::user_shutdown);
}

caf::behavior terminals_actor(caf::stateful_actor<terminals_state>* self, services_ptr host) {
  auto& st = self->state;
  st.host = std::move(host);
  // What a predecessor had open ends with it.
  for (const auto& uri : st.host->channels.of_kind(ahp::channel_kind::terminal))
    st.host->channels.remove(uri);
  tell_list(self);
  self->set_down_handler([self](caf::down_msg& msg) { on_terminal_down(self, msg); });
  self->set_exit_handler([self](caf::exit_msg&) { leave(self); });
  return {
    core::take_run_here(),
    [](const core::are_you_up&) { return caf::unit; },
    [self](const open_terminal& what) {
      auto promise = self->make_response_promise();
      open(self, what, promise);
      return promise;
    },
    [self](const terminal_started& what) { on_started(self, what); },
    [self](const terminal_changed& what) { on_changed(self, what); },
    [self](const read_terminal& what) {
      return with_terminal(self, what.uri, [&](entry&, caf::response_promise promise) {
        answer_with_output(self, what.uri, std::move(promise));
      });
    },
    [self](const wait_terminal& what) {
      return with_terminal(self, what.uri, [&](entry& e, caf::response_promise promise) {
        if (e.exited > 0)
          answer_with_output(self, what.uri, std::move(promise));
        else
          e.waiters.push_back(std::move(promise));
      });
    },
    [self](const kill_terminal& what) {
      return with_terminal(self, what.uri, [&](entry& e, caf::response_promise promise) {
        self->send(e.actor, what);
        promise.deliver(caf::unit);
      });
    },
    [self](const close_terminal& what) {
      return with_terminal(self, what.uri, [&](entry& e, caf::response_promise promise) {
        e.closers.push_back(std::move(promise));
        close(self, e);
      });
    },
    [self](const close_session_terminals& what) { close_those_of(self, what.session); },
    [self](leave_atom) { self->quit(); },
  };
}

} // namespace ahpd::hub
