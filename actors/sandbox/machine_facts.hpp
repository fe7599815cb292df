#pragma once

#include "actors/sandbox/services.hpp"
#include "protocol/json.hpp"

namespace ahpd::sandbox {

/// `data` of GET /v2/sandbox. Reads files: for the pool.
json::object machine_facts(const services& host, const json::object& capabilities);

/// The members that GET /v1/sandbox has beside its envelope, from the above; `data` is a summary.
json::object machine_facts_v1(const services& host, const json::object& facts);

} // namespace ahpd::sandbox
