#include "tools/ahpd/client/computer_text.hpp"

#include "tools/ahpd/client/print.hpp"

#include <array>
#include <cstdio>

namespace ahpd::client {

namespace {

std::string decimal(double value) {
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%.1f", value);
  return out.data();
}

const json::value* at(const json::value& v, std::initializer_list<std::string_view> path) {
  const json::value* out = &v;
  for (const auto key : path)
    if (!(out = json::member(*out, key)))
      return nullptr;
  return out;
}

std::string size_at(const json::value& v, std::initializer_list<std::string_view> path) {
  return bytes_text(static_cast<std::uint64_t>(number_of(at(v, path))));
}

/// "2026-11-30T10:00:00.123456789Z" without the fraction.
std::string to_the_second(const std::string& time) {
  const auto dot = time.find('.');
  return dot == std::string::npos ? time : time.substr(0, dot) + "Z";
}

} // namespace

table machine_rows(const json::array& records) {
  table rows{{"NAME", "STATE", "IMAGE", "CREATED"}};
  for (const auto& r : records)
    rows.push_back({text_at(r, {"id"}), text_at(r, {"record", "state"}),
                    text_at(r, {"record", "status", "Config", "Image"}),
                    to_the_second(text_at(r, {"record", "status", "Created"}))});
  return rows;
}

table machine_facts(const std::string& name, const std::string& state, const json::value& status) {
  table rows{{"computer", "computer://" + name}, {"state", state}};
  const auto add = [&](const char* what, const std::string& value) {
    if (!value.empty())
      rows.push_back({what, value});
  };
  add("image", text_at(status, {"Config", "Image"}));
  add("container", text_at(status, {"Id"}).substr(0, 12));
  add("created", to_the_second(text_at(status, {"Created"})));
  add("workdir", text_at(status, {"Config", "WorkingDir"}));
  if (const double cpus = number_of(at(status, {"HostConfig", "NanoCpus"})); cpus > 0)
    add("cpus", decimal(cpus / 1e9));
  if (number_of(at(status, {"HostConfig", "Memory"})) > 0)
    add("memory", size_at(status, {"HostConfig", "Memory"}));
  if (const auto* mounts = at(status, {"Mounts"}); mounts && mounts->is_array())
    for (const auto& m : mounts->get_array())
      add("mount", text_at(m, {"Source"}) + " at " + text_at(m, {"Destination"}));
  return rows;
}

table stats_facts(const json::value& stats) {
  if (text_at(stats, {"running"}) != "true")
    return {{"running", "no"}};
  std::string cpu = decimal(number_of(at(stats, {"cpu", "percent"}))) + " % of one core";
  if (const auto* cores = at(stats, {"cpu", "cores"}))
    cpu += ", at most " + decimal(number_of(cores)) + " cores";
  return {{"running", "yes"},
          {"cpu", cpu},
          {"memory", size_at(stats, {"memory", "used"}) + " of " +
                       size_at(stats, {"memory", "limit"}) + " (" +
                       decimal(number_of(at(stats, {"memory", "percent"}))) + " %)"},
          {"processes", text_at(stats, {"pids"})},
          {"network", "received " + size_at(stats, {"network", "rx"}) + ", sent " +
                        size_at(stats, {"network", "tx"})},
          {"disk", "read " + size_at(stats, {"block", "read"}) + ", written " +
                     size_at(stats, {"block", "write"})}};
}

} // namespace ahpd::client
