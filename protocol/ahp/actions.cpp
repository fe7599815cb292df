#include "protocol/ahp/actions.hpp"

#include "protocol/ahp/actions_internal.hpp"

#include <algorithm>
#include <array>

namespace ahpd::ahp {

namespace {

using kind = channel_kind;
constexpr auto server = origin_rule::server_only;
constexpr auto client = origin_rule::client;

// Sorted by type, for the binary search below.
constexpr std::array table{
  action_rule{"annotations/entryRemoved", kind::annotations, client, "session:review"},
  action_rule{"annotations/entrySet", kind::annotations, client, "session:review"},
  action_rule{"annotations/removed", kind::annotations, client, "session:review"},
  action_rule{"annotations/set", kind::annotations, client, "session:review"},
  action_rule{"annotations/updated", kind::annotations, client, "session:review"},
  action_rule{"automation/createRequested", kind::automations, client, "automation:create"},
  action_rule{"automation/removed", kind::automations, client, "automation:remove"},
  action_rule{"automation/set", kind::automations, server, ""},
  action_rule{"automation/updateRequested", kind::automations, client, "automation:update"},
  action_rule{"automationRun/cancelRequested", kind::automation_run, client, "automation:cancel"},
  action_rule{"automationRun/lifecycleChanged", kind::automation_run, server, ""},
  action_rule{"automationRun/primarySessionChanged", kind::automation_run, server, ""},
  action_rule{"automationRun/sessionRemoved", kind::automation_run, server, ""},
  action_rule{"automationRun/sessionSet", kind::automation_run, server, ""},
  action_rule{"changeset/cleared", kind::changeset, server, ""},
  action_rule{"changeset/contentChanged", kind::changeset, server, ""},
  action_rule{"changeset/fileRemoved", kind::changeset, server, ""},
  action_rule{"changeset/fileSet", kind::changeset, server, ""},
  action_rule{"changeset/filesReviewChanged", kind::changeset, client, "session:review"},
  action_rule{"changeset/operationStatusChanged", kind::changeset, server, ""},
  action_rule{"changeset/operationsChanged", kind::changeset, server, ""},
  action_rule{"changeset/statusChanged", kind::changeset, server, ""},
  action_rule{"chat/activityChanged", kind::chat, server, ""},
  action_rule{"chat/backgroundWorkRemoved", kind::chat, server, ""},
  action_rule{"chat/backgroundWorkSet", kind::chat, server, ""},
  action_rule{"chat/canvasesChanged", kind::chat, server, ""},
  action_rule{"chat/changesetsChanged", kind::chat, server, ""},
  action_rule{"chat/delta", kind::chat, server, ""},
  action_rule{"chat/draftChanged", kind::chat, client, "chat:draft"},
  action_rule{"chat/error", kind::chat, server, ""},
  action_rule{"chat/inputAnswerChanged", kind::chat, client, "chat:answer"},
  action_rule{"chat/inputCompleted", kind::chat, client, "chat:answer"},
  action_rule{"chat/inputRequested", kind::chat, server, ""},
  action_rule{"chat/isArchivedChanged", kind::chat, client, "chat:mark"},
  action_rule{"chat/isReadChanged", kind::chat, client, "chat:mark"},
  action_rule{"chat/movableChanged", kind::chat, server, ""},
  action_rule{"chat/pendingMessageRemoved", kind::chat, client, "chat:send"},
  action_rule{"chat/pendingMessageSet", kind::chat, client, "chat:send"},
  action_rule{"chat/queuedMessagesReordered", kind::chat, client, "chat:send"},
  action_rule{"chat/reasoning", kind::chat, server, ""},
  action_rule{"chat/responsePart", kind::chat, server, ""},
  action_rule{"chat/toolCallAuthRequired", kind::chat, server, ""},
  action_rule{"chat/toolCallAuthResolved", kind::chat, server, ""},
  action_rule{"chat/toolCallComplete", kind::chat, client, "chat:tool"},
  action_rule{"chat/toolCallConfirmed", kind::chat, client, "chat:answer"},
  action_rule{"chat/toolCallContentChanged", kind::chat, client, "chat:tool"},
  action_rule{"chat/toolCallDelta", kind::chat, server, ""},
  action_rule{"chat/toolCallReady", kind::chat, server, ""},
  action_rule{"chat/toolCallResultConfirmed", kind::chat, client, "chat:answer"},
  action_rule{"chat/toolCallStart", kind::chat, server, ""},
  action_rule{"chat/truncated", kind::chat, client, "chat:truncate"},
  action_rule{"chat/turnCancelled", kind::chat, client, "chat:cancel"},
  action_rule{"chat/turnComplete", kind::chat, server, ""},
  action_rule{"chat/turnResume", kind::chat, client, "chat:send"},
  action_rule{"chat/turnStarted", kind::chat, client, "chat:send"},
  action_rule{"chat/turnsLoaded", kind::chat, server, ""},
  action_rule{"chat/usage", kind::chat, server, ""},
  action_rule{"chat/workingDirectoryRemoved", kind::chat, client, "chat:folders"},
  action_rule{"chat/workingDirectorySet", kind::chat, client, "chat:folders"},
  action_rule{"resourceWatch/changed", kind::resource_watch, server, ""},
  action_rule{"root/activeSessionsChanged", kind::root, server, ""},
  action_rule{"root/agentsChanged", kind::root, server, ""},
  action_rule{"root/configChanged", kind::root, client, "config:change"},
  action_rule{"root/terminalsChanged", kind::root, server, ""},
  action_rule{"session/activeClientRemoved", kind::session, client, "session:attach"},
  action_rule{"session/activeClientSet", kind::session, client, "session:attach"},
  action_rule{"session/activityChanged", kind::session, server, ""},
  action_rule{"session/changesetsChanged", kind::session, server, ""},
  action_rule{"session/chatAdded", kind::session, server, ""},
  action_rule{"session/chatRemoved", kind::session, server, ""},
  action_rule{"session/chatUpdated", kind::session, server, ""},
  action_rule{"session/chatsReordered", kind::session, server, ""},
  action_rule{"session/configChanged", kind::session, client, "session:configure"},
  action_rule{"session/creationFailed", kind::session, server, ""},
  action_rule{"session/customizationRemoved", kind::session, server, ""},
  action_rule{"session/customizationToggled", kind::session, client, "session:configure"},
  action_rule{"session/customizationUpdated", kind::session, server, ""},
  action_rule{"session/customizationsChanged", kind::session, server, ""},
  action_rule{"session/defaultChatChanged", kind::session, server, ""},
  action_rule{"session/inputNeededRemoved", kind::session, server, ""},
  action_rule{"session/inputNeededSet", kind::session, server, ""},
  action_rule{"session/isArchivedChanged", kind::session, client, "session:mark"},
  action_rule{"session/isReadChanged", kind::session, client, "session:mark"},
  action_rule{"session/mcpServerBackgroundRequested", kind::session, client, "session:configure"},
  action_rule{"session/mcpServerStartRequested", kind::session, client, "session:configure"},
  action_rule{"session/mcpServerStateChanged", kind::session, server, ""},
  action_rule{"session/mcpServerStopRequested", kind::session, client, "session:configure"},
  action_rule{"session/metaChanged", kind::session, server, ""},
  action_rule{"session/ready", kind::session, server, ""},
  action_rule{"session/serverToolsChanged", kind::session, server, ""},
  action_rule{"session/titleChanged", kind::session, client, "session:rename"},
  action_rule{"session/workingDirectoryRemoved", kind::session, client, "session:folders"},
  action_rule{"session/workingDirectoryReplaced", kind::session, client, "session:folders"},
  action_rule{"session/workingDirectorySet", kind::session, client, "session:folders"},
  action_rule{"terminal/claimed", kind::terminal, client, "terminal:claim"},
  action_rule{"terminal/cleared", kind::terminal, client, "terminal:clear"},
  action_rule{"terminal/commandDetectionAvailable", kind::terminal, server, ""},
  action_rule{"terminal/commandExecuted", kind::terminal, server, ""},
  action_rule{"terminal/commandFinished", kind::terminal, server, ""},
  action_rule{"terminal/cwdChanged", kind::terminal, server, ""},
  action_rule{"terminal/data", kind::terminal, server, ""},
  action_rule{"terminal/exited", kind::terminal, server, ""},
  action_rule{"terminal/input", kind::terminal, client, "terminal:input"},
  action_rule{"terminal/resized", kind::terminal, client, "terminal:resize"},
  action_rule{"terminal/titleChanged", kind::terminal, client, "terminal:rename"},
  action_rule{"x-ahpd-computers/added", kind::computers, server, ""},
  action_rule{"x-ahpd-computers/changed", kind::computers, server, ""},
  action_rule{"x-ahpd-computers/removed", kind::computers, server, ""},
};

constexpr bool before(const action_rule& a, const action_rule& b) {
  return a.type < b.type;
}
static_assert(std::is_sorted(table.begin(), table.end(), before));

/// Longest name that a refusal repeats.
constexpr std::size_t max_quoted = 100;

} // namespace

const action_rule* find_action(std::string_view type) {
  const auto* found = std::lower_bound(
    table.begin(), table.end(), type,
    [](const action_rule& rule, std::string_view wanted) { return rule.type < wanted; });
  return found != table.end() && found->type == type ? found : nullptr;
}

std::optional<std::string> refuse_action(channel_kind kind, const json::value& state,
                                         const json::value& action, std::string_view client_id) {
  const auto type = json::string_member(action, "type");
  if (!type)
    return "an action needs type to be a string";
  const auto* rule = find_action(*type);
  if (!rule)
    return "this host knows no action " +
           (type->size() <= max_quoted ? std::string(*type) : std::string("with so long a name"));
  if (rule->kind != kind)
    return std::string(*type) + " does not belong on this channel";
  if (rule->by == origin_rule::server_only)
    return "only the host may originate " + std::string(*type);
  if (auto why = checks::shape(action, *type))
    return why;
  if (auto why = checks::sender(state, action, *type, client_id))
    return why;
  return checks::admitted(state, action, *type);
}

const std::vector<std::string_view>& action_types() {
  static const auto all = [] {
    std::vector<std::string_view> types;
    for (const auto& rule : table)
      types.push_back(rule.type);
    return types;
  }();
  return all;
}

} // namespace ahpd::ahp
