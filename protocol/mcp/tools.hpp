#pragma once

#include "protocol/json.hpp"

#include <string>
#include <string_view>

/// What a session knows of tools and their results, in the shapes of the Model Context Protocol.
namespace ahpd::mcp {

/// Longest name of a tool (MCP "Tool Names").
inline constexpr std::size_t longest_name = 128;

/// `<client>__<tool>`: what agents call the tool of a client. Characters that models' providers
/// refuse in a name become '_'; of a name that would be too long the front is left out.
std::string client_tool_name(std::string_view client, std::string_view tool);

/// The Tool of an AHP ToolDefinition, under `name`. A schema that is no object's becomes that of
/// any object, as clients refuse the whole list for one of another kind.
json::object tool(const json::value& definition, std::string_view name);

/// The CallToolResult of an AHP ToolCallResult. What has no counterpart is given as its JSON text;
/// a result without content is the sentence that it has.
json::object result(const json::value& what);

/// A CallToolResult that failed with a sentence.
json::object failure(std::string_view why);

} // namespace ahpd::mcp
