#pragma once

#include "actors/hub/services.hpp"
#include "config/store.hpp"
#include "protocol/transport/websocket.hpp"

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ahpd::hub {

/// Starts the hub's tree: store, catalogue, exporter, machines, terminals, sessions, under one
/// supervisor, which is given back; returns when the tree serves, so not on an io thread. What an
/// earlier hub left running (`left`) is swept. The tree ends when the supervisor is told to, or by
/// itself when the store fails or an actor crashes again and again.
caf::actor start_hub(caf::actor_system& system, const services_ptr& host,
                     std::shared_ptr<config::store> database, std::vector<config::run_row> left);

/// A new connection on an open socket: what the socket is to tell.
transport::websocket_events connect(caf::actor_system& system, const services_ptr& host,
                                    const std::shared_ptr<transport::websocket>& socket);

/// Asks the store whether it still writes, bounded in time; for GET /ready.
void check_ready(caf::actor_system& system, const services_ptr& host,
                 std::function<void(bool, std::string)> done);

/// The numbers of actions: goes on above what an earlier hub may have used (design: "A frame's
/// way").
std::shared_ptr<core::sequencer> open_sequence(config::store& db, const services_ptr& host);

} // namespace ahpd::hub
