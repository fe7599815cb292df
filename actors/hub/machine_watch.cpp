#include "actors/hub/machine_watch.hpp"

#include "actors/core/log.hpp"
#include "actors/core/run_here.hpp"
#include "actors/hub/store_actor.hpp"
#include "protocol/ahp/builders.hpp"

#include <caf/all.hpp>

#include <utility>

namespace ahpd::hub {

namespace {

using self_ptr = caf::stateful_actor<machines_state>*;
using runtimes::machine_record;
namespace build = ahp::build;

runtimes::runtime& docker_of(self_ptr self) {
  return *self->state.host->computers->docker;
}

const json::array& rows(const machines_state& st) {
  return st.doc->state.at("records").get_array();
}

json::value shown(const machine_record& r) {
  json::object record;
  if (!r.state.empty())
    record["state"] = r.state;
  record["status"] = *r.status;
  return record;
}

const json::value* listed(const machines_state& st, const std::string& id) {
  for (const auto& row : rows(st))
    if (json::string_member(row, "id") == id)
      return &row;
  return nullptr;
}

void publish(self_ptr self, json::value action) {
  auto& st = self->state;
  st.host->order->publish(*st.doc, std::move(action));
  ++st.host->metrics.actions_total;
  st.host->metrics.machines = static_cast<std::int64_t>(rows(st).size());
}

void forget_run(self_ptr self, const std::string& marker) {
  write_later(self, self->state.host->store->get(),
              [marker](config::store& db) { db.remove_run(marker); });
}

/// Kills what an earlier hub, or a lost agent, left running in a machine that can be asked now.
void sweep(self_ptr self, const std::string& id) {
  auto& st = self->state;
  std::vector<std::string> markers;
  for (auto [i, end] = st.to_sweep.equal_range(id); i != end; ++i)
    markers.push_back(i->second);
  if (markers.empty())
    return;
  st.to_sweep.erase(id);
  const auto again = [self, id](const std::vector<std::string>& left, const std::string& why) {
    core::log::warning("could not sweep a machine", {{"computer", id}, {"why", why}});
    for (const auto& marker : left)
      self->state.to_sweep.emplace(id, marker);
  };
  auto report = core::back_to<std::pair<std::size_t, std::string>>(
    self, [self, id, markers, again](const std::pair<std::size_t, std::string>& got) {
      if (!got.second.empty())
        return again(markers, got.second);
      core::log::info("swept a machine", {{"computer", id}, {"killed", std::to_string(got.first)}});
      for (const auto& marker : markers)
        forget_run(self, marker);
    });
  docker_of(self).inside(id)->sweep(markers, [report](std::size_t killed, std::string why) {
    report({killed, std::move(why)});
  });
}

void show(self_ptr self, const machine_record& r) {
  auto& st = self->state;
  auto record = shown(r);
  const auto* before = listed(st, r.id);
  if (!before && st.making.count(r.id))
    return; // shown when it is made: a make that fails leaves nothing, and starts with a stopped
            // one
  if (!before)
    publish(self, build::computer_added(r.id, std::move(record)));
  else if (before->at("record") != record)
    publish(self, build::computer_changed(r.id, std::move(record)));
  if (r.state == "running")
    sweep(self, r.id);
}

/// The machine is gone, whoever removed it, and with it all that ran in it.
void show_gone(self_ptr self, const std::string& id) {
  auto& st = self->state;
  for (auto [i, end] = st.to_sweep.equal_range(id); i != end; ++i)
    forget_run(self, i->second);
  st.to_sweep.erase(id);
  if (listed(st, id))
    publish(self, build::computer_removed(id));
  write_later(self, st.host->store->get(), [id](config::store& db) { db.remove_machine(id); });
}

/// Shows a listing. What was read by itself meanwhile is newer than the listing's word of it.
void show_all(self_ptr self, const std::vector<machine_record>& listing) {
  auto& st = self->state;
  std::set<std::string> there;
  for (const auto& record : listing) {
    there.insert(record.id);
    if (!st.looked.count(record.id))
      show(self, record);
  }
  std::set<std::string> gone;
  for (const auto& row : rows(st))
    gone.emplace(row.at("id").get_string());
  for (const auto& run : st.to_sweep)
    gone.insert(run.first);
  for (const auto& id : gone)
    if (!there.count(id) && !st.looked.count(id))
      show_gone(self, id);
}

void list(self_ptr self) {
  auto& st = self->state;
  st.listing = true;
  st.looked.clear();
  docker_of(self).list(core::back_to<runtimes::outcome<std::vector<machine_record>>>(
    self, [self, told = std::exchange(st.after_listing, {})](auto outcome) {
      auto& now = self->state;
      now.listing = false;
      if (const auto* why = std::get_if<runtimes::refusal>(&outcome))
        core::log::warning("Could not list the docker machines, so the " +
                           std::to_string(rows(now).size()) +
                           " it last listed are kept: " + why->sentence);
      else
        show_all(self, std::get<0>(outcome));
      for (const auto& tell : told)
        tell();
      if (!now.after_listing.empty())
        list(self);
    }));
}

} // namespace

void look(self_ptr self, const std::string& id) {
  auto& st = self->state;
  if (!st.looking.insert(id).second) {
    st.look_again.insert(id);
    return;
  }
  docker_of(self).inspect(
    id, core::back_to<runtimes::outcome<machine_record>>(self, [self, id](auto outcome) {
      auto& now = self->state;
      now.looking.erase(id);
      if (now.listing)
        now.looked.insert(id);
      if (const auto* record = std::get_if<machine_record>(&outcome))
        show(self, *record);
      else if (std::get<runtimes::refusal>(outcome).what == runtimes::fault::not_there)
        show_gone(self, id);
      if (now.look_again.erase(id))
        look(self, id);
    }));
}

void look_at_all(self_ptr self, std::function<void()> then) {
  auto& st = self->state;
  st.after_listing.push_back(std::move(then));
  if (!st.listing)
    list(self);
}

void watch(self_ptr self) {
  docker_of(self).watch(
    core::back_to<runtimes::machine_event>(self,
                                           [self](const auto& event) { look(self, event.id); }),
    [gap = core::back_to<bool>(self, [self](bool) { look_at_all(self, [] {}); })] { gap(true); },
    [](const std::string& why) {
      core::log::warning("docker events lost", {{"why", why}});
    });
}

} // namespace ahpd::hub
