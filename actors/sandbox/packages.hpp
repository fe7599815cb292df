#pragma once

#include "actors/sandbox/call.hpp"

#include <caf/fwd.hpp>

namespace ahpd::sandbox {

enum class package_language : std::uint8_t { python, nodejs };

/// Answers with the packages that are installed for a language, as the language's own tool lists
/// them: 503 when the tool is not there.
void answer_packages(caf::actor_system& system, const call_ptr& what, package_language of);

} // namespace ahpd::sandbox
