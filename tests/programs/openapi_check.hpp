#pragma once

#include "protocol/json.hpp"

#include <string>

namespace ahpd::tests {

/// What is wrong with an answer by an OpenAPI document; empty: nothing. `target` may have a query.
/// Knows the part of JSON Schema that the document uses.
std::string openapi_fault(const json::value& document, const std::string& method,
                          const std::string& target, unsigned status,
                          const std::string& content_type, const std::string& body);

} // namespace ahpd::tests
