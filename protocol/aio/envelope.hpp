#pragma once

#include "protocol/json.hpp"

#include <string_view>

/// What nearly every answer of aiod is wrapped into (spec "Envelope").
namespace ahpd::aio {

inline constexpr std::string_view fine = "Operation successful";

json::object success(json::value data, std::string_view message = fine);
json::object failure(std::string_view message, json::value data = nullptr,
                     json::value hint = nullptr);

/// The answer to a request whose query or body is wrong, status 422 (spec "Validation error").
json::object invalid(json::array errors);

} // namespace ahpd::aio
