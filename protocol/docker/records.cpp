#include "protocol/docker/records.hpp"

#include <algorithm>

namespace ahpd::docker {

namespace {

std::string text(const json::value* in, std::string_view key) {
  return std::string(in ? json::string_member(*in, key).value_or("") : "");
}

std::map<std::string, std::string> texts(const json::value* in) {
  std::map<std::string, std::string> out;
  if (in && in->is_object())
    for (const auto& entry : in->get_object())
      if (entry.value().is_string())
        out.emplace(entry.key(), std::string(entry.value().get_string()));
  return out;
}

bool flag(const json::value* in, std::string_view key) {
  const auto* found = in ? json::member(*in, key) : nullptr;
  return found && found->is_bool() && found->get_bool();
}

std::optional<std::int64_t> integer(const json::value* in, std::string_view key) {
  const auto* found = in ? json::member(*in, key) : nullptr;
  if (!found || !found->is_number())
    return std::nullopt;
  json::error_code ec;
  const auto out = found->to_number<std::int64_t>(ec);
  return ec ? std::nullopt : std::optional(out);
}

} // namespace

std::optional<container> read_container(const json::value& inspected) {
  container out;
  out.id = text(&inspected, "Id");
  out.name = text(&inspected, "Name");
  if (out.name.starts_with('/'))
    out.name.erase(0, 1);
  if (out.id.empty() || out.name.empty())
    return std::nullopt;
  out.running = flag(json::member(inspected, "State"), "Running");
  out.created = text(&inspected, "Created");
  if (const auto* config = json::member(inspected, "Config")) {
    out.image = text(config, "Image");
    out.labels = texts(json::member(*config, "Labels"));
  }
  if (const auto nano = integer(json::member(inspected, "HostConfig"), "NanoCpus");
      nano && *nano > 0)
    out.cores = static_cast<double>(*nano) / 1e9;
  return out;
}

std::optional<exec_state> read_exec(const json::value& inspected) {
  if (!inspected.is_object())
    return std::nullopt;
  exec_state out;
  out.running = flag(&inspected, "Running");
  if (const auto code = integer(&inspected, "ExitCode"))
    out.exit_code = static_cast<int>(*code);
  out.pid = integer(&inspected, "Pid").value_or(0);
  return out;
}

std::optional<event> read_event(std::string_view line) {
  std::string unreadable;
  const auto parsed = json::parse_text(line, 16, unreadable);
  if (!parsed || json::string_member(*parsed, "Type") != "container")
    return std::nullopt;
  event out;
  out.action = text(&*parsed, "Action");
  out.action.resize(std::min(out.action.find(':'), out.action.size()));
  const auto* actor = json::member(*parsed, "Actor");
  out.id = text(actor, "ID");
  out.attributes = texts(actor ? json::member(*actor, "Attributes") : nullptr);
  if (const auto name = out.attributes.find("name"); name != out.attributes.end())
    out.name = name->second;
  if (out.action.empty() || out.id.empty())
    return std::nullopt;
  return out;
}

} // namespace ahpd::docker
