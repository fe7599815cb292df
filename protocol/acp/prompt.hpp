#pragma once

#include "protocol/acp/handshake.hpp"
#include "protocol/json.hpp"

namespace ahpd::acp {

/// The content blocks of a prompt (ACP "session/prompt") from a Message (AHP "Chat channel"): its
/// text, then its attachments. One that the agent does not take goes as text where it is text, else
/// as a line that says that it was left out.
json::array prompt_of(const json::value& message, const agent_facts& agent);

} // namespace ahpd::acp
