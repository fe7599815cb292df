#include "config/token.hpp"

#include "config/files.hpp"
#include "protocol/random.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <vector>

namespace ahpd::config {

namespace {

constexpr std::size_t most_bytes = 4096;

std::string read_token(const std::string& path) {
  std::string text = read_whole(path, most_bytes);
  if (!text.empty() && text.back() == '\n')
    text.pop_back();
  if (!text.empty() && text.back() == '\r')
    text.pop_back();
  return text;
}

} // namespace

std::string random_secret(std::size_t bytes) {
  std::vector<unsigned char> raw(bytes);
  fill_random(raw.data(), bytes);
  std::string text((bytes + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), raw.data(),
                                   static_cast<int>(bytes));
  text.resize(static_cast<std::size_t>(size));
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text.substr(0, text.find('='));
}

std::string token_of_file(const std::string& path) {
  if (is_absent(path))
    create_whole(path, random_secret(32) + '\n'); // whoever is first, everyone then reads the same
  return read_token(path);
}

} // namespace ahpd::config
