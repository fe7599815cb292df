#include "protocol/random.hpp"

#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace ahpd {

namespace {

constexpr std::size_t most_at_once = 256; // getentropy gives no more

void put_hex(std::string& out, unsigned char byte) {
  out += "0123456789abcdef"[byte >> 4];
  out += "0123456789abcdef"[byte & 15];
}

} // namespace

void fill_random(void* to, std::size_t size) {
  for (auto* at = static_cast<unsigned char*>(to); size > 0;) {
    const auto part = std::min(size, most_at_once);
    if (::getentropy(at, part) != 0)
      throw std::runtime_error("The system gives no random bytes");
    at += part;
    size -= part;
  }
}

std::string random_hex(std::size_t bytes) {
  std::string raw(bytes, '\0');
  fill_random(raw.data(), raw.size());
  std::string out;
  for (const char byte : raw)
    put_hex(out, static_cast<unsigned char>(byte));
  return out;
}

std::string new_uuid() {
  unsigned char bytes[16];
  fill_random(bytes, sizeof bytes);
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80); // the variant
  std::string out;
  for (const unsigned char byte : bytes) {
    if (out.size() == 8 || out.size() == 13 || out.size() == 18 || out.size() == 23)
      out += '-';
    put_hex(out, byte);
  }
  return out;
}

} // namespace ahpd
