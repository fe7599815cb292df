#pragma once

#include "protocol/json.hpp"

#include <string>
#include <string_view>

/// What an agent shows: content blocks and the content of tool calls (ACP "Content", "Tool calls").
namespace ahpd::acp {

/// The text of a content block; empty for one that has none (an image, audio).
std::string text_of(const json::value& block);

/// ToolCallContent of ACP as ToolResultContent of AHP: text, terminals, edits of files, and what a
/// block embeds. What this host does not know is left out.
json::array tool_content(const json::value* content);
json::array tool_content(const json::array& content);

/// What a tool was given, as `toolInput`: a string as it is, anything else as JSON text.
std::string tool_input(const json::value* raw);

/// The entries of a plan as a Markdown task list.
std::string plan_text(const json::value* entries);

} // namespace ahpd::acp
