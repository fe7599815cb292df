#pragma once

#include "protocol/json.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// OpenTelemetry's export requests in JSON, as AHP channels carry them (AHP "Resource watch,
/// telemetry"). Shapes are those of opentelemetry-proto 1.x in its JSON mapping: member names in
/// camelCase, enums as numbers, 64-bit integers as strings, trace and span ids as hex. Times are
/// Unix nanoseconds.
namespace ahpd::otlp {

/// The lowest number of each band of OpenTelemetry's severities.
enum class severity { trace = 1, debug = 5, info = 9, warn = 13, error = 17, fatal = 21 };

/// The severity of a short name in any case, or nothing.
std::optional<severity> severity_named(std::string_view name);

/// Attributes: text by key.
using attributes = std::vector<std::pair<std::string, std::string>>;

/// Who the telemetry is from.
struct resource {
  std::string service_version;
  std::string service_instance; ///< `service.instance.id`
  std::string host_name;
};

struct log_record {
  std::int64_t time_ns = 0;
  otlp::severity severity = severity::info;
  std::string body;
  otlp::attributes attributes;
};

/// One number that is counted or measured.
struct metric {
  std::string_view name;
  std::string_view description;
  bool counter = false; ///< a sum that only grows since `start_ns`; else a gauge
  std::int64_t value = 0;
};

struct span {
  std::string name;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  otlp::attributes attributes;
  bool failed = false;
};

/// ExportLogsServiceRequest of one record.
json::value logs_request(const resource& from, const log_record& record);

/// ExportMetricsServiceRequest of integers that were all read at `time_ns`.
json::value metrics_request(const resource& from, const std::vector<metric>& metrics,
                            std::int64_t start_ns, std::int64_t time_ns);

/// ExportTraceServiceRequest of one span, of kind SERVER, under ids of 16 and 8 random bytes in
/// hex.
json::value traces_request(const resource& from, const span& what, std::string_view trace_id,
                           std::string_view span_id);

} // namespace ahpd::otlp
