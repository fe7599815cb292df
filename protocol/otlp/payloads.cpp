#include "protocol/otlp/payloads.hpp"

#include <algorithm>
#include <array>

namespace ahpd::otlp {

namespace {

struct named_severity {
  std::string_view name;
  otlp::severity severity;
};
constexpr std::array severities{
  named_severity{"TRACE", severity::trace}, named_severity{"DEBUG", severity::debug},
  named_severity{"INFO", severity::info},   named_severity{"WARN", severity::warn},
  named_severity{"ERROR", severity::error}, named_severity{"FATAL", severity::fatal}};

constexpr std::string_view library = "ahpd";
constexpr int cumulative = 2; ///< AGGREGATION_TEMPORALITY_CUMULATIVE
constexpr int server = 2;     ///< SPAN_KIND_SERVER
constexpr int status_error = 2;

json::object attribute(std::string_view key, std::string_view text) {
  return {{"key", key}, {"value", {{"stringValue", text}}}};
}

json::array list_of(const attributes& all) {
  json::array out;
  for (const auto& [key, text] : all)
    out.push_back(attribute(key, text));
  return out;
}

json::object described(const resource& from) {
  return {{"attributes", json::array{attribute("service.name", library),
                                     attribute("service.version", from.service_version),
                                     attribute("service.instance.id", from.service_instance),
                                     attribute("host.name", from.host_name)}}};
}

/// One resource, one scope, and its items: the same nest for all three signals.
json::value request(const resource& from, std::string_view resources, std::string_view scopes,
                    std::string_view items, json::array list) {
  json::object scope{{"scope", {{"name", library}, {"version", from.service_version}}}};
  scope[items] = std::move(list);
  json::object one{{"resource", described(from)}};
  one[scopes] = json::array{std::move(scope)};
  json::object out;
  out[resources] = json::array{std::move(one)};
  return out;
}

std::string_view name_of(severity what) {
  return std::find_if(severities.begin(), severities.end(),
                      [&](const auto& s) { return s.severity == what; })
    ->name;
}

json::object shape_of(const metric& m, std::int64_t start_ns, std::int64_t time_ns) {
  json::object point{{"timeUnixNano", std::to_string(time_ns)}, {"asInt", std::to_string(m.value)}};
  json::object out{{"name", m.name}, {"description", m.description}};
  if (!m.counter) {
    out["gauge"] = json::object{{"dataPoints", json::array{std::move(point)}}};
    return out;
  }
  point["startTimeUnixNano"] = std::to_string(start_ns);
  out["sum"] = json::object{{"dataPoints", json::array{std::move(point)}},
                            {"aggregationTemporality", cumulative},
                            {"isMonotonic", true}};
  return out;
}

} // namespace

std::optional<severity> severity_named(std::string_view name) {
  const auto same = [](char lower_or_upper, char upper) {
    return lower_or_upper == upper ||
           (lower_or_upper >= 'a' && lower_or_upper <= 'z' && lower_or_upper - 'a' + 'A' == upper);
  };
  for (const auto& s : severities)
    if (std::equal(name.begin(), name.end(), s.name.begin(), s.name.end(), same))
      return s.severity;
  return std::nullopt;
}

json::value logs_request(const resource& from, const log_record& record) {
  const auto time = std::to_string(record.time_ns);
  json::object out{{"timeUnixNano", time},
                   {"observedTimeUnixNano", time},
                   {"severityNumber", static_cast<int>(record.severity)},
                   {"severityText", name_of(record.severity)},
                   {"body", {{"stringValue", record.body}}},
                   {"attributes", list_of(record.attributes)}};
  return request(from, "resourceLogs", "scopeLogs", "logRecords", json::array{std::move(out)});
}

json::value metrics_request(const resource& from, const std::vector<metric>& metrics,
                            std::int64_t start_ns, std::int64_t time_ns) {
  json::array list;
  for (const auto& m : metrics)
    list.push_back(shape_of(m, start_ns, time_ns));
  return request(from, "resourceMetrics", "scopeMetrics", "metrics", std::move(list));
}

json::value traces_request(const resource& from, const span& what, std::string_view trace_id,
                           std::string_view span_id) {
  json::object out{{"traceId", trace_id},
                   {"spanId", span_id},
                   {"name", what.name},
                   {"kind", server},
                   {"startTimeUnixNano", std::to_string(what.start_ns)},
                   {"endTimeUnixNano", std::to_string(what.end_ns)},
                   {"attributes", list_of(what.attributes)}};
  if (what.failed)
    out["status"] = json::object{{"code", status_error}};
  return request(from, "resourceSpans", "scopeSpans", "spans", json::array{std::move(out)});
}

} // namespace ahpd::otlp
