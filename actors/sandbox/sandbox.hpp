#pragma once

#include "actors/sandbox/services.hpp"

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace ahpd::sandbox {

/// Starts the tree; its children have their addresses when this returns. Told to end with
/// `user_shutdown`, it ends them, and with them all that they started.
caf::actor start_sandbox(caf::actor_system& system, const services_ptr& host);

} // namespace ahpd::sandbox
