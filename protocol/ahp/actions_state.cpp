#include "protocol/ahp/actions_internal.hpp"
#include "protocol/ahp/find.hpp"

namespace ahpd::ahp::checks {

namespace {

using json::text;

/// A setting's name as a refusal repeats it.
std::string name_of(std::string_view key) {
  return key.size() <= 100 ? std::string(key) : "with so long a name";
}

refusal config_change(const json::value& state, const json::value& action) {
  const auto* config = json::member(state, "config");
  const auto* schema = config ? json::member(*config, "schema") : nullptr;
  const auto* properties = schema ? json::member(*schema, "properties") : nullptr;
  const auto mutable_setting = [&](std::string_view name) {
    const auto* property = properties ? json::member(*properties, name) : nullptr;
    const auto* flag = property ? json::member(*property, "sessionMutable") : nullptr;
    return flag && flag->is_bool() && flag->get_bool();
  };
  const auto& changes = json::member(action, "config")->get_object();
  const auto* values = config ? json::member(*config, "values") : nullptr;
  for (const auto& [name, value] : changes) {
    const auto* held = values ? json::member(*values, name) : nullptr;
    if (!mutable_setting(name) && !(held && *held == value))
      return "the setting " + name_of(name) + " of this session cannot be changed";
  }
  const auto* replace = json::member(action, "replace");
  if (replace && replace->get_bool() && values && values->is_object())
    for (const auto& [name, value] : values->get_object())
      if (!value.is_null() && !changes.contains(name) && !mutable_setting(name))
        return "the setting " + name_of(name) + " of this session cannot be removed";
  return std::nullopt;
}

refusal known_customization(const json::value& state, const json::value& action, bool server) {
  const auto id = text(action, "id");
  const auto* found = find_customization(json::member(state, "customizations"), id);
  if (!found)
    return "this session has no customization " + id;
  if (server && json::string_member(*found, "type") != "mcpServer")
    return "the customization " + id + " is no MCP server";
  return std::nullopt;
}

refusal session(const json::value& state, const json::value& action, std::string_view type) {
  if (type == "session/configChanged")
    return config_change(state, action);
  if (type == "session/customizationToggled")
    return known_customization(state, action, false);
  if (type == "session/mcpServerStartRequested" || type == "session/mcpServerStopRequested" ||
      type == "session/mcpServerBackgroundRequested")
    return known_customization(state, action, true);
  return std::nullopt;
}

refusal annotation(const json::value& state, const json::value& action, std::string_view type) {
  if (type == "annotations/set")
    return std::nullopt;
  const auto id = text(action, "annotationId");
  const auto* found = find_by(json::member(state, "annotations"), "id", id);
  if (!found)
    return "there is no annotation " + id;
  if (type == "annotations/entryRemoved") {
    const auto entry = text(action, "entryId");
    if (!find_by(json::member(*found, "entries"), "id", entry))
      return "the annotation " + id + " has no entry " + entry;
  }
  return std::nullopt;
}

refusal automation(const json::value& state, const json::value& action, std::string_view type) {
  const auto uri = text(action, "resource");
  const bool known = find_by(json::member(state, "entries"), "resource", uri);
  if (type == "automation/createRequested")
    return known ? refusal("there is an automation " + uri + " already") : std::nullopt;
  return known ? std::nullopt : refusal("there is no automation " + uri);
}

refusal cancel_run(const json::value& state) {
  const auto* operations = json::member(state, "operations");
  if (operations && operations->is_array())
    for (const auto& operation : operations->get_array())
      if (operation == json::value("cancel"))
        return std::nullopt;
  return "this run cannot be cancelled";
}

} // namespace

refusal sender(const json::value& state, const json::value& action, std::string_view type,
               std::string_view client_id) {
  if (type == "session/activeClientSet" &&
      text(*json::member(action, "activeClient"), "clientId") != client_id)
    return "session/activeClientSet needs activeClient.clientId to be the sender's own";
  if (type == "session/activeClientRemoved" && text(action, "clientId") != client_id)
    return "session/activeClientRemoved needs clientId to be the sender's own";
  if (type == "terminal/claimed") {
    const auto* claim = json::member(state, "claim");
    if (claim && json::string_member(*claim, "clientId") != client_id)
      return "the terminal is claimed by another";
  }
  if (type == "terminal/input" || type == "terminal/resized" || type == "terminal/cleared") {
    // What a session claims, everybody who works in that session may use.
    const auto* claim = json::member(state, "claim");
    if (claim && json::string_member(*claim, "clientId").value_or(client_id) != client_id)
      return "the terminal is claimed by another";
  }
  if (type == "chat/toolCallComplete" || type == "chat/toolCallContentChanged")
    return tool_sender(state, action, type, client_id);
  return std::nullopt;
}

refusal admitted(const json::value& state, const json::value& action, std::string_view type) {
  switch (find_action(type)->kind) {
  case channel_kind::session:
    return session(state, action, type);
  case channel_kind::chat:
    return chat(state, action, type);
  case channel_kind::annotations:
    return annotation(state, action, type);
  case channel_kind::automations:
    return automation(state, action, type);
  case channel_kind::automation_run:
    return cancel_run(state);
  default:
    return std::nullopt;
  }
}

} // namespace ahpd::ahp::checks
