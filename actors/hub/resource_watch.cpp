#include "actors/hub/resource_watch.hpp"

#include "actors/core/errors.hpp"
#include "actors/core/parent.hpp"
#include "actors/core/run_here.hpp"
#include "actors/hub/file_scheme.hpp"
#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/file_uri.hpp"
#include "protocol/random.hpp"

#include <caf/all.hpp>

namespace ahpd::hub {

namespace {

using self_ptr = caf::stateful_actor<resource_watch_state>*;
using handle = runtimes::file_watcher::handle;

std::string_view type_of(runtimes::file_change::kind what) {
  switch (what) {
  case runtimes::file_change::kind::added:
    return "added";
  case runtimes::file_change::kind::updated:
    return "updated";
  case runtimes::file_change::kind::deleted:
    return "deleted";
  }
  return "";
}

void tell(self_ptr self, const runtimes::watch_report& report) {
  auto& st = self->state;
  if (!st.doc)
    return;
  json::array items;
  for (const auto& change : report.changes)
    items.push_back({{"uri", ahp::file_uri(change.path)}, {"type", type_of(change.what)}});
  json::object action{{"type", "resourceWatch/changed"}};
  if (report.lost) {
    // The protocol has no word for it: what is watched was changed, and all of it may be.
    items.push_back({{"uri", ahp::file_uri(st.watch->path)}, {"type", "updated"}});
    action["_meta"] = json::object{{"ahpd.overflow", true}};
  }
  action["changes"] = json::object{{"items", std::move(items)}};
  st.host->order->publish(*st.doc, std::move(action));
}

/// Says how it began to who asked. Nobody will ask again, so what does not watch ends.
void answer(self_ptr self) {
  auto& st = self->state;
  st.asked->deliver(watch_begun{*st.answer});
  if (!st.doc || st.creator_left)
    self->quit();
}

void begun(self_ptr self, runtimes::file_outcome<handle> outcome, json::object state) {
  auto& st = self->state;
  if (const auto* no = std::get_if<runtimes::file_refusal>(&outcome)) {
    st.answer = wire_error(*no, false);
  } else {
    st.watch = std::get<handle>(std::move(outcome));
    st.doc = st.host->channels.claim(st.uri, ahp::channel_kind::resource_watch,
                                     caf::actor_cast<caf::actor>(self), std::move(state));
    st.answer = json::serialize(json::object{{"channel", st.uri}});
  }
  if (st.asked)
    answer(self);
}

/// Ends behind what is in the mailbox already: who asks to follow by then hears that it is gone.
void end_if_left(self_ptr self) {
  auto& st = self->state;
  if (!st.doc || st.host->order->followers(*st.doc) > 0)
    return;
  st.host->channels.remove(st.uri);
  st.doc = nullptr;
  st.watch.reset();
  self->send(self, leave{});
}

} // namespace

resource_watch_state::~resource_watch_state() {
  if (doc)
    host->channels.remove(uri);
}

caf::behavior resource_watch_actor(caf::stateful_actor<resource_watch_state>* self,
                                   services_ptr host, runtimes::watch_request what,
                                   const json::object& params, const caf::actor& creator) {
  auto& st = self->state;
  st.host = std::move(host);
  st.uri = "ahp-resource-watch:/" + random_hex(16);
  json::object state{{"root", params.at("uri")}, {"recursive", what.recursive}};
  for (const char* key : {"excludes", "includes"})
    if (const auto* given = params.if_contains(key); given && given->is_object())
      state[key] = *given;
  core::watch_parent(self, creator);
  self->set_down_handler([self](const caf::down_msg&) {
    self->state.creator_left = true;
    end_if_left(self);
  });
  st.host->watcher->watch(
    std::move(what),
    core::back_to<runtimes::watch_report>(
      self, [self](const runtimes::watch_report& report) { tell(self, report); }),
    core::back_to<runtimes::file_outcome<handle>>(
      self, [self, state = std::move(state)](runtimes::file_outcome<handle> outcome) {
        begun(self, std::move(outcome), state);
      }));
  return {
    [self](await_watch) {
      auto& now = self->state;
      now.asked = self->make_response_promise();
      const auto promise = *now.asked;
      if (now.answer)
        answer(self);
      return promise;
    },
    [self](const core::client_action& a) {
      self->state.host->order->refuse(*a.action, a.origin, "only the host tells what changed");
    },
    [self](const core::follow& f) -> caf::result<core::followed> {
      const auto& now = self->state;
      if (!now.doc)
        return core::refusal(ahp::not_found, "There is no channel " + now.uri);
      return now.host->order->follow(*now.doc, f);
    },
    [self](const core::unfollow& u) {
      if (const auto& doc = self->state.doc)
        self->state.host->order->unfollow(*doc, *u.box);
      end_if_left(self);
    },
    [self](leave) { self->quit(); },
    core::take_run_here(),
  };
}

} // namespace ahpd::hub
