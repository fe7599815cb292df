#pragma once

#include <cstddef>
#include <string>

/// Unguessable bytes from the kernel's generator, which is safe for secrets and needs no library to
/// be set up. All throw std::runtime_error when the kernel gives none (it is older than
/// Linux 3.17).
namespace ahpd {

/// Fills `size` bytes.
void fill_random(void* to, std::size_t size);

/// `bytes` random bytes as twice as many lowercase hexadecimal digits.
std::string random_hex(std::size_t bytes);

/// A random UUID (RFC 4122, version 4), in lowercase.
std::string new_uuid();

} // namespace ahpd
