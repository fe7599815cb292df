#include "protocol/ahp/file_uri.hpp"

#include <algorithm>

namespace ahpd::ahp {

// Written out, because Boost.URL 1.81 aborts on some texts that are no URI ("file:?").

namespace {

/// What a path holds as it is (RFC 3986 "pchar", and the slash).
bool stands_for_itself(char c) {
  constexpr std::string_view marks = "-._~!$&'()*+,;=:@/";
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         marks.find(c) != std::string_view::npos;
}

std::optional<unsigned> hex_digit(char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  const auto at = digits.find(lower);
  return at == std::string_view::npos ? std::nullopt : std::optional(static_cast<unsigned>(at));
}

/// Takes `prefix` off the front of `text`, letters of either case.
bool take_off(std::string_view& text, std::string_view prefix) {
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  if (text.size() < prefix.size() || !std::equal(prefix.begin(), prefix.end(), text.begin(),
                                                 [&](char b, char a) { return same(a, b); }))
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

} // namespace

std::optional<std::string> file_path(std::string_view uri) {
  if (!take_off(uri, "file:"))
    return std::nullopt;
  if (uri.substr(0, 2) == "//") {
    uri.remove_prefix(2);
    take_off(uri, "localhost");
  }
  if (uri.empty() || uri.front() != '/')
    return std::nullopt;
  std::string path;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    if (uri[i] != '%') {
      if (!stands_for_itself(uri[i]))
        return std::nullopt;
      path += uri[i];
      continue;
    }
    const auto high = i + 2 < uri.size() ? hex_digit(uri[i + 1]) : std::nullopt;
    const auto low = high ? hex_digit(uri[i + 2]) : std::nullopt;
    if (!low || (*high == 0 && *low == 0))
      return std::nullopt;
    path += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return path;
}

std::string file_uri(std::string_view path) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const char c : path) {
    if (stands_for_itself(c)) {
      uri += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    uri += '%';
    uri += digits[byte / 16];
    uri += digits[byte % 16];
  }
  return uri;
}

} // namespace ahpd::ahp
