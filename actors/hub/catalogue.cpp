#include "actors/hub/catalogue.hpp"

#include "actors/hub/methods.hpp"
#include "actors/hub/root_config.hpp"
#include "protocol/ahp/actions.hpp"
#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/uris.hpp"

#include <caf/all.hpp>

namespace ahpd::hub {

json::value agent_info(const engine& what) {
  return {{"provider", what.provider},
          {"displayName", what.display_name},
          {"description", what.description},
          {"models", json::array{}},
          {"capabilities", {{"multipleChats", json::object{}}}}};
}

json::object host_meta(const services& host) {
  json::object meta;
  if (host.computers)
    meta["ahpd.resourceProviders"] =
      json::object{{"computer",
                    {{"title", "Computer"},
                     {"description", "A machine a session can run in."},
                     {"root", "computer://"},
                     {"operations", {"get", "list", "resolve", "put", "delete"}},
                     {"manifest", runtimes::create_schema(host.computers->options)}}}};
  meta["ahpd.grants"] = grants_document(host.computers.has_value());
  return meta;
}

caf::behavior catalogue_actor(caf::stateful_actor<catalogue_state>* self, services_ptr host) {
  auto& st = self->state;
  st.host = std::move(host);
  json::array agents;
  for (const auto& e : st.host->engines)
    agents.push_back(agent_info(e));
  st.doc = st.host->channels.claim(
    std::string(ahp::root_uri), ahp::channel_kind::root, caf::actor_cast<caf::actor>(self),
    json::object{{"agents", std::move(agents)},
                 {"activeSessions", 0},
                 {"terminals", json::array{}},
                 {"config", {{"schema", root_config_schema(*st.host)}, {"values", json::object{}}}},
                 {"_meta", host_meta(*st.host)}});
  return {
    [](const core::are_you_up&) { return caf::unit; },
    [self](const core::client_action& a) {
      auto& now = self->state;
      const auto why =
        ahp::refuse_action(ahp::channel_kind::root, now.doc->state, *a.action, a.origin.client_id);
      if (why)
        return now.host->order->refuse(*a.action, a.origin, *why);
      // The one action that clients may dispatch here is root/configChanged, which their connection
      // has taken: it is news for the sender, and the document stays as it is.
      auto own = a.origin;
      own.alone = true;
      now.host->order->announce(*now.doc, *a.action, own);
    },
    [self](const core::follow& f) { return self->state.host->order->follow(*self->state.doc, f); },
    [self](const core::unfollow& u) {
      self->state.host->order->unfollow(*self->state.doc, *u.box);
    },
    [self](const session_added& what) {
      auto& now = self->state;
      now.host->order->notify(*now.doc, "root/sessionAdded",
                              {{"channel", ahp::root_uri}, {"summary", *what.summary}});
    },
    [self](const session_removed& what) {
      auto& now = self->state;
      now.host->order->notify(*now.doc, "root/sessionRemoved",
                              {{"channel", ahp::root_uri}, {"session", what.uri}});
    },
    [self](const session_summary_changed& what) {
      auto& now = self->state;
      now.host->order->notify(
        *now.doc, "root/sessionSummaryChanged",
        {{"channel", ahp::root_uri}, {"session", what.uri}, {"changes", *what.changes}});
    },
    [self](const open_sessions& what) {
      auto& now = self->state;
      now.host->metrics.sessions = what.count;
      now.host->order->publish(*now.doc, ahp::build::active_sessions_changed(what.count));
    },
    [self](const listed_terminals& what) {
      auto& now = self->state;
      if (now.doc->state.at("terminals") != *what.infos)
        now.host->order->publish(*now.doc, ahp::build::terminals_changed(*what.infos));
      return caf::unit;
    },
  };
}

} // namespace ahpd::hub
