#include "protocol/utf8.hpp"

#include <algorithm>

namespace ahpd::utf8 {

namespace {

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Length of the character that `lead` begins; 0 for a byte that begins none.
std::size_t length(unsigned char lead) {
  if (lead < 0x80)
    return 1;
  if (lead >= 0xC2 && lead <= 0xDF)
    return 2;
  if (lead >= 0xE0 && lead <= 0xEF)
    return 3;
  if (lead >= 0xF0 && lead <= 0xF4)
    return 4;
  return 0;
}

/// Whether `second` may follow `lead`: no overlong form, no surrogate, nothing above U+10FFFF.
bool second_fits(unsigned char lead, unsigned char second) {
  if (lead == 0xE0)
    return second >= 0xA0;
  if (lead == 0xED)
    return second <= 0x9F;
  if (lead == 0xF0)
    return second >= 0x90;
  if (lead == 0xF4)
    return second <= 0x8F;
  return true;
}

/// Length of the whole and allowed character at the start of `bytes`; 0: there is none.
std::size_t first_character(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  const auto n = length(lead);
  if (n == 0 || n > bytes.size())
    return 0;
  for (std::size_t k = 1; k < n; ++k)
    if (!continues(bytes[k]))
      return 0;
  return n == 1 || second_fits(lead, static_cast<unsigned char>(bytes[1])) ? n : 0;
}

} // namespace

bool valid(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = first_character(bytes);
    if (n == 0)
      return false;
    bytes.remove_prefix(n);
  }
  return true;
}

std::string repaired(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const auto n = first_character(bytes);
    if (n == 0)
      out += "\xEF\xBF\xBD";
    else
      out += bytes.substr(0, n);
    bytes.remove_prefix(n == 0 ? 1 : n);
  }
  return out;
}

std::size_t trailing_part(std::string_view bytes) {
  const auto most = std::min<std::size_t>(3, bytes.size());
  for (std::size_t back = 1; back <= most; ++back) {
    const auto c = bytes[bytes.size() - back];
    if (continues(c))
      continue;
    return length(static_cast<unsigned char>(c)) > back ? back : 0;
  }
  return 0;
}

std::size_t leading_rest(std::string_view bytes) {
  std::size_t n = 0;
  while (n < std::min<std::size_t>(3, bytes.size()) && continues(bytes[n]))
    ++n;
  return n;
}

std::optional<std::size_t> at_utf16(std::string_view text, std::uint64_t units) {
  std::size_t at = 0;
  while (units > 0 && at < text.size()) {
    const auto size = std::max<std::size_t>(length(static_cast<unsigned char>(text[at])), 1);
    const std::uint64_t wide = size == 4 ? 2 : 1;
    if (wide > units)
      return std::nullopt;
    units -= wide;
    at += size;
  }
  return units == 0 && at <= text.size() ? std::optional(at) : std::nullopt;
}

std::uint64_t utf16_size(std::string_view text) {
  std::uint64_t units = 0;
  for (const char c : text)
    units += continues(c) ? 0 : static_cast<unsigned char>(c) >= 0xF0 ? 2 : 1;
  return units;
}

} // namespace ahpd::utf8
