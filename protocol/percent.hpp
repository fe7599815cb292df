#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Percent-encoding (RFC 3986, 2.1). Written out, because Boost.URL 1.81 aborts on some texts that
/// are no URI.
namespace ahpd::percent {

/// A hexadecimal digit's value, or -1.
int hex_digit(char c);

/// Whether a character is unreserved (RFC 3986, 2.3) or one of `also`.
bool stands_for_itself(char c, std::string_view also = {});

/// Any bytes with all but unreserved characters and those of `also` encoded.
std::string encode(std::string_view bytes, std::string_view also = {});

/// The bytes that a text stands for. Nothing when a "%" does not stand before two digits.
std::optional<std::string> decode(std::string_view text);

} // namespace ahpd::percent
