#include "actors/hub/root_config.hpp"

#include "protocol/ahp/actions.hpp"
#include "runtimes/process/executable.hpp"

namespace ahpd::hub {

namespace {

constexpr std::string_view default_shell = "defaultShell";
constexpr std::size_t longest_quoted = 100;

/// Why a value cannot be the shell of terminals, or nothing.
std::optional<std::string> wrong_shell(const json::value& value) {
  const std::string needed = "config.defaultShell must be the absolute path of a program";
  const auto* text = value.if_string();
  if (!text || text->empty() || text->front() != '/' || text->find('\0') != json::string::npos)
    return needed;
  if (!process::can_execute(std::string(*text)))
    return needed + " on this host, and no such program can be run";
  return std::nullopt;
}

} // namespace

json::object root_config_schema(const services& host) {
  return {{"type", "object"},
          {"properties",
           {{default_shell,
             {{"type", "string"},
              {"title", "Default shell"},
              {"description", "The program that your terminals on this host start: an absolute "
                              "path."},
              {"default", host.shell}}}}}};
}

json::object root_config_values(const connection_state& st) {
  json::object values;
  if (!st.default_shell.empty())
    values[default_shell] = st.default_shell;
  return values;
}

std::optional<std::string> change_root_config(connection_state& st, const json::value& action) {
  if (auto why = ahp::refuse_action(ahp::channel_kind::root, nullptr, action, st.box->client_id()))
    return why;
  const auto& changes = action.at("config").get_object();
  for (const auto& [key, value] : changes)
    if (key != default_shell)
      return "config." + std::string(key.substr(0, longest_quoted)) +
             " is not a setting of this host";
  const auto* shell = json::member(action.at("config"), default_shell);
  if (shell)
    if (auto why = wrong_shell(*shell))
      return why;
  const auto* replace = json::member(action, "replace");
  if (shell)
    st.default_shell = shell->get_string();
  else if (replace && replace->get_bool())
    st.default_shell.clear();
  st.host->clients.remember(st.box->client_id(), {st.box->speaks(), st.default_shell});
  return std::nullopt;
}

} // namespace ahpd::hub
