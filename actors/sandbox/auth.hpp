#pragma once

#include "protocol/transport/http.hpp"

#include <string>
#include <string_view>

/// The one credential (spec "Authentication").
namespace ahpd::sandbox {

/// Whether a path answers without the key.
bool is_public(std::string_view target);

/// Whether a request presents the key in any of its forms: `Authorization: Bearer`, `x-api-key`,
/// `X-AIO-API-Key` or `?api_key=` of `target`. Always when there is no key.
bool is_authorised(const std::string& key, const transport::fields& headers,
                   std::string_view target);

} // namespace ahpd::sandbox
