#include "actors/hub/session_changes.hpp"

#include "actors/core/errors.hpp"
#include "actors/core/log.hpp"
#include "protocol/ahp/changesets.hpp"
#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/file_uri.hpp"
#include "protocol/ahp/find.hpp"
#include "protocol/ahp/status.hpp"

#include <caf/all.hpp>

namespace ahpd::hub {

namespace {

std::vector<std::string> changeset_channels(const session_state& st) {
  auto all = st.host->channels.of_kind(ahp::channel_kind::changeset);
  std::erase_if(all, [&](const auto& uri) {
    const auto name = ahp::parse_changeset_uri(uri);
    return !name || name->session != st.row.uri;
  });
  return all;
}

} // namespace

bool has_changesets(const services& host, const json::object& state) {
  const auto* provider = state.if_contains("provider");
  const auto* engine =
    provider && provider->is_string() ? host.find_engine(provider->get_string().c_str()) : nullptr;
  return !engine || engine->tells_edits;
}

const caf::actor& changesets(session_ptr self) {
  auto& st = self->state;
  if (st.changesets)
    return st.changesets;
  changes_start start{st.row.id, st.row.uri, {}, caf::actor_cast<caf::actor>(self)};
  // Folders of this host are not those of a machine, where only the turn's is known.
  const auto* folders = json::member(st.doc->state, "workingDirectories");
  if (folders && place_of(st.doc->state, {}).machine.empty())
    for (const auto& folder : folders->get_array())
      if (auto path = ahp::file_path(std::string(folder.get_string())))
        start.folders.push_back(std::move(*path));
  st.changesets = self->system().spawn(changes_actor, st.host, std::move(start));
  self->monitor(st.changesets);
  return st.changesets;
}

void take_over_changesets(session_ptr self) {
  if (!changeset_channels(self->state).empty())
    changesets(self);
}

void revive_changesets(session_ptr self, const caf::error& reason) {
  auto& st = self->state;
  core::log::error("changesets crashed",
                   {{"session", st.row.id}, {"reason", self->system().render(reason)}});
  st.changesets = nullptr;
  take_over_changesets(self);
}

void end_changesets(session_ptr self) {
  auto& st = self->state;
  if (!st.changesets)
    return;
  self->demonitor(st.changesets.address());
  self->send_exit(st.changesets, caf::exit_reason::user_shutdown);
}

caf::error refuse_operation(const session_state& st, const invoke_operation& what) {
  for (const auto& chat : st.doc->state.at("chats").get_array()) {
    const auto status = ahp::integer_member(chat, "status").value_or(0);
    if ((status & ahp::status::in_progress) != 0)
      return core::refusal(ahp::turn_in_progress, st.row.uri + " is mid-turn");
  }
  return core::refusal(jsonrpc::invalid_params,
                       "No operation called " + what.operation + " on " + what.changeset);
}

} // namespace ahpd::hub
