#include "actors/hub/metrics_exporter.hpp"

#include <caf/all.hpp>

namespace ahpd::hub {

namespace {

using due_atom = caf::atom_constant<caf::atom("due")>;

void export_them(caf::stateful_actor<metrics_exporter_state>* self) {
  auto& st = self->state;
  if (!st.host->telemetry.followed(ahp::signal::metrics))
    return;
  st.host->telemetry.export_metrics();
  if (!std::exchange(st.due, true))
    self->delayed_send(self, st.host->metrics_interval, due_atom::value);
}

} // namespace

caf::behavior metrics_exporter(caf::stateful_actor<metrics_exporter_state>* self,
                               services_ptr host) {
  self->state.host = std::move(host);
  export_them(self); // a predecessor's followers are still there
  return {
    [self](metrics_wanted) { export_them(self); },
    [self](due_atom) {
      self->state.due = false;
      export_them(self);
    },
  };
}

} // namespace ahpd::hub
