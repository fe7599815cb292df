#include "protocol/ahp/reducing.hpp"
#include "protocol/ahp/status.hpp"
#include "protocol/ahp/versions/steps.hpp"

/// 0.8 as 0.7 has it: a customization is on or off, a resource that asks for a token is a name.
namespace ahpd::ahp::versions {

namespace {

// ---- parts that differ --------------------------------------------------------------------------

/// What holds of an `enablement` list: its first entry; on when it has none.
bool enabled(const object& o) {
  const auto* list = o.if_contains("enablement");
  const auto* entries = list ? list->if_array() : nullptr;
  const auto* first =
    entries && !entries->empty() ? json::member(entries->front(), "enabled") : nullptr;
  return !first || !first->is_bool() || first->get_bool();
}

/// Plugins and MCP servers have levels of enablement since 0.8; all others are on or off still.
bool has_levels(const object& customization) {
  return one_of(word(customization, "type"), {"plugin", "mcpServer"});
}

void customization(object& c) {
  if (!has_levels(c))
    return;
  c["enabled"] = enabled(c);
  c.erase("enablement");
}

// ---- actions ------------------------------------------------------------------------------------

bool lacks(std::string_view type, const value&) {
  return type == "session/workingDirectoryReplaced";
}

/// The old folder goes, and all from the new one's place on are added again: 0.7 only appends.
std::vector<value> instead(std::string_view, const value& a, const value& session) {
  const auto* list = json::member(session, "workingDirectories");
  const auto* gone = json::member(a, "directory");
  const auto* fresh = json::member(a, "replacement");
  if (!list || !list->is_array() || !gone || !fresh)
    return {};
  std::vector<value> out;
  const auto add = [&out](std::string_view type, const value& directory) {
    out.push_back(object{{"type", type}, {"directory", directory}});
  };
  add("session/workingDirectoryRemoved", *gone);
  const auto& now = list->get_array();
  const auto* from = std::find(now.begin(), now.end(), *fresh);
  for (const auto* type : {"session/workingDirectoryRemoved", "session/workingDirectorySet"})
    for (const auto* i = from; i != now.end(); ++i)
      add(type, *i);
  return out;
}

bool differs(std::string_view type, const value&) {
  return one_of(type,
                {"session/customizationToggled", "session/customizationsChanged",
                 "session/customizationUpdated", "session/activeClientSet", "root/agentsChanged"});
}

void action(std::string_view type, object& a, const value&) {
  if (type != "session/customizationToggled")
    return each_customization(a, customization);
  a["enabled"] = enabled(a);
  a.erase("enablement");
}

// ---- documents ----------------------------------------------------------------------------------

void state(channel_kind kind, object& s) {
  if (kind != channel_kind::session && kind != channel_kind::root)
    return;
  each_customization(s, customization);
  // In 0.7 a tool that a client runs raises the status too, and its reducer will do so by itself.
  const auto* asked = list_member(s, "inputNeeded");
  if (kind == channel_kind::session && asked && !asked->empty())
    reducing::set_activity(s, status::input_needed);
}

void notification(std::string_view method, object& params) {
  const auto* resource = method == "auth/required" ? object_member(params, "resource") : nullptr;
  if (const auto* name = resource ? resource->if_contains("resource") : nullptr)
    params["resource"] = value(*name);
}

// ---- what a peer of 0.7 sends -------------------------------------------------------------------

void accept_enabled(object& o) {
  const auto* on = o.if_contains("enabled");
  if (!on || o.contains("enablement"))
    return;
  o["enablement"] = json::array{object{{"kind", "session"}, {"enabled", *on}}};
  o.erase("enabled");
}

void accept_customization(object& c) {
  if (has_levels(c))
    accept_enabled(c);
}

void accept(std::string_view method, object& params) {
  if (method == "createSession")
    return each_customization(params, accept_customization);
  auto* a = method == "dispatchAction" ? object_member(params, "action") : nullptr;
  if (!a)
    return;
  if (word(*a, "type") == "session/customizationToggled")
    accept_enabled(*a);
  else if (word(*a, "type") == "session/activeClientSet")
    each_customization(*a, accept_customization);
}

} // namespace

const step to_0_7{.older = dialect::v0_7,
                  .lacks = lacks,
                  .instead = instead,
                  .needs_state = [](std::string_view type) { return lacks(type, {}); },
                  .differs = differs,
                  .action = action,
                  .state = state,
                  .notification = notification,
                  .accept = accept};

} // namespace ahpd::ahp::versions
