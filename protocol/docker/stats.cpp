#include "protocol/docker/stats.hpp"

#include <cmath>
#include <cstdint>
#include <string>

namespace ahpd::docker {

namespace {

std::optional<double> number(const json::value* v) {
  if (!v || !v->is_number())
    return std::nullopt;
  return v->to_number<double>();
}

std::optional<std::uint64_t> size(const json::value* v) {
  if (!v || !v->is_number())
    return std::nullopt;
  json::error_code ec;
  const auto out = v->to_number<std::uint64_t>(ec);
  return ec ? std::nullopt : std::optional(out);
}

/// The value at a path of members, or null.
const json::value* at(const json::value& v, std::initializer_list<std::string_view> path) {
  const auto* found = &v;
  for (const auto key : path)
    found = found ? json::member(*found, key) : nullptr;
  return found;
}

double two_places(double x) {
  return std::round(x * 100.0) / 100.0;
}

std::optional<double> cpu_percent(const json::value& stats) {
  const auto total = number(at(stats, {"cpu_stats", "cpu_usage", "total_usage"}));
  if (!total)
    return std::nullopt;
  const auto before = number(at(stats, {"precpu_stats", "cpu_usage", "total_usage"})).value_or(0);
  const auto system = number(at(stats, {"cpu_stats", "system_cpu_usage"})).value_or(0);
  const auto system_before = number(at(stats, {"precpu_stats", "system_cpu_usage"})).value_or(0);
  auto cpus = number(at(stats, {"cpu_stats", "online_cpus"})).value_or(0);
  if (cpus <= 0) { // engines before 1.27 count by the list
    const auto* each = at(stats, {"cpu_stats", "cpu_usage", "percpu_usage"});
    cpus = each && each->is_array() ? static_cast<double>(each->get_array().size()) : 0;
  }
  const auto used = *total - before;
  const auto passed = system - system_before;
  return used > 0 && passed > 0 ? two_places(used / passed * cpus * 100.0) : 0.0;
}

std::optional<json::object> memory(const json::value& stats) {
  const auto usage = size(at(stats, {"memory_stats", "usage"}));
  const auto limit = size(at(stats, {"memory_stats", "limit"}));
  if (!usage || !limit)
    return std::nullopt;
  // Cached file pages can be dropped at any time and are not counted: cgroup v1 names them with a
  // prefix, v2 without.
  auto cached = size(at(stats, {"memory_stats", "stats", "total_inactive_file"}));
  if (!cached || *cached >= *usage)
    cached = size(at(stats, {"memory_stats", "stats", "inactive_file"}));
  const auto used = cached && *cached < *usage ? *usage - *cached : *usage;
  const auto percent =
    *limit > 0 ? two_places(static_cast<double>(used) / static_cast<double>(*limit) * 100.0) : 0.0;
  return json::object{{"used", used}, {"limit", *limit}, {"percent", percent}};
}

std::optional<json::object> network(const json::value& stats) {
  std::uint64_t rx = 0;
  std::uint64_t tx = 0;
  if (const auto* networks = json::member(stats, "networks")) {
    if (!networks->is_object())
      return std::nullopt;
    for (const auto& entry : networks->get_object()) {
      const auto in = size(json::member(entry.value(), "rx_bytes"));
      const auto out = size(json::member(entry.value(), "tx_bytes"));
      if (!in || !out)
        return std::nullopt;
      rx += *in;
      tx += *out;
    }
  }
  return json::object{{"rx", rx}, {"tx", tx}};
}

std::optional<json::object> block(const json::value& stats) {
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  if (const auto* entries = at(stats, {"blkio_stats", "io_service_bytes_recursive"})) {
    if (!entries->is_array())
      return std::nullopt;
    for (const auto& entry : entries->get_array()) {
      const auto op = json::string_member(entry, "op").value_or("");
      const auto value = size(json::member(entry, "value"));
      if (!value)
        return std::nullopt;
      if (op == "read" || op == "Read") // v2 writes them small
        read += *value;
      else if (op == "write" || op == "Write")
        written += *value;
    }
  }
  return json::object{{"read", read}, {"write", written}};
}

} // namespace

std::optional<json::object> usage(const json::value& stats, std::optional<double> cores) {
  auto mem = memory(stats);
  if (!mem)
    return std::nullopt;
  json::object out{{"running", true}};
  if (const auto percent = cpu_percent(stats)) {
    json::object cpu{{"percent", *percent}};
    if (cores && *cores > 0) {
      if (*cores == std::floor(*cores))
        cpu["cores"] = static_cast<std::uint64_t>(*cores);
      else
        cpu["cores"] = *cores;
    }
    out["cpu"] = std::move(cpu);
  }
  out["memory"] = std::move(*mem);
  if (const auto pids = size(at(stats, {"pids_stats", "current"})))
    out["pids"] = *pids;
  if (auto net = network(stats))
    out["network"] = std::move(*net);
  if (auto blk = block(stats))
    out["block"] = std::move(*blk);
  return out;
}

} // namespace ahpd::docker
