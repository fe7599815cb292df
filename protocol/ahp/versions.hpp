#pragma once

#include "protocol/json.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ahpd::ahp {

/// What a connection speaks. The model inside the hub is always that of 1.0; a dialect is the shape
/// that one peer sees. Adapters for older versions are added in versions.cpp and nowhere else.
enum class dialect { v1_0, v0_9 };

struct negotiated {
  std::string version; ///< the offered string, verbatim
  dialect speaks = dialect::v1_0;
};

/// Chooses from what a client offers: the highest 1.x, else the first of 0.9.x in the client's
/// order. Strings that are not MAJOR.MINOR.PATCH are skipped. Nothing when no version is in common.
std::optional<negotiated> negotiate(const std::vector<std::string>& offered);

/// For `data.supportedVersions` of the refusal -32005: ["^1.0.0", "^0.9.0"].
json::array supported_versions();

/// An action of the 1.0 model as `speaks` has it; null when that version lacks the action. Gives
/// `action` itself, not a copy, when the shapes agree.
json::shared adapt_action(dialect speaks, const json::shared& action);

/// A state document of the 1.0 model as `speaks` has it.
json::value adapt_state(dialect speaks, json::value state);

/// A session summary, or a partial one, as `speaks` has it.
json::value adapt_summary(dialect speaks, json::value summary);

/// Params of a request or notification and dispatched actions from a peer, brought to the 1.0
/// model.
json::object accept_params(dialect speaks, std::string_view method, json::object params);

} // namespace ahpd::ahp
