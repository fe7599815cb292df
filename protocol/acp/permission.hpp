#pragma once

#include "protocol/json.hpp"

#include <optional>
#include <string>
#include <string_view>

/// `session/request_permission`: an agent asks whether it may do something.
namespace ahpd::acp {

/// The call that a question is about, as a tool call update: the request's `toolCall`, or in the
/// draft what its `subject` says. A question about no call is one of its own, called `otherwise`.
json::value questioned_call(const json::object& params, std::string_view otherwise);

/// The agent's options as ConfirmationOptions (AHP "Tool calls"): approvals first, group 1, then
/// denials, group 2. What is no option is left out.
json::array confirmation_options(const json::value* options);

/// The option that answers a person's yes or no: the picked one when it fits that, else the
/// `allow_once` or `reject_once` there is. Never an "always" that nobody picked; nothing when no
/// option fits, and the agent is then told `cancelled`.
std::optional<std::string> option_for(const json::value* options, bool approved,
                                      std::string_view picked);

/// Results of the request.
json::value selected_outcome(std::string_view option);
json::value cancelled_outcome();

} // namespace ahpd::acp
