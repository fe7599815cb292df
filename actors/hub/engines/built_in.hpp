#pragma once

#include "actors/hub/engine.hpp"

#include <vector>

namespace ahpd::hub {

/// The engines that come with the hub, the default one first.
std::vector<engine> built_in_engines();

/// `shell`: no model. A turn runs its message as a command, with `sh -c`, in the session's place
/// and folder, and shows it as one tool call with the true exit status.
engine shell_engine();

} // namespace ahpd::hub
