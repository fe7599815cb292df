#include "protocol/ahp/actions_internal.hpp"
#include "protocol/ahp/shapes.hpp"

#include <array>

namespace ahpd::ahp::checks {

namespace {

using shapes::kind;
constexpr bool needed = true;
constexpr bool optional = false;

/// A member that actions of one type carry.
struct member_rule {
  std::string_view type;
  std::string_view member;
  kind what;
  bool required;
};

// Only what clients may dispatch; words of a closed set are in `words` below.
constexpr std::array members{
  member_rule{"root/configChanged", "config", kind::object, needed},
  member_rule{"root/configChanged", "replace", kind::boolean, optional},
  member_rule{"session/titleChanged", "title", kind::label, needed},
  member_rule{"session/isReadChanged", "isRead", kind::boolean, needed},
  member_rule{"session/isArchivedChanged", "isArchived", kind::boolean, needed},
  member_rule{"session/activeClientSet", "activeClient", kind::active_client, needed},
  member_rule{"session/activeClientRemoved", "clientId", kind::id, needed},
  member_rule{"session/workingDirectorySet", "directory", kind::uri, needed},
  member_rule{"session/workingDirectoryRemoved", "directory", kind::uri, needed},
  member_rule{"session/workingDirectoryReplaced", "directory", kind::uri, needed},
  member_rule{"session/workingDirectoryReplaced", "replacement", kind::uri, needed},
  member_rule{"session/customizationToggled", "id", kind::label, needed},
  member_rule{"session/customizationToggled", "enablement", kind::enablement, needed},
  member_rule{"session/mcpServerStartRequested", "id", kind::label, needed},
  member_rule{"session/mcpServerStopRequested", "id", kind::label, needed},
  member_rule{"session/mcpServerBackgroundRequested", "id", kind::label, needed},
  member_rule{"session/configChanged", "config", kind::object, needed},
  member_rule{"session/configChanged", "replace", kind::boolean, optional},
  member_rule{"chat/turnStarted", "turnId", kind::id, needed},
  member_rule{"chat/turnStarted", "startedAt", kind::time, needed},
  member_rule{"chat/turnStarted", "message", kind::user_message, needed},
  member_rule{"chat/turnStarted", "queuedMessageId", kind::id, optional},
  member_rule{"chat/turnCancelled", "turnId", kind::id, needed},
  member_rule{"chat/turnCancelled", "duration", kind::number, needed},
  member_rule{"chat/turnResume", "turnId", kind::id, needed},
  member_rule{"chat/toolCallConfirmed", "turnId", kind::id, needed},
  member_rule{"chat/toolCallConfirmed", "toolCallId", kind::id, needed},
  member_rule{"chat/toolCallConfirmed", "approved", kind::boolean, needed},
  member_rule{"chat/toolCallConfirmed", "editedToolInput", kind::text, optional},
  member_rule{"chat/toolCallConfirmed", "selectedOptionId", kind::id, optional},
  member_rule{"chat/toolCallConfirmed", "reasonMessage", kind::prose, optional},
  member_rule{"chat/toolCallConfirmed", "userSuggestion", kind::user_message, optional},
  member_rule{"chat/toolCallContentChanged", "turnId", kind::id, needed},
  member_rule{"chat/toolCallContentChanged", "toolCallId", kind::id, needed},
  member_rule{"chat/toolCallContentChanged", "content", kind::tool_content, needed},
  member_rule{"chat/toolCallComplete", "turnId", kind::id, needed},
  member_rule{"chat/toolCallComplete", "toolCallId", kind::id, needed},
  member_rule{"chat/toolCallComplete", "result", kind::tool_result, needed},
  member_rule{"chat/toolCallComplete", "requiresResultConfirmation", kind::boolean, optional},
  member_rule{"chat/toolCallResultConfirmed", "turnId", kind::id, needed},
  member_rule{"chat/toolCallResultConfirmed", "toolCallId", kind::id, needed},
  member_rule{"chat/toolCallResultConfirmed", "approved", kind::boolean, needed},
  member_rule{"chat/truncated", "turnId", kind::id, optional},
  member_rule{"chat/pendingMessageSet", "id", kind::id, needed},
  member_rule{"chat/pendingMessageSet", "message", kind::user_message, needed},
  member_rule{"chat/pendingMessageRemoved", "id", kind::id, needed},
  member_rule{"chat/queuedMessagesReordered", "order", kind::ids, needed},
  member_rule{"chat/draftChanged", "draft", kind::user_message, optional},
  member_rule{"chat/inputAnswerChanged", "requestId", kind::id, needed},
  member_rule{"chat/inputAnswerChanged", "questionId", kind::id, needed},
  member_rule{"chat/inputAnswerChanged", "answer", kind::answer, optional},
  member_rule{"chat/inputCompleted", "requestId", kind::id, needed},
  member_rule{"chat/inputCompleted", "answers", kind::answers, optional},
  member_rule{"chat/workingDirectorySet", "directory", kind::uri, needed},
  member_rule{"chat/workingDirectoryRemoved", "directory", kind::uri, needed},
  member_rule{"chat/isReadChanged", "isRead", kind::boolean, needed},
  member_rule{"chat/isArchivedChanged", "isArchived", kind::boolean, needed},
  member_rule{"terminal/input", "data", kind::text, needed},
  member_rule{"terminal/resized", "cols", kind::cells, needed},
  member_rule{"terminal/resized", "rows", kind::cells, needed},
  member_rule{"terminal/claimed", "claim", kind::claim, needed},
  member_rule{"terminal/titleChanged", "title", kind::label, needed},
  member_rule{"changeset/filesReviewChanged", "files", kind::array, needed},
  member_rule{"changeset/filesReviewChanged", "reviewed", kind::boolean, needed},
  member_rule{"annotations/set", "annotation", kind::annotation, needed},
  member_rule{"annotations/updated", "annotationId", kind::id, needed},
  member_rule{"annotations/updated", "origin", kind::annotation_origin, optional},
  member_rule{"annotations/updated", "resource", kind::uri, optional},
  member_rule{"annotations/updated", "range", kind::range, optional},
  member_rule{"annotations/updated", "resolved", kind::boolean, optional},
  member_rule{"annotations/removed", "annotationId", kind::id, needed},
  member_rule{"annotations/entrySet", "annotationId", kind::id, needed},
  member_rule{"annotations/entrySet", "entry", kind::annotation_entry, needed},
  member_rule{"annotations/entryRemoved", "annotationId", kind::id, needed},
  member_rule{"annotations/entryRemoved", "entryId", kind::id, needed},
  member_rule{"automation/createRequested", "resource", kind::uri, needed},
  member_rule{"automation/createRequested", "definition", kind::automation_definition, needed},
  member_rule{"automation/updateRequested", "resource", kind::uri, needed},
  member_rule{"automation/updateRequested", "changes", kind::automation_changes, needed},
  member_rule{"automation/removed", "resource", kind::uri, needed},
};

refusal words(const shapes::place& where, const json::value& action) {
  if (where.action == "chat/pendingMessageSet" || where.action == "chat/pendingMessageRemoved")
    return shapes::check_word(where, action, "kind", {"steering", "queued"});
  if (where.action == "chat/inputCompleted")
    return shapes::check_word(where, action, "response", {"accept", "decline", "cancel"});
  if (where.action == "chat/toolCallConfirmed") {
    return json::member(action, "approved")->get_bool()
             ? shapes::check_word(where, action, "confirmed",
                                  {"user-action", "setting", "not-needed"})
             : shapes::check_word(where, action, "reason", {"denied", "skipped"});
  }
  return std::nullopt;
}

/// File ids are URIs as a rule, and may be long: bounded as names, not as ids.
refusal file_ids(const shapes::place& where, const json::value& action) {
  const auto& files = json::member(action, "files")->get_array();
  for (std::size_t i = 0; i < files.size(); ++i)
    if (auto why = shapes::check(where.in("files").at(i), files[i], kind::label))
      return why;
  return std::nullopt;
}

} // namespace

refusal shape(const json::value& action, std::string_view type) {
  const shapes::place where{type, {}};
  for (const auto& rule : members)
    if (rule.type == type)
      if (auto why = shapes::check_member(where, action, rule.member, rule.what, rule.required))
        return why;
  if (auto why = words(where, action))
    return why;
  if (type == "changeset/filesReviewChanged")
    if (auto why = file_ids(where, action))
      return why;
  return shapes::check_member(where, action, "_meta", kind::object, false);
}

} // namespace ahpd::ahp::checks
