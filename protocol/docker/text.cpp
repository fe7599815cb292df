#include "protocol/docker/text.hpp"

#include "protocol/json.hpp"

#include <array>
#include <charconv>
#include <chrono>

namespace ahpd::docker {

namespace {

constexpr std::string_view standard_digits =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view url_digits =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Longest engine text that is repeated to a person.
constexpr std::size_t most_text = 2000;

int digit_value(char c) {
  auto at = standard_digits.find(c);
  if (at == std::string_view::npos)
    at = url_digits.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

template <class Number> bool read_number(std::string_view text, Number& out) {
  const auto* end = text.data() + text.size();
  const auto [at, ec] = std::from_chars(text.data(), end, out);
  return ec == std::errc() && at == end;
}

std::string_view trimmed(std::string_view text) {
  const auto blank = " \t\r\n";
  const auto from = text.find_first_not_of(blank);
  if (from == std::string_view::npos)
    return {};
  return text.substr(from, text.find_last_not_of(blank) - from + 1);
}

} // namespace

std::string encode_base64(std::string_view bytes, base64_alphabet alphabet) {
  const auto digits = alphabet == base64_alphabet::url ? url_digits : standard_digits;
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto left = bytes.size() - i;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < left ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += k <= left ? digits[group >> (18 - 6 * k) & 63U] : '=';
  }
  return out;
}

std::optional<std::string> decode_base64(std::string_view text) {
  while (!text.empty() && text.back() == '=')
    text.remove_suffix(1);
  if (text.size() % 4 == 1)
    return std::nullopt;
  std::string out;
  std::uint32_t group = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const int value = digit_value(c);
    if (value < 0)
      return std::nullopt;
    group = (group << 6 | static_cast<std::uint32_t>(value)) & 0xffffffU;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>(group >> bits & 0xffU);
    }
  }
  return out;
}

std::string escape_query(std::string_view text) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    const auto byte = static_cast<unsigned char>(c);
    if (plain)
      out += c;
    else
      (out += '%') += {hex[byte >> 4], hex[byte & 15U]};
  }
  return out;
}

std::optional<std::int64_t> parse_http_date(std::string_view text) {
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  // "Mon, 30 Nov 2026 17:26:40 GMT": every part has its fixed place.
  if (text.size() != 29 || text.substr(25) != " GMT" || text[19] != ':' || text[22] != ':')
    return std::nullopt;
  unsigned month = 0;
  while (month < months.size() && months[month] != text.substr(8, 3))
    ++month;
  unsigned day = 0;
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
  int year = 0;
  if (month == months.size() || !read_number(text.substr(5, 2), day) ||
      !read_number(text.substr(12, 4), year) || !read_number(text.substr(17, 2), hour) ||
      !read_number(text.substr(20, 2), minute) || !read_number(text.substr(23, 2), second))
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month + 1),
                                         std::chrono::day(day)};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60)
    return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return std::int64_t{days} * 86'400 + hour * 3'600 + minute * 60 + second;
}

std::string refusal_text(unsigned status, std::string_view body) {
  std::string error;
  const auto parsed = json::parse_text(body, 8, error);
  const auto message = parsed ? json::string_member(*parsed, "message") : std::nullopt;
  auto text = trimmed(message ? *message : body);
  if (text.empty())
    return "HTTP status " + std::to_string(status);
  if (text.size() <= most_text)
    return std::string(text);
  auto cut = most_text;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0U) == 0x80U)
    --cut; // not inside a character
  return std::string(text.substr(0, cut)) + "…";
}

std::optional<api_version> parse_api_version(std::string_view text) {
  const auto dot = text.find('.');
  api_version out;
  if (dot == std::string_view::npos || !read_number(text.substr(0, dot), out.major) ||
      !read_number(text.substr(dot + 1), out.minor))
    return std::nullopt;
  return out;
}

std::string to_string(api_version version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

} // namespace ahpd::docker
