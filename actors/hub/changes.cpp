#include "actors/hub/changes.hpp"

#include "actors/core/errors.hpp"
#include "actors/hub/changes_kept.hpp"
#include "actors/hub/sessions.hpp"
#include "actors/hub/store_actor.hpp"
#include "protocol/ahp/actions.hpp"
#include "protocol/ahp/changesets.hpp"
#include "protocol/ahp/codes.hpp"

#include <caf/all.hpp>

#include <functional>

namespace ahpd::hub {

namespace {

using self_ptr = caf::stateful_actor<changes_state>*;
using doc_ptr = std::shared_ptr<core::channel>;

/// Channels that are kept when nobody follows them, for clients that come back.
constexpr std::size_t idle_channels = 32;

std::string uri_of(const changes_state& st, const std::string& scope) {
  return ahp::changeset_uri_of(st.start.session_uri, scope);
}

void publish(self_ptr self, const doc_ptr& doc, json::value action) {
  auto& st = self->state;
  st.host->order->publish(*doc, std::move(action));
  ++st.host->metrics.actions_total;
}

/// A changeset that lists as much as it can says so, and no other one does.
void show_status(self_ptr self, const doc_ptr& doc) {
  const auto& files = doc->state.at("files").get_array();
  const bool full = files.size() >= ahp::most_changed_files;
  if (full == (doc->state.at("status") == json::value("error")))
    return;
  const auto right = ahp::changeset_state(files);
  json::object action{{"type", "changeset/statusChanged"}, {"status", right.at("status")}};
  if (const auto* error = json::member(right, "error"))
    action["error"] = *error;
  publish(self, doc, std::move(action));
}

/// Old channels that nobody follows leave memory; the store has what they show.
void drop_idle(self_ptr self, const std::string& but) {
  auto& st = self->state;
  for (auto i = st.docs.begin(); i != st.docs.end() && st.docs.size() > idle_channels;) {
    if (i->first == but || st.host->order->followers(*i->second) > 0) {
      ++i;
      continue;
    }
    st.host->channels.remove(i->second->uri);
    i = st.docs.erase(i);
  }
}

doc_ptr claim(self_ptr self, const std::string& scope, const json::value& kept) {
  auto& st = self->state;
  auto doc = st.host->channels.claim(uri_of(st, scope), ahp::channel_kind::changeset,
                                     caf::actor_cast<caf::actor>(self), kept);
  st.docs[scope] = doc;
  // A predecessor may have crashed before it published what it had written.
  if (doc->state.at("files") != kept.at("files"))
    publish(self, doc, {{"type", "changeset/contentChanged"}, {"files", kept.at("files")}});
  show_status(self, doc);
  drop_idle(self, scope);
  return doc;
}

/// Runs `then` with a changeset's channel, read from the store when it is not there yet.
void with_doc(self_ptr self, const std::string& scope, std::function<void(const doc_ptr&)> then) {
  auto& st = self->state;
  if (const auto i = st.docs.find(scope); i != st.docs.end())
    return then(i->second);
  auto kept = std::make_shared<json::value>();
  after_commit(
    self, st.host->store->get(),
    [kept, scope, id = st.start.session_id](config::store& db) {
      *kept = load_changeset(db, id, scope);
    },
    [self, kept, scope, then = std::move(then)] { then(claim(self, scope, *kept)); });
}

void on_recorded(self_ptr self, recorded_edit& what) {
  auto& st = self->state;
  if (what.actions.empty())
    return;
  for (auto& [scope, action] : what.actions) {
    const auto i = st.docs.find(scope);
    if (i == st.docs.end())
      continue;
    publish(self, i->second, std::move(action));
    show_status(self, i->second);
  }
  self->send(st.start.session,
             changes_counted{std::make_shared<const json::value>(std::move(what.summary))});
}

void take_edit(self_ptr self, const file_edited& what, caf::response_promise promise) {
  auto& st = self->state;
  auto folders = st.start.folders;
  folders.push_back(what.folder);
  auto edit =
    std::make_shared<const std::optional<ahp::file_edit>>(ahp::inside(*what.what, folders));
  if (!*edit)
    return promise.deliver(caf::unit);
  auto done = std::make_shared<recorded_edit>();
  after_commit(
    self, st.host->store->get(),
    [done, edit, id = st.start.session_id, scope = ahp::turn_scope(what.turn_id)](
      config::store& db) { *done = record_edit(db, id, scope, **edit); },
    [self, done, promise]() mutable {
      on_recorded(self, *done);
      promise.deliver(caf::unit);
    });
}

void review(self_ptr self, const std::string& scope, const doc_ptr& doc,
            const core::client_action& a) {
  auto& st = self->state;
  const auto why =
    ahp::refuse_action(ahp::channel_kind::changeset, doc->state, *a.action, a.origin.client_id);
  if (why) {
    ++st.host->metrics.refused_actions_total;
    return st.host->order->refuse(*a.action, a.origin, *why);
  }
  const auto announce = [self, doc, a] {
    self->state.host->order->announce(*doc, *a.action, a.origin);
    ++self->state.host->metrics.actions_total;
  };
  if (!ahp::reduce(ahp::channel_kind::changeset, doc->state, *a.action))
    return announce(); // its sender waits for the echo all the same
  after_commit(
    self, st.host->store->get(),
    [id = st.start.session_id, scope, action = a.action](config::store& db) {
      record_review(db, id, scope, *action);
    },
    announce);
}

/// Goes on with the channels of a predecessor.
void take_over(self_ptr self) {
  auto& st = self->state;
  for (const auto& uri : st.host->channels.of_kind(ahp::channel_kind::changeset))
    if (const auto name = ahp::parse_changeset_uri(uri);
        name && name->session == st.start.session_uri)
      with_doc(self, name->scope, [](const doc_ptr&) {});
}

} // namespace

caf::error no_changeset(const std::string& uri) {
  return core::refusal(ahp::session_not_found, "No changeset at " + uri);
}

caf::behavior changes_actor(caf::stateful_actor<changes_state>* self, services_ptr host,
                            changes_start start) {
  auto& st = self->state;
  st.host = std::move(host);
  st.start = std::move(start);
  self->monitor(st.start.session);
  self->set_down_handler([self](caf::down_msg& msg) { self->quit(std::move(msg.reason)); });
  // Only a session that is disposed ends them so: else a successor goes on with the channels.
  self->set_exit_handler([self](caf::exit_msg& msg) {
    auto& now = self->state;
    if (msg.reason == caf::exit_reason::user_shutdown)
      for (const auto& [scope, doc] : now.docs)
        now.host->channels.remove(doc->uri);
    self->quit(std::move(msg.reason));
  });
  take_over(self);
  // Runs `work` with the changeset that a URI names, and its scope.
  const auto at = [self](const std::string& uri, caf::response_promise promise, auto work) {
    const auto name = ahp::parse_changeset_uri(uri);
    if (!name)
      return promise.deliver(no_changeset(uri));
    with_doc(self, name->scope,
             [promise, work](const doc_ptr& doc) mutable { promise.deliver(work(doc)); });
  };
  return {
    [self, at](const find_changeset& what) {
      auto promise = self->make_response_promise();
      at(what.uri, promise, [self](const doc_ptr& doc) {
        return opened{caf::actor_cast<caf::actor>(self), doc->uri};
      });
      return promise;
    },
    [self, at](const core::follow& f) {
      auto promise = self->make_response_promise();
      at(f.spelling, promise,
         [self, f](const doc_ptr& doc) { return self->state.host->order->follow(*doc, f); });
      return promise;
    },
    [self](const core::unfollow& u) {
      auto& now = self->state;
      const auto name = ahp::parse_changeset_uri(u.spelling);
      const auto i = name ? now.docs.find(name->scope) : now.docs.end();
      if (i != now.docs.end())
        now.host->order->unfollow(*i->second, *u.box);
    },
    [self](const core::client_action& a) {
      if (const auto name = ahp::parse_changeset_uri(a.origin.spelling))
        with_doc(self, name->scope, [self, a, scope = name->scope](const doc_ptr& doc) {
          review(self, scope, doc, a);
        });
    },
    [self](const file_edited& what) {
      auto promise = self->make_response_promise();
      take_edit(self, what, promise);
      return promise;
    },
    [self](const invoke_operation& what) {
      return self->delegate(self->state.start.session, what);
    },
  };
}

} // namespace ahpd::hub
