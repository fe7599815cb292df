#pragma once

#include "protocol/aio/routes.hpp"
#include "protocol/json.hpp"

namespace ahpd::aio {

/// Which routes a document tells of.
enum class document : std::uint8_t { all, v1, v2 };

/// The OpenAPI 3.1 document of the routes that are served.
json::object openapi(document which, surface served, std::string_view version);

} // namespace ahpd::aio
