#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Small pieces of text that the Engine API is made of.
namespace ahpd::docker {

enum class base64_alphabet : std::uint8_t { standard, url };

/// Base64 with padding, as Go's encoders write it.
std::string encode_base64(std::string_view bytes, base64_alphabet alphabet);

/// Reads either alphabet, with or without padding. Anything else gives nothing.
std::optional<std::string> decode_base64(std::string_view text);

/// `text` as one value in the query of a request target.
std::string escape_query(std::string_view text);

/// Seconds since 1970 of an HTTP `Date` field ("Mon, 30 Nov 2026 17:26:40 GMT").
std::optional<std::int64_t> parse_http_date(std::string_view text);

/// What an engine says in a refusal: the member `message` of its body, else the body, else its
/// status.
std::string refusal_text(unsigned status, std::string_view body);

/// An API version such as "1.41".
struct api_version {
  unsigned major = 0;
  unsigned minor = 0;

  auto operator<=>(const api_version&) const = default;
};

std::optional<api_version> parse_api_version(std::string_view text);
std::string to_string(api_version version);

} // namespace ahpd::docker
