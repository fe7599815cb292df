#pragma once

#include "protocol/json.hpp"

#include <string_view>

/// What the log says of a request without telling a secret (spec "Logs, metrics, traces").
namespace ahpd::aio {

/// Whether a field of this name holds what must not be written down.
bool is_sensitive(std::string_view name);

/// `{"redacted":true,"len":…,"sha256":…}` of a value that is not written down.
json::object redacted(std::string_view value);

/// A query as an object, sensitive members redacted.
json::object query_summary(std::string_view query);

/// `{"captured":true,"size":…,"sha256":…,"params":…}` of a JSON body of at most 8 KiB whose length
/// was announced, else `{"captured":false,"reason":…}`.
json::object body_summary(std::string_view content_type, bool length_given, std::string_view body);

} // namespace ahpd::aio
