#include "actors/sandbox/metrics.hpp"

#include <cstdio>

namespace ahpd::sandbox {

namespace {

std::string number(double v) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", v);
  return text.data();
}

/// Methods are the client's words: one that is no known one must not make a new series.
std::string_view known(std::string_view method) {
  for (const std::string_view each : {"GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"})
    if (each == method)
      return each;
  return "other";
}

} // namespace

void metrics::histogram::add(duration took) {
  const auto seconds = std::chrono::duration<double>(took).count();
  for (std::size_t i = 0; i < bounds.size(); ++i)
    if (seconds <= bounds[i])
      ++upto[i];
  ++count;
  sum += seconds;
}

std::string metrics::histogram::text(std::string_view name) const {
  const std::string base(name);
  std::string out = "# TYPE " + base + " histogram\n";
  for (std::size_t i = 0; i < bounds.size(); ++i)
    out += base + "_bucket{le=\"" + number(bounds[i]) + "\"} " + std::to_string(upto[i]) + '\n';
  out += base + "_bucket{le=\"+Inf\"} " + std::to_string(count) + '\n';
  out += base + "_sum " + number(sum) + '\n' + base + "_count " + std::to_string(count) + '\n';
  return out;
}

void metrics::request_done(std::string_view method, std::string_view route, unsigned status,
                           duration took) {
  const std::lock_guard hold(guard_);
  ++requests_[{std::string(known(method)), std::string(route), status}];
  request_time_.add(took);
}

void metrics::command_done(duration took) {
  const std::lock_guard hold(guard_);
  command_time_.add(took);
}

std::string metrics::text() const {
  const std::lock_guard hold(guard_);
  std::string out = "# HELP http_requests_total Requests answered.\n"
                    "# TYPE http_requests_total counter\n";
  for (const auto& [labels, count] : requests_)
    out += "http_requests_total{method=\"" + std::get<0>(labels) + "\",route=\"" +
           std::get<1>(labels) + "\",status=\"" + std::to_string(std::get<2>(labels)) + "\"} " +
           std::to_string(count) + '\n';
  out += request_time_.text("http_request_duration_seconds");
  out += "# HELP command_exec_total Commands ended.\n# TYPE command_exec_total counter\n"
         "command_exec_total " +
         std::to_string(command_time_.count) + '\n';
  return out + command_time_.text("command_exec_duration_seconds");
}

} // namespace ahpd::sandbox
