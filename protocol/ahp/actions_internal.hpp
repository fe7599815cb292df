#pragma once

#include "protocol/ahp/actions.hpp"

/// The three checks behind `refuse_action`, each in a file of its own.
namespace ahpd::ahp::checks {

using refusal = std::optional<std::string>;

/// Members there, of the right type and within their bounds. No state needed.
refusal shape(const json::value& action, std::string_view type);

/// What an action claims about its sender: it answers for itself only.
refusal sender(const json::value& state, const json::value& action, std::string_view type,
               std::string_view client_id);

/// Rules that depend on what the channel's state admits.
refusal admitted(const json::value& state, const json::value& action, std::string_view type);

/// The parts of `sender` and `admitted` for chats.
refusal tool_sender(const json::value& state, const json::value& action, std::string_view type,
                    std::string_view client_id);
refusal chat(const json::value& state, const json::value& action, std::string_view type);

} // namespace ahpd::ahp::checks
