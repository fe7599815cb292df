#include "actors/hub/sessions.hpp"

#include "actors/core/clock.hpp"
#include "actors/core/errors.hpp"
#include "actors/core/log.hpp"
#include "actors/core/scheduler.hpp"
#include "actors/hub/catalogue.hpp"
#include "actors/hub/changes.hpp"
#include "actors/hub/changes_kept.hpp"
#include "actors/hub/machines.hpp"
#include "actors/hub/session.hpp"
#include "actors/hub/session_config.hpp"
#include "actors/hub/store_actor.hpp"
#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/changesets.hpp"
#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/file_uri.hpp"
#include "protocol/ahp/uris.hpp"

#include <caf/all.hpp>

#include <malloc.h>

#include <sys/stat.h>

namespace ahpd::hub {

namespace {

using self_ptr = caf::stateful_actor<sessions_state>*;
using opened_atom = caf::atom_constant<caf::atom("opened")>;
using tidy_atom = caf::atom_constant<caf::atom("tidy")>;
namespace build = ahp::build;

/// `listSessions`: at most this many a page, and this many when no limit is given (spec "Store").
constexpr std::uint64_t longest_page = 500;
constexpr std::uint64_t page_without_limit = 1000;

/// After the end of a session; the ends of others meanwhile count with it.
constexpr std::chrono::seconds tidy_after{20};

constexpr std::chrono::seconds machine_limit{60};

void tell_count(self_ptr self) {
  auto& st = self->state;
  self->send(st.host->catalogue->get(), open_sessions{static_cast<std::int64_t>(st.open.size())});
}

caf::actor start_session(self_ptr self, session_start from) {
  auto& st = self->state;
  const auto id = from.row.id;
  const auto uri = from.row.uri;
  auto actor = self->system().spawn(session_actor, st.host, std::move(from),
                                    caf::actor_cast<caf::actor>(self));
  self->monitor(actor);
  st.open[id] = {actor, uri};
  tell_count(self);
  return actor;
}

/// Folders of a session on this host must be there; the call is one `stat` each.
std::optional<std::string> missing_folder(const session_plan& plan) {
  for (const auto& uri : plan.folders) {
    const auto path = ahp::file_path(uri).value_or("");
    struct stat info {};
    if (plan.machine.empty() && (stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)))
      return "workingDirectories names " + path + ", and that folder is not there";
  }
  return std::nullopt;
}

session_start rows_of(const services& host, const session_plan& plan) {
  const auto now = core::now_ms();
  auto state = build::session_state(plan.provider, "New session").as_object();
  state.erase("chats");
  state.erase("activeClients");
  state["lifecycle"] = "ready";
  const auto chat = ahp::default_chat_uri(plan.uri);
  state["defaultChat"] = chat;
  json::array folders;
  for (const auto& f : plan.folders)
    folders.emplace_back(f);
  if (folders.empty())
    folders.emplace_back(ahp::file_uri(host.default_directory));
  state["workingDirectories"] = std::move(folders);
  state["config"] =
    json::object{{"schema", session_config_schema(host, plan.provider)}, {"values", plan.config}};
  auto first = build::chat_state(chat, "New session", now, json::object{{"kind", "user"}});
  first.as_object().erase("turns");
  return {{plan.id, plan.uri, now, now, std::move(state)},
          {{{chat, plan.id, 0, std::move(first)}, {}, false}}};
}

/// Steps of `createSession`, for `root/progress`.
constexpr std::uint64_t place_is_there = 1;
constexpr std::uint64_t all_steps = 2;

void finish_create(self_ptr self, const session_plan& plan, const progress_sink& listener,
                   caf::response_promise promise) {
  auto& st = self->state;
  const auto told = progress_to(listener);
  const auto tell = [told](std::uint64_t step, const char* message) {
    if (told)
      told({step, all_steps, message});
  };
  tell(place_is_there, "Making the session");
  auto start = std::make_shared<session_start>(rows_of(*st.host, plan));
  auto exists = std::make_shared<bool>(false);
  auto write = [start, exists](config::store& db) {
    *exists = db.find_session(start->row.id).has_value();
    if (*exists)
      return;
    db.put_session(start->row);
    db.put_chat(start->chats.front().row);
  };
  self->request(st.host->store->get(), caf::infinite, make_store_job(write))
    .then(
      [self, plan, start, exists, promise, tell]() mutable {
        auto& now = self->state;
        now.claimed.erase(plan.id);
        tell(all_steps, *exists ? "The session exists already" : "The session is ready");
        if (*exists)
          return promise.deliver(
            core::refusal(ahp::session_already_exists, plan.uri + " already exists"));
        auto shown = start->row.state.as_object();
        json::array chats{build::chat_summary(start->chats.front().row.state)};
        shown["chats"] = std::move(chats);
        self->send(now.host->catalogue->get(),
                   session_added{std::make_shared<const json::value>(
                     build::session_summary(plan.uri, shown, start->row.created_ms))});
        const auto actor = start_session(self, std::move(*start));
        if (plan.active_client.is_object())
          self->send(actor, join_session{std::make_shared<const json::value>(plan.active_client)});
        promise.deliver(caf::unit);
      },
      [self, plan, promise, tell](caf::error& why) mutable {
        self->state.claimed.erase(plan.id);
        tell(all_steps, "The session could not be kept");
        promise.deliver(std::move(why));
      });
}

void create(self_ptr self, const create_session& what, caf::response_promise promise) {
  auto& st = self->state;
  auto read = plan_session(*st.host, what.params, what.client_id);
  if (const auto* no = std::get_if<plan_refusal>(&read))
    return promise.deliver(core::refusal(no->code, no->sentence));
  auto plan = std::get<session_plan>(std::move(read));
  if (const auto why = missing_folder(plan))
    return promise.deliver(core::refusal(jsonrpc::invalid_params, *why));
  if (st.open.count(plan.id) || !st.claimed.insert(plan.id).second)
    return promise.deliver(
      core::refusal(ahp::session_already_exists, plan.uri + " already exists"));
  if (plan.machine.empty())
    return finish_create(self, plan, what.progress, promise);
  // The machine must be there; a session never falls back to this host (seed "A session in one").
  self
    ->request(st.host->machines->get(), machine_limit,
              enter_machine{plan.machine, {}, plan.provider})
    .then(
      [self, plan, promise, listener = what.progress](const machine_place&) {
        finish_create(self, plan, listener, promise);
      },
      [self, plan, promise](const caf::error& why) mutable {
        self->state.claimed.erase(plan.id);
        const auto wire = core::to_wire(why);
        promise.deliver(core::refusal(
          wire.code == ahp::permission_denied ? wire.code : jsonrpc::invalid_params, wire.message));
      });
}

/// Opens a session from the store once for all who ask meanwhile.
void open(self_ptr self, const std::string& id, caf::response_promise promise) {
  auto& st = self->state;
  auto& waiting = st.opening[id];
  waiting.push_back(std::move(promise));
  if (waiting.size() > 1)
    return;
  auto found = std::make_shared<std::optional<session_start>>();
  self
    ->request(st.host->store->get(), caf::infinite,
              make_store_job([found, id](config::store& db) { *found = load_session(db, id); }))
    .then(
      [self, found, id]() {
        auto& now = self->state;
        auto asked = std::move(now.opening[id]);
        now.opening.erase(id);
        caf::actor actor;
        if (const auto i = now.open.find(id); i != now.open.end())
          actor = i->second.actor;
        else if (*found)
          actor = start_session(self, std::move(**found));
        for (auto& p : asked)
          if (actor)
            p.deliver(opened_atom::value, actor);
          else
            p.deliver(core::refusal(ahp::session_not_found, "No agent for session " + id));
      },
      [self, id](const caf::error& why) {
        auto asked = std::move(self->state.opening[id]);
        self->state.opening.erase(id);
        for (auto& p : asked)
          p.deliver(why);
      });
}

/// Runs `then` with the session's actor, or answers `promise` with the refusal.
void with_session(self_ptr self, const std::string& id, caf::response_promise promise,
                  std::function<void(const caf::actor&)> then) {
  auto& st = self->state;
  if (const auto i = st.open.find(id); i != st.open.end())
    return then(i->second.actor);
  self->request(caf::actor_cast<caf::actor>(self), caf::infinite, opened_atom::value, id)
    .then([then](opened_atom, const caf::actor& actor) { then(actor); },
          [promise](caf::error& why) mutable { promise.deliver(std::move(why)); });
}

/// The host's spelling of a session's URI: the one its client made it with.
void resolve_session(self_ptr self, const std::string& id, caf::response_promise promise) {
  with_session(self, id, promise, [self, id, promise](const caf::actor& actor) mutable {
    const auto i = self->state.open.find(id);
    if (i == self->state.open.end()) // disposed while it was being opened
      return promise.deliver(core::refusal(ahp::session_not_found, "No agent for session " + id));
    promise.deliver(opened{actor, i->second.uri});
  });
}

void resolve_changeset(self_ptr self, const std::string& uri, caf::response_promise promise) {
  const auto id = ahp::session_id(ahp::parse_changeset_uri(uri)->session);
  with_session(self, *id, promise, [self, uri, promise](const caf::actor& actor) {
    self->request(actor, caf::infinite, find_changeset{uri})
      .then([promise](opened& where) mutable { promise.deliver(std::move(where)); },
            [promise](caf::error& why) mutable { promise.deliver(std::move(why)); });
  });
}

void resolve_chat(self_ptr self, const std::string& uri, caf::response_promise promise) {
  auto& st = self->state;
  const auto no_chat = core::refusal(ahp::not_found, "There is no chat " + uri);
  const auto finish = [self, uri, promise](const std::string& id) {
    // A session that was opened just now has not claimed its chats' channels yet: it is asked
    // itself.
    with_session(self, id, promise, [self, uri, promise](const caf::actor& actor) {
      self->request(actor, caf::infinite, find_chat{uri})
        .then([promise](opened& chat) mutable { promise.deliver(std::move(chat)); },
              [promise](caf::error& why) mutable { promise.deliver(std::move(why)); });
    });
  };
  if (const auto session = ahp::session_of_default_chat(uri))
    if (const auto id = ahp::session_id(*session))
      return finish(*id);
  auto found = std::make_shared<std::optional<std::string>>();
  self
    ->request(st.host->store->get(), caf::infinite,
              make_store_job([found, uri](config::store& db) { *found = db.session_of_chat(uri); }))
    .then(
      [found, finish, promise, no_chat]() mutable {
        if (*found)
          finish(**found);
        else
          promise.deliver(no_chat);
      },
      [promise](caf::error& why) mutable { promise.deliver(std::move(why)); });
}

json::value summary_of(config::store& db, const config::session_row& row) {
  auto state = row.state.as_object();
  json::array chats;
  for (const auto& chat : db.chats_of(row.id))
    chats.push_back(build::chat_summary(chat.state));
  state["chats"] = std::move(chats);
  if (auto changes = changes_summary(db, row.id); !changes.is_null())
    state["changes"] = std::move(changes);
  return build::session_summary(row.uri, state, row.created_ms);
}

void list(self_ptr self, const list_sessions& what, caf::response_promise promise) {
  struct page {
    bool known = true;
    json::array items;
    std::string next;
  };
  auto found = std::make_shared<page>();
  const auto limit = std::max<std::uint64_t>(1, what.limit ? std::min(*what.limit, longest_page)
                                                           : page_without_limit);
  auto read = [found, limit, cursor = what.cursor](config::store& db) {
    auto rows = db.list_sessions(limit + 1, cursor);
    found->known = rows.has_value();
    if (!rows)
      return;
    const bool more = rows->size() > limit;
    if (more)
      rows->pop_back();
    for (const auto& row : *rows)
      found->items.push_back(summary_of(db, row));
    if (more)
      found->next = config::store::cursor_of(rows->back());
  };
  self->request(self->state.host->store->get(), caf::infinite, make_store_job(read))
    .then(
      [found, promise, cursor = what.cursor]() mutable {
        if (!found->known)
          return promise.deliver(
            core::refusal(jsonrpc::invalid_params, "Unrecognised cursor " + cursor));
        promise.deliver(session_page{std::make_shared<const json::value>(std::move(found->items)),
                                     std::move(found->next)});
      },
      [promise](caf::error& why) mutable { promise.deliver(std::move(why)); });
}

void on_session_down(self_ptr self, const caf::down_msg& msg) {
  auto& st = self->state;
  for (auto i = st.open.begin(); i != st.open.end(); ++i) {
    if (i->second.actor.address() != msg.source)
      continue;
    const auto id = i->first;
    st.open.erase(i);
    if (msg.reason) {
      core::log::error("session crashed",
                       {{"session", id}, {"reason", self->system().render(msg.reason)}});
      // Its channels still have followers: bring it back at once.
      caf::anon_send(self, opened_atom::value, id);
    } else {
      tell_count(self);
    }
    return;
  }
}

/// What ended sessions held lies in pieces between what is in use, and the allocator gives that
/// back to the system only when it is told to.
void tidy_later(self_ptr self) {
  if (!std::exchange(self->state.tidying, true))
    self->delayed_send(self, tidy_after, tidy_atom::value);
}

} // namespace

caf::behavior sessions_actor(caf::stateful_actor<sessions_state>* self, services_ptr host) {
  self->state.host = std::move(host);
  self->set_down_handler([self](caf::down_msg& msg) { on_session_down(self, msg); });
  // What a predecessor had open still has followers.
  for (const auto& uri : self->state.host->channels.of_kind(ahp::channel_kind::session))
    if (const auto id = ahp::session_id(uri))
      caf::anon_send(self, opened_atom::value, *id);
  const auto promised = [self](auto work) {
    auto promise = self->make_response_promise();
    work(promise);
    return promise;
  };
  return {
    [](const core::are_you_up&) { return caf::unit; },
    [=](const create_session& what) {
      return promised([&](auto promise) { create(self, what, promise); });
    },
    [=](const end_session& what) {
      tidy_later(self);
      return promised([&](caf::response_promise promise) {
        const auto id = ahp::session_id(what.uri);
        if (!id)
          return promise.deliver(
            core::refusal(ahp::session_not_found, "No agent for session " + what.uri));
        with_session(self, *id, promise, [self, promise, uri = what.uri](const caf::actor& actor) {
          self->request(actor, caf::infinite, dispose_session{})
            .then([promise]() mutable { promise.deliver(caf::unit); },
                  [promise, uri](caf::error& why) mutable {
                    // Another client disposed of it first, and it ended before it read this.
                    if (why == caf::sec::request_receiver_down)
                      why = core::refusal(ahp::session_not_found, "No agent for session " + uri);
                    promise.deliver(std::move(why));
                  });
        });
      });
    },
    [self](tidy_atom) {
      self->state.tidying = false;
      core::run_blocking(self->system(), [] { ::malloc_trim(0); });
    },
    [self](const client_settled& who) {
      for (const auto& [id, session] : self->state.open)
        self->send(session.actor, who);
    },
    [=](const open_channel& what) {
      return promised([&](caf::response_promise promise) {
        if (const auto id = ahp::session_id(what.uri))
          return resolve_session(self, *id, promise);
        if (ahp::parse_changeset_uri(what.uri))
          return resolve_changeset(self, what.uri, promise);
        resolve_chat(self, what.uri, promise);
      });
    },
    [=](opened_atom, const std::string& id) {
      return promised([&](auto promise) { open(self, id, promise); });
    },
    [=](const list_sessions& what) {
      return promised([&](auto promise) { list(self, what, promise); });
    },
  };
}

} // namespace ahpd::hub
