#pragma once

#include "protocol/ahp/changesets.hpp"
#include "protocol/json.hpp"

#include <string>
#include <string_view>
#include <vector>

/// What an agent shows: content blocks and the content of tool calls (ACP "Content", "Tool calls").
namespace ahpd::acp {

/// The text of a content block; empty for one that has none (an image, audio).
std::string text_of(const json::value& block);

/// ToolCallContent of ACP as ToolResultContent of AHP: text, terminals, edits of files, and what a
/// block embeds. What this host does not know is left out.
json::array tool_content(const json::value* content);
json::array tool_content(const json::array& content);

/// The edits that the diffs in a call's content tell, with both texts of each where they are told
/// (version 1; the draft's diff names files alone). One that names no path is left out.
std::vector<ahp::file_edit> edits_in(const json::array& content);

/// What a tool was given, as `toolInput`: a string as it is, anything else as JSON text.
std::string tool_input(const json::value* raw);

/// The entries of a plan as a Markdown task list.
std::string plan_text(const json::value* entries);

} // namespace ahpd::acp
