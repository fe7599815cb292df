#pragma once

#include "protocol/ahp/reducers.hpp"
#include "protocol/json.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ahpd::ahp {

/// What a connection speaks. The model inside the hub is always that of 1.0; a dialect is the shape
/// that one peer sees. What a version says otherwise than the next one is in versions/ and nowhere
/// else.
enum class dialect { v1_0, v0_9, v0_8, v0_7, v0_6 };

inline constexpr std::size_t dialects = 5;

struct negotiated {
  std::string version; ///< the offered string, verbatim
  dialect speaks = dialect::v1_0;
};

/// Chooses from what a client offers: the highest 1.x, else the first of 0.9.x to 0.6.x in the
/// client's order. Strings that are not MAJOR.MINOR.PATCH are skipped. Nothing when no version is
/// in common.
std::optional<negotiated> negotiate(const std::vector<std::string>& offered);

/// For `data.supportedVersions` of the refusal -32005: "^1.0.0", "^0.9.0" and so on.
json::array supported_versions();

/// Whether that version has actions of this type. A type that nobody knows counts as one it has.
bool has_action(dialect speaks, std::string_view type);

/// An action of the 1.0 model as `speaks` has it: `action` itself, not a copy, when the shapes
/// agree; rewritten; several that come to the same; or none. `state` is the channel's after the
/// action. Without it, as in a replay, what `needs_state` names comes to nothing, and no action is
/// given a member that an older reducer would need to keep what it has.
std::vector<json::shared> adapt_action(dialect speaks, const json::shared& action,
                                       const json::value& state);

/// Whether `speaks` lacks actions of this type and says them in others that depend on the state.
/// A replay that holds one is a snapshot instead.
bool needs_state(dialect speaks, std::string_view type);

/// The state document of a channel in the 1.0 model as `speaks` has it.
json::value adapt_state(dialect speaks, channel_kind kind, json::value state);

/// Params of a notification that the host sends, `action` apart, as `speaks` has them.
json::value adapt_notification(dialect speaks, std::string_view method, json::value params);

/// The result of a request as `speaks` has it; snapshots in it are `adapt_state`'s.
json::value adapt_result(dialect speaks, std::string_view method, json::value result);

/// Params of a request or notification and dispatched actions from a peer, brought to the 1.0
/// model. What is misshapen stays for the checks that follow. So does `createSession.fork`, which
/// 0.9 took out.
json::object accept_params(dialect speaks, std::string_view method, json::object params);

} // namespace ahpd::ahp
