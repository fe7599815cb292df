#include "actors/core/metrics.hpp"

#include <string_view>

namespace ahpd::core {

namespace {

template <class T>
void row(std::string& out, std::string_view name, std::string_view kind, std::string_view help,
         const std::atomic<T>& value) {
  out.append("# HELP ahpd_").append(name).append(" ").append(help).append("\n# TYPE ahpd_");
  out.append(name).append(" ").append(kind).append("\nahpd_").append(name).append(" ");
  out.append(std::to_string(value.load(std::memory_order_relaxed))).append("\n");
}

} // namespace

std::string metrics::text() const {
  std::string out;
  row(out, "connections", "gauge", "Open WebSocket connections.", connections);
  row(out, "sessions", "gauge", "Open sessions.", sessions);
  row(out, "turns_running", "gauge", "Turns that run now.", turns_running);
  row(out, "machines", "gauge", "Machines of this host.", machines);
  row(out, "connections_total", "counter", "WebSocket connections accepted.", connections_total);
  row(out, "frames_in_total", "counter", "Frames received.", frames_in_total);
  row(out, "requests_total", "counter", "Requests received.", requests_total);
  row(out, "errors_total", "counter", "Error responses sent.", errors_total);
  row(out, "actions_total", "counter", "Actions published.", actions_total);
  row(out, "refused_actions_total", "counter", "Actions refused.", refused_actions_total);
  row(out, "turns_total", "counter", "Turns started.", turns_total);
  row(out, "commits_total", "counter", "Commits of the store.", commits_total);
  return out;
}

} // namespace ahpd::core
