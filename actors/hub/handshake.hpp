#pragma once

#include "actors/hub/call.hpp"

#include <string>

namespace ahpd::hub {

constexpr std::size_t most_subscriptions = 1'000; ///< of one connection

/// Answers `initialize`: the version, who the host is, and a snapshot of each initial subscription.
void initialize(const call& c);

/// Answers `reconnect`: what the client missed, or snapshots when that is not all there any more.
void reconnect(const call& c);

/// Follows a channel of telemetry, which has no snapshot: only what comes later is told.
void follow_telemetry(connection_ptr self, const std::string& uri,
                      const ahp::telemetry_channel& what);

/// A Snapshot (AHP "Subscriptions") as JSON text, as this connection has it. The state is used up.
std::string snapshot_text(const connection_state& st, const std::string& uri,
                          const core::followed& shot);

} // namespace ahpd::hub
