#include "protocol/ahp/file_uri.hpp"

#include "protocol/percent.hpp"

#include <algorithm>

namespace ahpd::ahp {

namespace {

/// What a path holds as it is, beside unreserved characters (RFC 3986 "pchar", and the slash).
constexpr std::string_view path_marks = "!$&'()*+,;=:@/";

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
  const auto may_be = [](char c) { return c == '%' || percent::stands_for_itself(c, path_marks); };
  auto path = percent::decode(uri);
  if (!path || path->find('\0') != std::string::npos ||
      !std::all_of(uri.begin(), uri.end(), may_be))
    return std::nullopt;
  return path;
}

std::string file_uri(std::string_view path) {
  return "file://" + percent::encode(path, path_marks);
}

} // namespace ahpd::ahp
