#include "protocol/secret.hpp"

namespace ahpd {

bool same_secret(std::string_view secret, std::string_view presented) {
  unsigned char differ = secret.size() == presented.size() ? 0 : 1;
  if (secret.empty())
    return presented.empty();
  for (std::size_t i = 0; i < presented.size(); ++i)
    differ |= static_cast<unsigned char>(presented[i] ^ secret[i % secret.size()]);
  return differ == 0;
}

} // namespace ahpd
