#pragma once

#include "config/store.hpp"

#include <vector>

namespace ahpd::hub {

/// Ends every turn that an earlier hub left running: it becomes a turn of state `error` whose last
/// part says why. Gives what that hub may have left behind, to be swept; those rows stay until it
/// was. One transaction; done before the first actor starts.
std::vector<config::run_row> end_cut_turns(config::store& db);

} // namespace ahpd::hub
