#include "actors/hub/session.hpp"

#include "actors/core/clock.hpp"
#include "actors/core/errors.hpp"
#include "actors/core/log.hpp"
#include "actors/core/parent.hpp"
#include "actors/hub/catalogue.hpp"
#include "actors/hub/changes_kept.hpp"
#include "actors/hub/session_changes.hpp"
#include "actors/hub/sessions.hpp"
#include "actors/hub/store_actor.hpp"
#include "actors/hub/terminals.hpp"
#include "protocol/ahp/actions.hpp"
#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/changesets.hpp"
#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/file_uri.hpp"
#include "protocol/ahp/time.hpp"
#include "protocol/ahp/uris.hpp"

#include <caf/all.hpp>

#include <algorithm>

namespace ahpd::hub {

namespace {

using self_ptr = caf::stateful_actor<session_state>*;
namespace build = ahp::build;

constexpr std::size_t turns_loaded = 200;
constexpr std::size_t most_chats = 100;   ///< in one session
constexpr std::size_t longest_title = 60; ///< bytes, of a title made from a message
constexpr std::string_view untitled = "New session";

/// A first line short enough for a list, cut at a character.
std::string title_from(const std::string& text) {
  auto line = text.substr(0, text.find('\n'));
  if (line.size() <= longest_title)
    return line;
  auto cut = longest_title;
  while (cut > 0 && (static_cast<unsigned char>(line[cut]) & 0xC0) == 0x80)
    --cut;
  return line.substr(0, cut) + "…";
}

/// In a row's state: a person gave the session its title.
constexpr std::string_view renamed_key = "ahpd.renamed";

config::session_row row_of(session_state& st) {
  auto row = st.row;
  json::object kept;
  for (const auto& [key, value] : st.doc->state.get_object())
    if (key != "chats" && key != "activeClients" && key != "inputNeeded" && key != "changesets")
      kept[key] = value;
  if (st.renamed)
    kept[renamed_key] = true;
  row.state = std::move(kept);
  return row;
}

void save(self_ptr self) {
  auto& st = self->state;
  write_later(self, st.host->store->get(),
              [row = row_of(st)](config::store& db) { db.put_session(row); });
}

void publish(self_ptr self, json::value action,
             const std::optional<core::action_origin>& origin = std::nullopt) {
  auto& st = self->state;
  st.host->order->publish(*st.doc, std::move(action), origin);
  ++st.host->metrics.actions_total;
}

json::value summary_of(const session_state& st) {
  auto summary = build::session_summary(st.row.uri, st.doc->state, st.row.created_ms);
  if (!st.changes.is_null())
    summary.as_object()["changes"] = st.changes;
  return summary;
}

/// Tells the catalogue what the session's row in a list shows now, when that changed.
void tell_summary(self_ptr self) {
  auto& st = self->state;
  auto now = summary_of(st);
  auto changes = build::summary_changes(st.summary, now);
  if (const auto at = json::string_member(now, "modifiedAt"))
    st.row.modified_ms = ahp::parse_iso8601(*at).value_or(st.row.modified_ms);
  st.summary = std::move(now);
  save(self);
  if (!changes.empty())
    self->send(
      st.host->catalogue->get(),
      session_summary_changed{st.row.uri, std::make_shared<const json::value>(std::move(changes))});
}

/// The values of the session's settings.
json::shared settings_of(const session_state& st) {
  const auto* config = json::member(st.doc->state, "config");
  const auto* values = config ? json::member(*config, "values") : nullptr;
  return std::make_shared<const json::value>(
    values && values->is_object() ? *values : json::value(json::object{}));
}

void tell_settings(self_ptr self) {
  const session_settings now{settings_of(self->state)};
  for (const auto& chat : self->state.chats)
    if (chat.actor)
      self->send(chat.actor, now);
}

/// After a change of the active clients.
void tell_tools(self_ptr self) {
  auto& st = self->state;
  auto now = tools_of(st.doc->state);
  if (*now == *st.tools)
    return;
  st.tools = std::move(now);
  for (const auto& chat : st.chats)
    if (chat.actor)
      self->send(chat.actor, session_tools{st.tools});
}

void on_client_left(self_ptr self, const std::string& client_id) {
  for (const auto& chat : self->state.chats)
    if (chat.actor)
      self->send(chat.actor, client_left{client_id});
  tell_tools(self);
}

/// What a chat's agent says of the session.
void on_step(self_ptr self, const session_step& step) {
  const auto type = json::string_member(*step.action, "type").value_or("");
  if (type == "session/titleChanged" && self->state.renamed)
    return;
  publish(self, *step.action);
  if (type == "session/configChanged")
    tell_settings(self);
  tell_summary(self);
}

void start_chat(self_ptr self, std::size_t i, const stored_chat& from) {
  auto& st = self->state;
  auto& chat = st.chats[i];
  json::value state = from.row.state;
  json::array turns;
  std::vector<std::int64_t> ordinals;
  for (const auto& turn : from.turns) {
    turns.push_back(turn.turn);
    ordinals.push_back(turn.ordinal);
  }
  auto& o = state.as_object();
  o["turns"] = std::move(turns);
  if (from.more)
    o["turnsNextCursor"] = "t" + std::to_string(ordinals.front());
  chat_start start{chat.uri,
                   st.row.id,
                   st.row.uri,
                   std::string(json::string_member(st.doc->state, "provider").value_or("")),
                   place_of(st.doc->state, st.host->default_directory),
                   settings_of(st),
                   st.tools,
                   chat.ordinal,
                   std::make_shared<const json::value>(std::move(state)),
                   std::move(ordinals),
                   caf::actor_cast<caf::actor>(self)};
  chat.actor = self->system().spawn(chat_actor, st.host, std::move(start));
  self->monitor(chat.actor);
}

stored_chat load_chat(config::store& db, config::chat_row row, std::size_t turns) {
  stored_chat chat{std::move(row), {}, false};
  chat.turns = db.turns_of(chat.row.uri, turns + 1);
  chat.more = chat.turns.size() > turns;
  if (chat.more)
    chat.turns.erase(chat.turns.begin());
  return chat;
}

/// A crashed chat comes back with the state its followers have; the store says which rows its turns
/// are.
void revive_chat(self_ptr self, std::size_t i, const caf::error& reason) {
  auto& st = self->state;
  const auto uri = st.chats[i].uri;
  core::log::error("chat crashed", {{"chat", uri}, {"reason", self->system().render(reason)}});
  const auto doc = st.host->channels.find(uri);
  const auto held = doc ? doc->state.at("turns").get_array().size() : turns_loaded;
  auto found = std::make_shared<std::optional<stored_chat>>();
  auto job = [found, uri, held, id = st.row.id](config::store& db) {
    for (auto& row : db.chats_of(id))
      if (row.uri == uri)
        *found = load_chat(db, std::move(row), held);
  };
  after_commit(self, st.host->store->get(), job, [self, found, i] {
    if (*found)
      start_chat(self, i, **found);
  });
}

void add_chat(self_ptr self, const create_chat& what, caf::response_promise promise) {
  auto& st = self->state;
  std::int64_t ordinal = 0;
  for (const auto& chat : st.chats)
    ordinal = std::max(ordinal, chat.ordinal + 1);
  const auto title = "Chat " + std::to_string(ordinal + 1);
  json::value state =
    build::chat_state(what.uri, title, core::now_ms(), json::object{{"kind", "user"}});
  config::chat_row row{what.uri, st.row.id, ordinal, state};
  row.state.as_object().erase("turns");
  // The chat of a session that is not open is known to the store alone.
  auto exists = std::make_shared<bool>(false);
  auto write = [row, exists](config::store& db) {
    *exists = db.session_of_chat(row.uri).has_value();
    if (!*exists)
      db.put_chat(row);
  };
  after_commit(
    self, st.host->store->get(), write, [self, what, row, state, promise, exists]() mutable {
      if (*exists)
        return promise.deliver(core::refusal(ahp::already_exists, what.uri + " already exists"));
      auto& now = self->state;
      now.chats.push_back({what.uri, row.ordinal, nullptr});
      start_chat(self, now.chats.size() - 1, {row, {}, false});
      publish(self, build::chat_added(build::chat_summary(state)));
      tell_summary(self);
      if (what.initial_message)
        self->send(now.chats.back().actor, first_message{what.initial_message});
      promise.deliver(caf::unit);
    });
}

void drop_chat(self_ptr self, const std::string& uri, caf::response_promise promise) {
  auto& st = self->state;
  const auto i =
    std::find_if(st.chats.begin(), st.chats.end(), [&](const auto& c) { return c.uri == uri; });
  if (i == st.chats.end())
    return promise.deliver(core::refusal(ahp::not_found, "There is no chat " + uri));
  self->demonitor(i->actor.address());
  self->send_exit(i->actor, caf::exit_reason::user_shutdown);
  st.chats.erase(i);
  after_commit(
    self, st.host->store->get(), [uri](config::store& db) { db.remove_chat(uri); },
    [self, uri, promise]() mutable {
      self->state.host->channels.remove(uri);
      publish(self, build::chat_removed(uri));
      tell_summary(self);
      promise.deliver(caf::unit);
    });
}

caf::result<opened> on_find_chat(self_ptr self, const find_chat& what) {
  // An editor computes a first chat's URI from its own spelling of the session's.
  const auto is_first = [id = self->state.row.id](const std::string& uri) {
    const auto session = ahp::session_of_default_chat(uri);
    return session && ahp::session_id(*session) == id;
  };
  for (const auto& chat : self->state.chats)
    if (chat.uri == what.uri || (is_first(what.uri) && is_first(chat.uri)))
      return opened{chat.actor, chat.uri};
  return core::refusal(ahp::not_found, "There is no chat " + what.uri);
}

void on_chat_changed(self_ptr self, const chat_changed& what) {
  auto& st = self->state;
  const json::value* before = nullptr;
  for (const auto& summary : st.doc->state.at("chats").get_array())
    if (json::string_member(summary, "resource") == what.chat)
      before = &summary;
  if (!before)
    return; // disposed meanwhile
  json::object changes;
  for (const auto& [key, value] : what.summary->get_object()) {
    const auto* old = json::member(*before, key);
    if (!old || *old != value)
      changes[key] = value;
  }
  if (!changes.empty())
    publish(self, build::chat_updated(what.chat, std::move(changes)));
  if (!what.first_text.empty() && json::string_member(st.doc->state, "title") == untitled)
    publish(self, build::title_changed(title_from(what.first_text)));
  tell_summary(self);
}

void on_client_action(self_ptr self, const core::client_action& a) {
  auto& st = self->state;
  auto why =
    ahp::refuse_action(ahp::channel_kind::session, st.doc->state, *a.action, a.origin.client_id);
  const auto type = json::string_member(*a.action, "type").value_or("");
  if (!why && type.substr(0, 24) == "session/workingDirectory")
    why = "this agent works in the folder its session was made with";
  if (why) {
    ++st.host->metrics.refused_actions_total;
    return st.host->order->refuse(*a.action, a.origin, *why);
  }
  if (type == "session/titleChanged")
    st.renamed = true;
  if (!ahp::reduce(ahp::channel_kind::session, st.doc->state, *a.action) ||
      type == "session/activeClientSet" || type == "session/activeClientRemoved") {
    st.host->order->announce(*st.doc, *a.action, a.origin);
    if (type == "session/activeClientRemoved")
      on_client_left(self, a.origin.client_id);
    else
      tell_tools(self);
    return;
  }
  after_commit(
    self, st.host->store->get(), [row = row_of(st)](config::store& db) { db.put_session(row); },
    [self, a] {
      auto& now = self->state;
      // Before the echo, so that a turn which follows it finds them.
      if (json::string_member(*a.action, "type") == "session/configChanged")
        tell_settings(self);
      now.host->order->announce(*now.doc, *a.action, a.origin);
      tell_summary(self);
    });
}

/// Who follows the session's channel on no connection is no active client of it any more (AHP
/// "Subscriptions").
void drop_if_gone(self_ptr self, const std::string& client_id) {
  auto& st = self->state;
  const auto& clients = st.doc->state.at("activeClients").get_array();
  const bool active = std::any_of(clients.begin(), clients.end(), [&](const auto& c) {
    return json::string_member(c, "clientId") == client_id;
  });
  if (!active || st.host->order->followed_by(*st.doc, client_id))
    return;
  publish(self, build::active_client_removed(client_id));
  on_client_left(self, client_id);
}

void on_unfollow(self_ptr self, const core::unfollow& u) {
  auto& st = self->state;
  st.host->order->unfollow(*st.doc, *u.box);
  if (u.lost)
    st.away[u.box->client_id()] =
      core::later(self->system(), st.host->return_grace, caf::actor_cast<caf::actor>(self),
                  client_settled{u.box->client_id()});
  else
    drop_if_gone(self, u.box->client_id());
}

void dispose(self_ptr self, caf::response_promise promise) {
  auto& st = self->state;
  for (auto& chat : st.chats) {
    self->demonitor(chat.actor.address());
    self->send_exit(chat.actor, caf::exit_reason::user_shutdown);
    st.host->channels.remove(chat.uri);
  }
  st.chats.clear();
  end_changesets(self);
  self->send(st.host->terminals->get(), close_session_terminals{st.row.uri});
  after_commit(
    self, st.host->store->get(), [id = st.row.id](config::store& db) { db.remove_session(id); },
    [self, promise]() mutable {
      auto& now = self->state;
      now.host->channels.remove(now.row.uri);
      self->send(now.host->catalogue->get(), session_removed{now.row.uri});
      promise.deliver(caf::unit);
      self->quit();
    });
}

} // namespace

session_place place_of(const json::value& state, const std::string& otherwise) {
  session_place where{{}, otherwise};
  if (const auto* config = json::member(state, "config"))
    if (const auto* values = json::member(*config, "values"))
      if (const auto uri =
            ahp::parse_computer_uri(json::string_member(*values, "computer").value_or("")))
        where.machine = uri->name;
  const auto* folders = json::member(state, "workingDirectories");
  if (folders && folders->is_array() && !folders->get_array().empty())
    if (const auto path = ahp::file_path(std::string(folders->get_array().front().get_string())))
      where.directory = *path;
  return where;
}

std::optional<session_start> load_session(config::store& db, const std::string& id) {
  auto row = db.find_session(id);
  if (!row)
    return std::nullopt;
  session_start start{std::move(*row), {}, changes_summary(db, id)};
  for (auto& chat : db.chats_of(id))
    start.chats.push_back(load_chat(db, std::move(chat), turns_loaded));
  return start;
}

caf::behavior session_actor(caf::stateful_actor<session_state>* self, services_ptr host,
                            session_start start, const caf::actor& parent) {
  auto& st = self->state;
  st.host = std::move(host);
  st.row = std::move(start.row);
  auto state = st.row.state.as_object();
  st.renamed = state.erase(renamed_key) > 0;
  st.changes = std::move(start.changes);
  if (has_changesets(*st.host, state))
    state["changesets"] = ahp::changeset_catalogue(st.row.uri);
  state["activeClients"] = json::array{};
  json::array chats;
  for (const auto& chat : start.chats)
    chats.push_back(build::chat_summary(chat.row.state));
  state["chats"] = std::move(chats);
  st.doc = st.host->channels.claim(st.row.uri, ahp::channel_kind::session,
                                   caf::actor_cast<caf::actor>(self), std::move(state));
  st.summary = summary_of(st);
  st.tools = tools_of(st.doc->state);
  for (const auto& chat : start.chats) {
    st.chats.push_back({chat.row.uri, chat.row.ordinal, nullptr});
    start_chat(self, st.chats.size() - 1, chat);
  }
  take_over_changesets(self);
  core::watch_parent(self, parent);
  self->set_down_handler([self, source = parent.address()](caf::down_msg& msg) {
    if (msg.source == source)
      return self->quit(std::move(msg.reason));
    if (self->state.changesets && msg.source == self->state.changesets.address())
      return revive_changesets(self, msg.reason);
    auto& all = self->state.chats;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].actor && all[i].actor.address() == msg.source)
        return revive_chat(self, i, msg.reason);
  });
  return {
    [self](const core::client_action& a) { on_client_action(self, a); },
    [self](const core::follow& f) { return self->state.host->order->follow(*self->state.doc, f); },
    [self](const core::unfollow& u) { on_unfollow(self, u); },
    [self](const client_settled& who) {
      self->state.away.erase(who.client_id);
      drop_if_gone(self, who.client_id);
    },
    [self](const join_session& who) {
      publish(self, {{"type", "session/activeClientSet"}, {"activeClient", *who.client}});
      tell_tools(self);
    },
    [self](const chat_changed& what) { on_chat_changed(self, what); },
    [self](const session_step& step) { on_step(self, step); },
    [self](const file_edited& what) { return self->delegate(changesets(self), what); },
    [self](const changes_counted& what) {
      self->state.changes = *what.summary;
      tell_summary(self);
    },
    [self](const find_changeset& what) {
      auto promise = self->make_response_promise();
      if (json::member(self->state.doc->state, "changesets"))
        promise.delegate(changesets(self), what);
      else
        promise.deliver(no_changeset(what.uri));
      return promise;
    },
    [self](const invoke_operation& what) { return refuse_operation(self->state, what); },
    [self](const find_chat& what) { return on_find_chat(self, what); },
    [self](const find_place&) {
      return place_of(self->state.doc->state, self->state.host->default_directory);
    },
    [self](const create_chat& what) {
      auto promise = self->make_response_promise();
      if (self->state.chats.size() >= most_chats)
        promise.deliver(
          core::refusal(jsonrpc::invalid_params, "A session holds " + std::to_string(most_chats) +
                                                   " chats, and this one would be one more"));
      else
        add_chat(self, what, promise);
      return promise;
    },
    [self](const dispose_chat& what) {
      auto promise = self->make_response_promise();
      drop_chat(self, what.uri, promise);
      return promise;
    },
    [self](dispose_session) {
      auto promise = self->make_response_promise();
      dispose(self, promise);
      return promise;
    },
  };
}

} // namespace ahpd::hub
