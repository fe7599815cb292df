#include "actors/hub/tools.hpp"

#include "protocol/mcp/tools.hpp"

#include <set>

namespace ahpd::hub {

namespace {

using json::text;

/// How people read of a tool.
std::string title_of(const json::value& definition) {
  if (auto title = text(definition, "title"); !title.empty())
    return title;
  const auto* annotations = json::member(definition, "annotations");
  auto title = annotations ? text(*annotations, "title") : std::string();
  return title.empty() ? text(definition, "name") : title;
}

/// `name`, or that name with a number behind it, so that no two tools share one.
std::string unshared(const std::string& name, std::set<std::string>& taken) {
  auto out = name;
  for (int n = 2; !taken.insert(out).second; ++n) {
    const auto suffix = "_" + std::to_string(n);
    out = name.substr(0, mcp::longest_name - suffix.size()) + suffix;
  }
  return out;
}

const json::array& list(const json::value& v, std::string_view key) {
  static const json::array none;
  const auto* found = json::member(v, key);
  return found && found->is_array() ? found->get_array() : none;
}

} // namespace

tool_list tools_of(const json::value& session_state) {
  std::vector<offered_tool> out;
  std::set<std::string> taken;
  for (const auto& client : list(session_state, "activeClients")) {
    const auto id = text(client, "clientId");
    for (const auto& definition : list(client, "tools")) {
      if (out.size() == most_tools)
        break;
      const auto own = text(definition, "name");
      const auto name = unshared(mcp::client_tool_name(id, own), taken);
      out.push_back({name, id, own, title_of(definition), mcp::tool(definition, name)});
    }
  }
  return std::make_shared<const std::vector<offered_tool>>(std::move(out));
}

} // namespace ahpd::hub
