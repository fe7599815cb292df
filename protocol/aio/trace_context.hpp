#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ahpd::aio {

/// Where a request stands in a distributed trace (W3C Trace Context, "traceparent").
struct trace_context {
  std::string trace_id;  ///< 32 hexadecimal digits
  std::string parent_id; ///< 16, of the caller's span
  bool sampled = false;
};

/// Nothing for a text that is none, such as one with an id of zeros.
std::optional<trace_context> parse_traceparent(std::string_view text);

std::string traceparent(std::string_view trace_id, std::string_view span_id, bool sampled);

} // namespace ahpd::aio
