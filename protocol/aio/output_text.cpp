#include "protocol/aio/output_text.hpp"

#include "protocol/utf8.hpp"

namespace ahpd::aio {

namespace {

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

} // namespace

std::size_t characters(std::string_view bytes) {
  std::size_t out = 0;
  for (const char c : bytes)
    out += begins_character(c) ? 1 : 0;
  return out;
}

std::string first_characters(std::string_view bytes, std::size_t count) {
  std::size_t end = 0;
  while (end < bytes.size() && (count > 0 || !begins_character(bytes[end])))
    count -= begins_character(bytes[end++]) ? 1 : 0;
  return utf8::repaired(bytes.substr(0, end));
}

std::string last_characters(std::string_view bytes, std::size_t count) {
  std::size_t begin = bytes.size();
  while (begin > 0 && count > 0)
    count -= begins_character(bytes[--begin]) ? 1 : 0;
  return utf8::repaired(bytes.substr(begin));
}

std::string cut_marker(std::uint64_t characters) {
  return "\n...[truncated " + std::to_string(characters) + " characters]...\n";
}

std::string cut_middle(std::string_view bytes, std::size_t limit) {
  const auto all = limit == 0 ? 0 : characters(bytes);
  if (all <= limit)
    return utf8::repaired(bytes);
  const auto head = limit - limit / 2, tail = limit / 2;
  return first_characters(bytes, head) + cut_marker(all - limit) + last_characters(bytes, tail);
}

} // namespace ahpd::aio
