#pragma once

#include "protocol/json.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <memory>
#include <string>
#include <vector>

/// The tools that a session offers to its agents beside their own.
namespace ahpd::hub {

struct offered_tool {
  std::string name;      ///< as agents call it
  std::string client_id; ///< the client that runs it
  std::string own_name;  ///< as that client calls it
  std::string title;     ///< for people
  json::object shape;    ///< Tool, as MCP lists it; its name is `name`

  bool operator==(const offered_tool&) const = default;
};
using tool_list = std::shared_ptr<const std::vector<offered_tool>>;

/// The one list that a session offers: the tools of its active clients, each name once, at most
/// `most_tools`. A tool of the host's own would be put in here, and run where `turns::call_tool`
/// hands a call to its client.
tool_list tools_of(const json::value& session_state);
inline constexpr std::size_t most_tools = 1000;

/// What the session offers: once when a chat or an agent starts, and again after each change.
struct session_tools {
  tool_list tools;
};

/// A client is active in the session no more; from the session to its chats.
struct client_left {
  std::string client_id;
};

/// An agent calls a tool: shown as a call of the chat's running turn, which its client runs.
/// Answered with `tool_answer` when it ended, however it did.
struct call_offered_tool {
  std::string call; ///< id for the tool call; the caller's choice, new
  offered_tool tool;
  json::object arguments;
};
struct tool_answer {
  json::shared result; ///< ToolCallResult (AHP "Tool calls")
};

/// The agent gave up on a call, which fails. No answer.
struct give_up_call {
  std::string call;
};

} // namespace ahpd::hub

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::session_tools)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::client_left)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::call_offered_tool)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::tool_answer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::give_up_call)
