#include "actors/sandbox/auth.hpp"

#include "protocol/aio/checks.hpp"
#include "protocol/percent.hpp"
#include "protocol/secret.hpp"

#include <algorithm>
#include <array>

namespace ahpd::sandbox {

namespace {

/// Open with all below them.
constexpr std::array<std::string_view, 5> open_paths{"/health", "/v1/ping", "/v1/openapi.json",
                                                     "/v2/openapi.json", "/internal/auth"};

std::string_view field(const transport::fields& headers, std::string_view name) {
  const auto i = headers.find(name);
  return i == headers.end() ? std::string_view() : std::string_view(i->second);
}

bool is_same_word(std::string_view a, std::string_view lower) {
  return std::equal(a.begin(), a.end(), lower.begin(), lower.end(),
                    [](char x, char y) { return (x >= 'A' && x <= 'Z' ? x + 32 : x) == y; });
}

bool has_in_query(const std::string& key, std::string_view query) {
  constexpr std::string_view name = "api_key=";
  while (!query.empty()) {
    const auto pair = query.substr(0, query.find('&'));
    if (pair.starts_with(name)) {
      const auto given = pair.substr(name.size());
      // A "+" is a plus to some clients and a space to others.
      if (same_secret(key, percent::decode(given).value_or(std::string(given))))
        return true;
      for (const auto& [ignored, value] : aio::pairs_of(pair))
        if (same_secret(key, value))
          return true;
    }
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
  }
  return false;
}

} // namespace

bool is_public(std::string_view target) {
  const auto path = target.substr(0, target.find('?'));
  return path == "/" || std::any_of(open_paths.begin(), open_paths.end(), [&](auto open) {
           return path.starts_with(open) &&
                  (path.size() == open.size() || path[open.size()] == '/');
         });
}

bool is_authorised(const std::string& key, const transport::fields& headers,
                   std::string_view target) {
  if (key.empty())
    return true;
  constexpr std::string_view bearer = "bearer ";
  const auto authorization = field(headers, "Authorization");
  if (authorization.size() > bearer.size() &&
      is_same_word(authorization.substr(0, bearer.size()), bearer) &&
      same_secret(key, authorization.substr(bearer.size())))
    return true;
  for (const char* name : {"x-api-key", "X-AIO-API-Key"})
    if (const auto given = field(headers, name); !given.empty() && same_secret(key, given))
      return true;
  return has_in_query(key, aio::query_of(target));
}

} // namespace ahpd::sandbox
