#include "config/identity.hpp"

#include "config/files.hpp"
#include "protocol/random.hpp"

#include <cctype>
#include <stdexcept>

namespace ahpd::config {

namespace {

constexpr std::size_t most_bytes = 256;

bool is_dash(std::size_t at) {
  return at == 8 || at == 13 || at == 18 || at == 23;
}

} // namespace

bool is_uuid(std::string_view text) {
  if (text.size() != 36)
    return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (is_dash(i) ? c != '-' : !std::isxdigit(c))
      return false;
  }
  return true;
}

std::string host_id(const std::string& directory) {
  const std::string file = directory + "/host-id";
  if (is_absent(file))
    create_whole(file, new_uuid() + '\n');
  std::string text = read_whole(file, most_bytes); // another hub may have been first
  if (!text.empty() && text.back() == '\n')
    text.pop_back();
  if (!is_uuid(text))
    throw std::runtime_error(file +
                             " must hold one UUID: the machines of this host are found by it, "
                             "so put its old content back, or remove it to begin anew");
  return text;
}

} // namespace ahpd::config
