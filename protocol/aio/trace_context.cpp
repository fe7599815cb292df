#include "protocol/aio/trace_context.hpp"

#include "protocol/percent.hpp"

#include <algorithm>

namespace ahpd::aio {

namespace {

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return percent::hex_digit(c) >= 0 && !(c >= 'A' && c <= 'F'); });
}

bool is_id(std::string_view text) {
  return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

} // namespace

std::optional<trace_context> parse_traceparent(std::string_view text) {
  // version "-" trace-id "-" parent-id "-" flags; a later version may have more behind them
  if (text.size() < 55 || text[2] != '-' || text[35] != '-' || text[52] != '-' ||
      !is_hex(text.substr(0, 2)) || !is_hex(text.substr(53, 2)) || text.substr(0, 2) == "ff")
    return std::nullopt;
  if (text.size() > 55 && (text.substr(0, 2) == "00" || text[55] != '-'))
    return std::nullopt;
  trace_context out{std::string(text.substr(3, 32)), std::string(text.substr(36, 16)),
                    (percent::hex_digit(text[54]) & 1) != 0};
  if (!is_id(out.trace_id) || !is_id(out.parent_id))
    return std::nullopt;
  return out;
}

std::string traceparent(std::string_view trace_id, std::string_view span_id, bool sampled) {
  return "00-" + std::string(trace_id) + "-" + std::string(span_id) + (sampled ? "-01" : "-00");
}

} // namespace ahpd::aio
