#include "protocol/ahp/customizations.hpp"
#include "protocol/ahp/reducing.hpp"
#include "protocol/ahp/status.hpp"

#include <algorithm>

namespace ahpd::ahp::reducing {

namespace {

using json::object;
using json::value;

bool ready(object& s, const value&) {
  const value now("ready");
  return put(s, "lifecycle", &now);
}

bool creation_failed(object& s, const value& a) {
  const value now("failed");
  const bool changed = put(s, "lifecycle", &now);
  return put(s, "creationError", json::member(a, "error")) || changed;
}

bool chat_removed(object& s, const value& a) {
  const auto chat = text(a, "chat");
  if (!remove(s, "chats", "resource", chat))
    return false;
  const auto* first = s.if_contains("defaultChat");
  if (first && first->is_string() && first->get_string() == *chat)
    s.erase("defaultChat");
  return true;
}

bool chat_updated(object& s, const value& a) {
  const auto chat = text(a, "chat");
  auto* summary = chat ? find_by(s.if_contains("chats"), "resource", *chat) : nullptr;
  const auto* changes = json::member(a, "changes");
  if (!summary || !changes || !changes->is_object())
    return false;
  bool changed = false;
  for (const auto& kv : changes->get_object())
    if (kv.key() != "resource" && !kv.value().is_null())
      changed |= put(summary->get_object(), kv.key(), &kv.value());
  return changed;
}

/// Only entries that a person must answer raise the status; a client's tool runs by itself.
bool settle_input(object& s) {
  const auto* entries = array_at(s, "inputNeeded");
  const bool asks = entries && std::any_of(entries->begin(), entries->end(), [](const value& e) {
                      return json::string_member(e, "kind") != "toolClientExecution";
                    });
  if (asks)
    return set_activity(s, status::input_needed);
  return set_status(s, status_of(s) & ~(status::input_needed & ~status::in_progress));
}

bool input_needed_set(object& s, const value& a) {
  const bool changed = upsert(s, "inputNeeded", "id", json::member(a, "request"));
  return settle_input(s) || changed;
}

bool input_needed_removed(object& s, const value& a) {
  if (!remove(s, "inputNeeded", "id", text(a, "id")))
    return false;
  drop_empty(s, "inputNeeded");
  settle_input(s);
  return true;
}

/// The new directory takes the old one's place, unless it stands before it; it is there once after.
bool directory_replaced(object& s, const value& a) {
  const auto old = text(a, "directory");
  const auto fresh = text(a, "replacement");
  auto* list = array_at(s, "workingDirectories");
  if (!list || !old || !fresh)
    return false;
  const auto is = [](std::string_view wanted) {
    return [wanted](const value& v) { return v.is_string() && v.get_string() == wanted; };
  };
  auto* at = std::find_if(list->begin(), list->end(), is(*old));
  if (at == list->end() || *old == *fresh)
    return false;
  if (std::find_if(list->begin(), at, is(*fresh)) != at) {
    list->erase(at);
    return true;
  }
  *at = *fresh;
  auto* last = std::remove_if(at + 1, list->end(), is(*fresh));
  list->erase(last, list->end());
  return true;
}

} // namespace

const steps& session_steps() {
  static const steps all{
    {"session/ready", ready},
    {"session/creationFailed", creation_failed},
    {"session/chatAdded",
     [](object& s, const value& a) {
       return upsert(s, "chats", "resource", json::member(a, "summary"));
     }},
    {"session/chatRemoved", chat_removed},
    {"session/chatUpdated", chat_updated},
    {"session/chatsReordered",
     [](object& s, const value& a) {
       return reorder(s, "chats", "resource", array_at(a, "chats"));
     }},
    {"session/defaultChatChanged",
     [](object& s, const value& a) { return put_from(s, a, "defaultChat"); }},
    {"session/titleChanged", [](object& s, const value& a) { return put_given(s, a, "title"); }},
    {"session/isReadChanged",
     [](object& s, const value& a) { return set_flag(s, a, "isRead", status::is_read); }},
    {"session/isArchivedChanged",
     [](object& s, const value& a) { return set_flag(s, a, "isArchived", status::is_archived); }},
    {"session/activityChanged",
     [](object& s, const value& a) { return put_from(s, a, "activity"); }},
    {"session/changesetsChanged",
     [](object& s, const value& a) { return put_from(s, a, "changesets"); }},
    {"session/serverToolsChanged",
     [](object& s, const value& a) {
       const auto* tools = json::member(a, "tools");
       return tools && put(s, "serverTools", tools);
     }},
    {"session/activeClientSet",
     [](object& s, const value& a) {
       return upsert(s, "activeClients", "clientId", json::member(a, "activeClient"));
     }},
    {"session/activeClientRemoved",
     [](object& s, const value& a) {
       return remove(s, "activeClients", "clientId", text(a, "clientId"));
     }},
    {"session/workingDirectorySet",
     [](object& s, const value& a) {
       return add_string(s, "workingDirectories", text(a, "directory"));
     }},
    {"session/workingDirectoryRemoved",
     [](object& s, const value& a) {
       return remove_string(s, "workingDirectories", text(a, "directory"));
     }},
    {"session/workingDirectoryReplaced", directory_replaced},
    {"session/inputNeededSet", input_needed_set},
    {"session/inputNeededRemoved", input_needed_removed},
    {"session/customizationsChanged",
     [](object& s, const value& a) { return put_given(s, a, "customizations"); }},
    {"session/customizationToggled", customization_toggled},
    {"session/customizationUpdated",
     [](object& s, const value& a) {
       return upsert(s, "customizations", "id", json::member(a, "customization"));
     }},
    {"session/customizationRemoved", customization_removed},
    {"session/mcpServerStateChanged", mcp_server_state_changed},
    {"session/mcpServerStartRequested", mcp_server_start_requested},
    {"session/mcpServerStopRequested", mcp_server_stop_requested},
    {"session/mcpServerBackgroundRequested", mcp_server_background_requested},
    {"session/configChanged", change_config},
    {"session/metaChanged", [](object& s, const value& a) { return put_from(s, a, "_meta"); }},
  };
  return all;
}

} // namespace ahpd::ahp::reducing
