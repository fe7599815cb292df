#pragma once

#include "protocol/ahp/reducers.hpp"
#include "protocol/json.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ahpd::ahp {

/// Who may originate an action.
enum class origin_rule { server_only, client };

/// One row of the table of all action types of AHP 1.0 and of this host's own.
struct action_rule {
  std::string_view type;
  channel_kind kind;
  origin_rule by;
  std::string_view
    grant; ///< what a client needs to dispatch it, spec "Where it is asked": "chat:send"
};

/// The row of an action type, or null when nobody defined it.
const action_rule* find_action(std::string_view type);

/// Every action type that has a row, sorted.
const std::vector<std::string_view>& action_types();

/// Checks what a client dispatched to a channel of `kind` before it is reduced: type known, of that
/// kind, client-dispatchable, members there and of the right JSON type, message origin `user`, and
/// the rules that need the state (no turn running, a call that waits for confirmation, the sender
/// owning what it answers for; AHP "Validation of client actions"). Gives the sentence for
/// `rejectionReason`, or nothing when the action may be reduced.
std::optional<std::string> refuse_action(channel_kind kind, const json::value& state,
                                         const json::value& action, std::string_view client_id);

} // namespace ahpd::ahp
