#include "protocol/ahp/uris.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace ahpd::ahp {

namespace {

constexpr std::size_t max_uri_bytes = 2048;
constexpr std::size_t max_session_id_bytes = 256;
constexpr std::string_view default_chat_prefix = "ahp-chat://default/";

/// Schemes that name something else than a session here. What begins with `ahp-` (sessions apart)
/// or `x-` is never a session either.
constexpr std::array<std::string_view, 16> not_sessions{
  "file", "http", "https", "ws",   "wss",     "mcp",  "computer", "devcontainer",
  "bot",  "user", "team",  "role", "project", "node", "policy",   "usage",
};

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool space_or_control(char c) {
  const auto u = static_cast<unsigned char>(c);
  return u <= 0x20 || u == 0x7f;
}

bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool valid_scheme(std::string_view scheme) {
  return !scheme.empty() && is_alpha(scheme.front()) &&
         std::all_of(scheme.begin(), scheme.end(), [](char c) {
           return is_alpha(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
         });
}

constexpr std::string_view plain_alphabet =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view url_alphabet =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encode(std::string_view bytes, std::string_view alphabet, bool padded) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    for (held += 8; held >= 6; held -= 6)
      out += alphabet[(bits >> (held - 6)) & 63];
  }
  if (held > 0)
    out += alphabet[(bits << (6 - held)) & 63];
  while (padded && out.size() % 4 != 0)
    out += '=';
  return out;
}

std::array<std::int8_t, 256> reverse(std::string_view alphabet) {
  std::array<std::int8_t, 256> table;
  table.fill(-1);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  return table;
}

/// Of `text` without its padding. Bits left over must be zero: one text for one content.
std::optional<std::string> decode(std::string_view text,
                                  const std::array<std::int8_t, 256>& table) {
  if (text.size() % 4 == 1)
    return std::nullopt;
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const auto sextet = table[static_cast<unsigned char>(c)];
    if (sextet < 0)
      return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(sextet);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>((bits >> held) & 0xff);
    }
  }
  if ((bits & ((1u << held) - 1)) != 0)
    return std::nullopt;
  return out;
}

} // namespace

std::string scheme_of(std::string_view uri) {
  const auto colon = uri.find(':');
  if (colon == std::string_view::npos)
    return {};
  std::string scheme(uri.substr(0, colon));
  for (char& c : scheme)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return scheme;
}

std::optional<std::string> session_id(std::string_view uri) {
  const auto scheme = scheme_of(uri);
  if (!valid_scheme(scheme) || starts_with(scheme, "x-") ||
      (starts_with(scheme, "ahp-") && scheme != "ahp-session") ||
      std::find(not_sessions.begin(), not_sessions.end(), scheme) != not_sessions.end())
    return std::nullopt;
  auto rest = uri.substr(scheme.size() + 1);
  const auto id = rest.substr(std::min(rest.find_first_not_of('/'), rest.size()));
  if (id.size() == rest.size() || id.empty() || id.size() > max_session_id_bytes)
    return std::nullopt;
  const bool bad = std::any_of(id.begin(), id.end(), [](char c) {
    return space_or_control(c) || c == '/' || c == '?' || c == '#';
  });
  return bad ? std::nullopt : std::optional<std::string>(id);
}

std::string default_chat_uri(std::string_view session) {
  return std::string(default_chat_prefix) + base64url_encode(session);
}

std::optional<std::string> session_of_default_chat(std::string_view chat) {
  if (!starts_with(chat, default_chat_prefix))
    return std::nullopt;
  auto session = base64url_decode(chat.substr(default_chat_prefix.size()));
  if (!session || !session_id(*session))
    return std::nullopt;
  return session;
}

std::optional<computer_uri> parse_computer_uri(std::string_view uri) {
  if (!plausible_uri(uri) || scheme_of(uri) != "computer")
    return std::nullopt;
  auto rest = uri.substr(std::string_view("computer:").size());
  if (rest.find_first_not_of('/') == std::string_view::npos)
    return computer_uri{}; // editors also write the root without its slashes
  if (!starts_with(rest, "//") || rest.find_first_of("?#") != std::string_view::npos)
    return std::nullopt;
  rest.remove_prefix(2);
  const auto slash = rest.find('/');
  computer_uri out{std::string(rest.substr(0, slash)), {}};
  if (slash != std::string_view::npos)
    out.leaf = rest.substr(slash + 1);
  if (out.name.empty())
    return std::nullopt;
  return out;
}

std::string base64_encode(std::string_view bytes) {
  return encode(bytes, plain_alphabet, true);
}

std::optional<std::string> base64_decode(std::string_view text) {
  static const auto table = reverse(plain_alphabet);
  if (text.size() % 4 != 0)
    return std::nullopt;
  for (int i = 0; i < 2 && !text.empty() && text.back() == '='; ++i)
    text.remove_suffix(1);
  return decode(text, table);
}

std::string base64url_encode(std::string_view bytes) {
  return encode(bytes, url_alphabet, false);
}

std::optional<std::string> base64url_decode(std::string_view text) {
  static const auto table = reverse(url_alphabet);
  return decode(text, table);
}

bool plausible_uri(std::string_view uri) {
  return uri.size() <= max_uri_bytes && valid_scheme(scheme_of(uri)) &&
         std::none_of(uri.begin(), uri.end(), space_or_control);
}

} // namespace ahpd::ahp
