#include "protocol/ahp/customizations.hpp"

#include "protocol/ahp/reducing.hpp"

namespace ahpd::ahp::reducing {

namespace {

using json::object;
using json::value;

object* named(object& s, const value& a) {
  const auto id = text(a, "id");
  auto* found = id ? find_customization(s.if_contains("customizations"), *id) : nullptr;
  return found ? found->if_object() : nullptr;
}

object* named_server(object& s, const value& a) {
  auto* found = named(s, a);
  const auto* type = found ? found->if_contains("type") : nullptr;
  return type && type->is_string() && type->get_string() == "mcpServer" ? found : nullptr;
}

/// A new state without a channel, as after a start or a stop.
bool enter(object& s, const value& a, std::string_view kind) {
  auto* server = named_server(s, a);
  if (!server)
    return false;
  const value state = object{{"kind", kind}};
  const bool changed = put(*server, "state", &state);
  return put(*server, "channel", nullptr) || changed;
}

} // namespace

bool customization_toggled(object& s, const value& a) {
  auto* found = named(s, a);
  const auto* enablement = array_at(a, "enablement");
  if (!found || !enablement)
    return false;
  const auto* type = found->if_contains("type");
  if (type && (*type == value("plugin") || *type == value("mcpServer")))
    return put(*found, "enablement", enablement->empty() ? nullptr : json::member(a, "enablement"));
  const auto* first = enablement->empty() ? nullptr : json::member(enablement->front(), "enabled");
  const value enabled(!first || !first->is_bool() || first->get_bool());
  return put(*found, "enabled", &enabled);
}

bool customization_removed(object& s, const value& a) {
  const auto id = text(a, "id");
  if (remove(s, "customizations", "id", id))
    return true;
  auto* list = array_at(s, "customizations");
  bool changed = false;
  if (list)
    for (auto& container : *list)
      if (auto* o = container.if_object())
        changed |= remove(*o, "children", "id", id);
  return changed;
}

bool mcp_server_state_changed(object& s, const value& a) {
  auto* server = named_server(s, a);
  if (!server || !json::member(a, "state"))
    return false;
  const bool changed = put_given(*server, a, "state");
  return put_from(*server, a, "channel") || changed;
}

bool mcp_server_start_requested(object& s, const value& a) {
  return enter(s, a, "starting");
}

bool mcp_server_stop_requested(object& s, const value& a) {
  return enter(s, a, "stopped");
}

bool mcp_server_background_requested(object& s, const value& a) {
  auto* server = named_server(s, a);
  auto* state = server ? server->if_contains("state") : nullptr;
  if (!state || json::string_member(*state, "kind") != "starting" || !truth(*state, "blocking"))
    return false;
  state->get_object()["blocking"] = false;
  return true;
}

} // namespace ahpd::ahp::reducing
