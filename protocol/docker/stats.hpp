#pragma once

#include "protocol/json.hpp"

#include <optional>

namespace ahpd::docker {

/// What a running container uses, made of one answer of `GET /containers/<id>/stats?stream=false`,
/// with the sums that `docker stats` shows: `running`, `cpu`, `memory`, `pids`, `network` and
/// `block`. `cores` is the container's own limit. A group that cannot be read is left out; without
/// readable memory, as of a container that just ended, there is nothing.
std::optional<json::object> usage(const json::value& stats, std::optional<double> cores);

} // namespace ahpd::docker
