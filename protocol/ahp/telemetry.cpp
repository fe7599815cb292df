#include "protocol/ahp/telemetry.hpp"

namespace ahpd::ahp {

namespace {

constexpr std::string_view scheme = "ahp-otlp:";
constexpr std::string_view logs_prefix = "ahp-otlp:/logs/";
constexpr std::string_view logs_template = "ahp-otlp:/logs/{level}";
constexpr std::string_view traces = "ahp-otlp:/traces";
constexpr std::string_view metrics = "ahp-otlp:/metrics";

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

} // namespace

bool is_telemetry(std::string_view uri) {
  return starts_with(uri, scheme);
}

std::optional<telemetry_channel> find_telemetry(std::string_view uri) {
  if (uri == traces)
    return telemetry_channel{signal::traces};
  if (uri == metrics)
    return telemetry_channel{signal::metrics};
  if (!starts_with(uri, logs_prefix))
    return std::nullopt;
  const auto from = otlp::severity_named(uri.substr(logs_prefix.size()));
  if (!from)
    return std::nullopt;
  return telemetry_channel{signal::logs, *from};
}

std::string unknown_telemetry(std::string_view uri) {
  return "There is no channel " + std::string(uri) + "; telemetry has " + std::string(traces) +
         ", " + std::string(metrics) + " and " + std::string(logs_template) +
         ", where level is trace, debug, info, warn, error or fatal";
}

json::object telemetry_capabilities() {
  return {{"logs", logs_template}, {"traces", traces}, {"metrics", metrics}};
}

std::string_view export_method(signal what) {
  switch (what) {
  case signal::logs:
    return "otlp/exportLogs";
  case signal::traces:
    return "otlp/exportTraces";
  case signal::metrics:
    return "otlp/exportMetrics";
  }
  return {};
}

} // namespace ahpd::ahp
