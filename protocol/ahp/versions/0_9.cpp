#include "protocol/ahp/versions/steps.hpp"

/// 1.0 as 0.9 has it. Nothing that a peer of 0.9 sends reads differently in 1.0.
namespace ahpd::ahp::versions {

namespace {

bool lacks(std::string_view type, const value&) {
  return one_of(type, {"chat/backgroundWorkRemoved", "chat/backgroundWorkSet",
                       "chat/canvasesChanged", "chat/changesetsChanged", "chat/isArchivedChanged",
                       "chat/isReadChanged", "chat/movableChanged", "session/chatsReordered",
                       "session/mcpServerBackgroundRequested"});
}

/// Members of a chat that 1.0 added to its summary.
void chat_summary(object& chat) {
  erase(chat, {"changes", "movable"});
}

void computing(object& changeset) {
  if (word(changeset, "status") == "recomputing")
    changeset["status"] = "computing";
}

bool differs(std::string_view type, const value&) {
  return one_of(type, {"session/chatAdded", "session/chatUpdated", "changeset/statusChanged"});
}

void action(std::string_view type, object& a, const value&) {
  if (type == "changeset/statusChanged")
    computing(a);
  else
    each_chat_summary(a, chat_summary);
}

void state(channel_kind kind, object& s) {
  if (kind == channel_kind::changeset)
    computing(s);
  if (kind == channel_kind::chat)
    erase(s, {"changes", "movable", "changesets", "backgroundWork", "canvases"});
  if (kind == channel_kind::session)
    each_chat_summary(s, chat_summary);
}

void summary(object& s) {
  erase(s, {"chats", "defaultChat"});
}

} // namespace

const step to_0_9{.older = dialect::v0_9,
                  .lacks = lacks,
                  .differs = differs,
                  .action = action,
                  .state = state,
                  .summary = summary};

} // namespace ahpd::ahp::versions
