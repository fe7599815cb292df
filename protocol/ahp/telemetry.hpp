#pragma once

#include "protocol/json.hpp"
#include "protocol/otlp/payloads.hpp"

#include <optional>
#include <string>
#include <string_view>

/// The channels of this host's telemetry (AHP "Resource watch, telemetry"): they hold no state.
namespace ahpd::ahp {

enum class signal { logs, traces, metrics };

struct telemetry_channel {
  ahp::signal signal = signal::logs;
  otlp::severity from = otlp::severity::trace; ///< of logs: the lowest that is told
};

/// Whether `uri` has the scheme of telemetry channels.
bool is_telemetry(std::string_view uri);

/// Which channel `uri` names, or nothing when this host has none by it.
std::optional<telemetry_channel> find_telemetry(std::string_view uri);

/// The sentence for a telemetry URI that `find_telemetry` does not know.
std::string unknown_telemetry(std::string_view uri);

/// `telemetry` of the `initialize` result: the URIs that `find_telemetry` knows.
json::object telemetry_capabilities();

/// The notification that a channel carries: "otlp/exportLogs" and so on.
std::string_view export_method(signal what);

} // namespace ahpd::ahp
