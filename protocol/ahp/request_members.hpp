#pragma once

#include "protocol/json.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ahpd::ahp {

/// Checks the members that a request's params have: each that the method takes must be of its JSON
/// type, whether it is made use of or not. Gives a sentence that names the first that is not. Which
/// members must be there is for whoever serves the method to say; null counts as absent, and
/// members that nobody defined are passed over.
std::optional<std::string> misshapen_member(std::string_view method, const json::object& params);

} // namespace ahpd::ahp
