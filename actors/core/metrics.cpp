#include "actors/core/metrics.hpp"

namespace ahpd::core {

namespace {

constexpr bool gauge = false, counter = true;

template <class T>
otlp::metric row(bool kind, std::string_view name, std::string_view help, const T& value) {
  return {name, help, kind, static_cast<std::int64_t>(value.load(std::memory_order_relaxed))};
}

} // namespace

std::vector<otlp::metric> metrics::rows() const {
  return {
    row(gauge, "ahpd_connections", "Open WebSocket connections.", connections),
    row(gauge, "ahpd_sessions", "Open sessions.", sessions),
    row(gauge, "ahpd_turns_running", "Turns that run now.", turns_running),
    row(gauge, "ahpd_machines", "Machines of this host.", machines),
    row(counter, "ahpd_connections_total", "WebSocket connections accepted.", connections_total),
    row(counter, "ahpd_frames_in_total", "Frames received.", frames_in_total),
    row(counter, "ahpd_requests_total", "Requests received.", requests_total),
    row(counter, "ahpd_errors_total", "Error responses sent.", errors_total),
    row(counter, "ahpd_actions_total", "Actions published.", actions_total),
    row(counter, "ahpd_refused_actions_total", "Actions refused.", refused_actions_total),
    row(counter, "ahpd_turns_total", "Turns started.", turns_total),
    row(counter, "ahpd_commits_total", "Commits of the store.", commits_total),
    row(counter, "ahpd_otlp_dropped_total", "Telemetry left out for slow clients.",
        otlp_dropped_total),
  };
}

std::string metrics::text() const {
  std::string out;
  for (const auto& row : rows()) {
    out.append("# HELP ").append(row.name).append(" ").append(row.description);
    out.append("\n# TYPE ").append(row.name).append(row.counter ? " counter\n" : " gauge\n");
    out.append(row.name).append(" ").append(std::to_string(row.value)).append("\n");
  }
  return out;
}

} // namespace ahpd::core
