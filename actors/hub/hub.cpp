#include "actors/hub/hub.hpp"

#include "actors/core/errors.hpp"
#include "actors/core/log.hpp"
#include "actors/core/supervisor.hpp"
#include "actors/hub/catalogue.hpp"
#include "actors/hub/connection.hpp"
#include "actors/hub/machines.hpp"
#include "actors/hub/metrics_exporter.hpp"
#include "actors/hub/sessions.hpp"
#include "actors/hub/store_actor.hpp"
#include "actors/hub/terminals.hpp"

#include <caf/all.hpp>

#include <algorithm>

namespace ahpd::hub {

namespace {

constexpr std::chrono::seconds ready_limit{5};
const char* const sequence = "server_seq";

void sweep_host(const services_ptr& host, const std::vector<std::string>& markers) {
  host->this_host->sweep(markers, [host, markers](std::size_t killed, const std::string& why) {
    if (!why.empty())
      return core::log::warning("could not sweep this host", {{"why", why}});
    core::log::info("swept this host", {{"killed", std::to_string(killed)}});
    caf::anon_send(host->store->get(), make_store_job([markers](config::store& db) {
                     for (const auto& marker : markers)
                       db.remove_run(marker);
                   }));
  });
}

/// Blocks until the actor at an address answers, or the tree has ended meanwhile.
void wait_until_up(caf::scoped_actor& here, const caf::actor& root, const core::address& where) {
  // A child has its address once the supervisor has started it, which this request comes behind.
  here->request(root, caf::infinite, core::are_you_up{}).receive([] {}, [](const caf::error&) {});
  if (const auto child = where.get())
    here->request(child, caf::infinite, core::are_you_up{})
      .receive([] {}, [](const caf::error&) {});
}

void sweep(const services_ptr& host, const std::vector<config::run_row>& left) {
  std::vector<std::string> here;
  for (const auto& run : left)
    if (run.place.empty())
      here.push_back(run.marker);
    else
      caf::anon_send(host->machines->get(), sweep_machine{run.place, run.marker});
  if (!here.empty())
    sweep_host(host, here);
}

/// Kills what the terminals of a crashed keeper left behind. Theirs are the runs of no chat.
void sweep_terminals(const services_ptr& host) {
  caf::anon_send(host->store->get(), make_store_job([host](config::store& db) {
                   auto left = db.runs();
                   left.erase(std::remove_if(left.begin(), left.end(),
                                             [](const auto& run) { return !run.chat.empty(); }),
                              left.end());
                   sweep(host, left);
                 }));
}

} // namespace

std::shared_ptr<core::sequencer> open_sequence(config::store& db, const services_ptr& host) {
  const auto used = static_cast<std::uint64_t>(db.number(sequence, 0));
  const auto upto = used + core::sequencer::block;
  db.set_number(sequence, static_cast<std::int64_t>(upto));
  return std::make_shared<core::sequencer>(
    used, upto, [weak = std::weak_ptr<services>(host)](std::uint64_t next) {
      const auto services = weak.lock();
      if (!services)
        return;
      caf::anon_send(services->store->get(), make_store_job([next, weak](config::store& store) {
                       store.set_number(sequence, static_cast<std::int64_t>(next));
                       // Told inside the transaction: half a block is left until its commit.
                       if (const auto still = weak.lock())
                         still->order->reserved(next);
                     }));
    });
}

caf::actor start_hub(caf::actor_system& system, const services_ptr& host,
                     std::shared_ptr<config::store> database, std::vector<config::run_row> left) {
  host->telemetry.introduce({AHPD_VERSION, host->host_id, host->host_name});
  std::vector<core::child_spec> children;
  children.push_back({"store",
                      [host, database](caf::actor_system& s) {
                        return caf::actor_cast<caf::actor>(
                          s.spawn<caf::detached>(store_actor, database, &host->metrics));
                      },
                      host->store, true});
  children.push_back({"catalogue",
                      [host](caf::actor_system& s) {
                        return caf::actor_cast<caf::actor>(s.spawn(catalogue_actor, host));
                      },
                      host->catalogue});
  children.push_back({"metrics exporter",
                      [host](caf::actor_system& s) {
                        return caf::actor_cast<caf::actor>(s.spawn(metrics_exporter, host));
                      },
                      host->exporter});
  children.push_back({"machines",
                      [host](caf::actor_system& s) {
                        return caf::actor_cast<caf::actor>(s.spawn(machines_actor, host));
                      },
                      host->machines});
  children.push_back({"terminals",
                      [host, first = true](caf::actor_system& s) mutable {
                        if (!std::exchange(first, false))
                          sweep_terminals(host);
                        return caf::actor_cast<caf::actor>(s.spawn(terminals_actor, host));
                      },
                      host->terminals});
  children.push_back({"sessions",
                      [host, left = std::move(left), first = true](caf::actor_system& s) mutable {
                        auto actor = caf::actor_cast<caf::actor>(s.spawn(sessions_actor, host));
                        if (std::exchange(first, false))
                          sweep(host, left);
                        return actor;
                      },
                      host->sessions});
  auto root = system.spawn(core::supervisor, std::move(children), core::restart_policy{});
  caf::scoped_actor here(system);
  for (const auto& where : {host->catalogue, host->machines, host->terminals, host->sessions})
    wait_until_up(here, root, *where);
  return root;
}

transport::websocket_events connect(caf::actor_system& system, const services_ptr& host,
                                    const std::shared_ptr<transport::websocket>& socket) {
  const auto actor = caf::actor_cast<caf::actor>(system.spawn(connection_actor, host, socket));
  return {[actor](std::string text) {
            caf::anon_send(actor, frame_in{std::make_shared<const std::string>(std::move(text))});
          },
          {},
          [actor](const transport::close_reason& why) {
            caf::anon_send(actor, socket_closed{why.code});
          }};
}

void check_ready(caf::actor_system& system, const services_ptr& host,
                 std::function<void(bool, std::string)> done) {
  system.spawn([store = host->store->get(), done](caf::event_based_actor* self) {
    if (!store)
      return done(false, "starting");
    self
      ->request(store, ready_limit, make_store_job([](config::store& db) { db.count_sessions(); }))
      .then([done]() { done(true, "ready"); },
            [done](const caf::error& why) { done(false, core::to_wire(why).message); });
  });
}

} // namespace ahpd::hub
