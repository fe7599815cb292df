#pragma once

#include "actors/hub/services.hpp"

#include <caf/behavior.hpp>
#include <caf/stateful_actor.hpp>

namespace ahpd::hub {

/// Somebody follows the metrics from now on. No answer.
struct metrics_wanted {};

struct metrics_exporter_state {
  static inline const char* name = "metrics exporter";
  services_ptr host;
  bool due = false; ///< a timer runs
};

/// Exports the metrics to who follows them (AHP "Resource watch, telemetry"): at once when one
/// comes, then every `services::metrics_interval`. Nobody there, no timer runs.
caf::behavior metrics_exporter(caf::stateful_actor<metrics_exporter_state>* self,
                               services_ptr host);

} // namespace ahpd::hub

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::metrics_wanted)
