#include "protocol/docker/bodies.hpp"

#include "protocol/docker/text.hpp"

#include <cmath>

namespace ahpd::docker {

namespace {

/// The engine looks for these keys in a terminal's input and would detach from the program; its own
/// default, ctrl-p ctrl-q, holds back every ctrl-p a person types. Nobody types this.
constexpr std::string_view detach_keys = "ctrl-@,ctrl-^,ctrl-@,ctrl-_,ctrl-@,ctrl-]";

json::array pairs(const std::map<std::string, std::string>& values) {
  json::array out;
  for (const auto& [name, value] : values)
    out.emplace_back(name + "=" + value);
  return out;
}

json::array list(const std::vector<std::string>& values) {
  json::array out;
  for (const auto& value : values)
    out.emplace_back(value);
  return out;
}

} // namespace

json::object container_body(const container_shape& shape) {
  json::object host;
  host["Init"] = true;
  if (shape.cpus)
    host["NanoCpus"] = static_cast<std::int64_t>(std::llround(*shape.cpus * 1e9));
  if (shape.memory)
    host["Memory"] = *shape.memory;
  if (!shape.mounts.empty()) {
    json::array mounts;
    for (const auto& m : shape.mounts)
      mounts.push_back(json::object{
        {"Type", "bind"}, {"Source", m.source}, {"Target", m.target}, {"ReadOnly", m.read_only}});
    host["Mounts"] = std::move(mounts);
  }
  json::object labels;
  for (const auto& [name, value] : shape.labels)
    labels[name] = value;

  json::object out;
  out["Image"] = shape.image;
  out["Cmd"] = json::array{"sleep", "infinity"};
  out["Labels"] = std::move(labels);
  if (!shape.env.empty())
    out["Env"] = pairs(shape.env);
  if (!shape.workdir.empty())
    out["WorkingDir"] = shape.workdir;
  out["HostConfig"] = std::move(host);
  return out;
}

json::object exec_body(const exec_shape& shape) {
  json::object out;
  out["AttachStdin"] = shape.input;
  out["AttachStdout"] = true;
  out["AttachStderr"] = true;
  out["Tty"] = shape.terminal;
  if (shape.terminal)
    out["DetachKeys"] = detach_keys;
  out["Cmd"] = list(shape.argv);
  if (!shape.env.empty())
    out["Env"] = pairs(shape.env);
  if (!shape.workdir.empty())
    out["WorkingDir"] = shape.workdir;
  if (!shape.user.empty())
    out["User"] = shape.user;
  return out;
}

json::object exec_start_body(bool terminal) {
  return json::object{{"Detach", false}, {"Tty", terminal}};
}

std::string filters(const std::map<std::string, std::vector<std::string>>& wanted) {
  json::object out;
  for (const auto& [name, values] : wanted)
    out[name] = list(values);
  return escape_query(json::serialize(out));
}

} // namespace ahpd::docker
