#pragma once

#include <cstddef>
#include <string>

namespace ahpd::config {

/// `bytes` bytes of the system's randomness, as base64url without padding.
std::string random_secret(std::size_t bytes);

/// The token in a file, one newline at its end dropped. An absent file is made, 0600, with a fresh
/// secret of 32 bytes. Throws file_error.
std::string token_of_file(const std::string& path);

} // namespace ahpd::config
