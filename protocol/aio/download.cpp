#include "protocol/aio/download.hpp"

#include "protocol/percent.hpp"
#include "protocol/utf8.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

namespace ahpd::aio {

namespace {

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t out = 0;
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, out);
  if (read.ec == std::errc::result_out_of_range && read.ptr == end)
    return UINT64_MAX;
  return read.ec == std::errc() && read.ptr == end ? std::optional(out) : std::nullopt;
}

} // namespace

std::optional<byte_range> range_of(std::string_view field, std::uint64_t size) {
  constexpr std::string_view unit = "bytes=";
  if (!field.starts_with(unit) || field.find(',') != std::string_view::npos)
    return std::nullopt;
  const auto spec = field.substr(unit.size());
  const auto dash = spec.find('-');
  if (dash == std::string_view::npos)
    return std::nullopt;
  const auto first = number(spec.substr(0, dash)), last = number(spec.substr(dash + 1));
  const bool open = dash + 1 == spec.size();
  if (dash == 0) { // the last bytes
    if (!last)
      return std::nullopt;
    const auto tail = std::min(*last, size);
    return byte_range{size - tail, tail};
  }
  if (!first || (!open && (!last || *last < *first)))
    return std::nullopt;
  if (*first >= size)
    return byte_range{};
  return byte_range{*first, open ? size - *first : std::min(*last, size - 1) - *first + 1};
}

bool has_tag(std::string_view list, std::string_view tag) {
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    auto each = list.substr(0, end);
    list.remove_prefix(std::min(list.size(), end + 1));
    while (!each.empty() && (each.front() == ' ' || each.front() == '\t'))
      each.remove_prefix(1);
    while (!each.empty() && (each.back() == ' ' || each.back() == '\t'))
      each.remove_suffix(1);
    if (each.starts_with("W/"))
      each.remove_prefix(2);
    if (each == "*" || each == tag)
      return true;
  }
  return false;
}

std::string attachment(const std::string& name) {
  std::string plain;
  bool is_plain = true;
  for (const char c : name) {
    const bool fits = c >= 0x20 && c < 0x7f;
    is_plain = is_plain && fits;
    if (c == '"' || c == '\\')
      plain += '\\';
    plain += fits ? c : '_';
  }
  auto out = "attachment; filename=\"" + plain + "\"";
  if (!is_plain)
    out += "; filename*=UTF-8''" + percent::encode(utf8::repaired(name));
  return out;
}

std::string http_date(std::int64_t unix_seconds) {
  const auto seconds = static_cast<std::time_t>(unix_seconds);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 40> text{}; // this program never leaves the C locale
  std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return text.data();
}

} // namespace ahpd::aio
