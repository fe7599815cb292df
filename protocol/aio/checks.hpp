#pragma once

#include "protocol/aio/route.hpp"
#include "protocol/json.hpp"

#include <string_view>
#include <utility>
#include <variant>

namespace ahpd::aio {

/// Checked members, defaults filled in, without nulls; or the errors of a validation answer, each
/// `{location, message, type}`.
struct checked {
  json::object members;
  json::array errors;
};

/// Reads a JSON body. An absent one is `{}`; members that no field describes are dropped.
checked check_body(std::string_view body, std::span<const field> fields);

/// Reads a query, whose texts become what their fields say. The last of a repeated name counts.
checked check_query(std::string_view query, std::span<const field> fields);

/// The query of a target, without its question mark.
std::string_view query_of(std::string_view target);

/// The pairs of a query, percent-decoded, "+" read as a space.
std::vector<std::pair<std::string, std::string>> pairs_of(std::string_view query);

} // namespace ahpd::aio
