#pragma once

#include "runtimes/disk/place.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include <sys/stat.h>

namespace ahpd::disk {

/// The most bytes of a file that is read as text.
constexpr std::uint64_t most_text = 16u << 20;

/// An open regular file; anything else is refused before it is opened, so that nothing waits for
/// the other end of a pipe and no device takes notice.
struct open_file {
  process::descriptor file;
  struct stat s {};
};
open_file open_regular(const std::string& path);

/// All bytes of a regular file, those of /proc whose size is 0 included.
std::string read_whole(const std::string& path);

/// The same of UTF-8.
std::string read_text(const std::string& path);

enum class writing : std::uint8_t { replace, append };

/// Writes a file, following a link to what it names, and makes the folders it is in. Without an
/// owner the file stays the same one and has its new bytes in it; with one it is replaced in one
/// step by a new file that keeps the mode. A full disk leaves it as it was.
void write_file(const std::string& path, std::string_view bytes, writing how,
                const maybe_owner& whose);

} // namespace ahpd::disk
