#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ahpd::ahp {

inline constexpr std::string_view root_uri = "ahp-root://";
inline constexpr std::string_view computers_uri = "x-ahpd-computers://";

/// The part of `uri` before the first ':', lower-cased; empty when there is none.
std::string scheme_of(std::string_view uri);

/// The id of a session URI, `<scheme>:/<id>`: everything after the scheme and the slashes. Nothing
/// for other schemes of this host (ahp-root, ahp-chat, x-…), for an empty id, for one over 256
/// bytes, and for one with a space, a control character, or a '/', '?' or '#' in it.
std::optional<std::string> session_id(std::string_view uri);

/// `ahp-chat://default/<base64url(session URI)>`, the URI that editors compute for a first chat.
std::string default_chat_uri(std::string_view session);

/// The session URI inside a default chat's URI, or nothing.
std::optional<std::string> session_of_default_chat(std::string_view chat);

/// The name and leaf of `computer://<name>[/<leaf>]`. The root gives an empty name.
struct computer_uri {
  std::string name;
  std::string leaf;
};
std::optional<computer_uri> parse_computer_uri(std::string_view uri);

std::string base64_encode(std::string_view bytes);
/// Nothing when `text` is not base64 with its padding.
std::optional<std::string> base64_decode(std::string_view text);
std::string base64url_encode(std::string_view bytes);
std::optional<std::string> base64url_decode(std::string_view text);

/// Whether `uri` has a scheme, no space or control character, and at most 2,048 bytes.
bool plausible_uri(std::string_view uri);

} // namespace ahpd::ahp
