#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

/// The few things that are done with small files, each whole or not at all.
namespace ahpd::config {

/// A file that could not be read or written: `<file> could not be read: ENOENT: No such file or
/// directory`.
struct file_error : std::runtime_error {
  file_error(const std::string& sentence, int number)
      : std::runtime_error(sentence), error_number(number) {}
  int error_number;
};

/// The whole file. One larger than `most` bytes is a file_error too (EFBIG).
std::string read_whole(const std::string& path, std::size_t most);

/// Whether nothing has that name.
bool is_absent(const std::string& path);

/// Replaces the file: written beside itself as `<file>.<pid>.tmp`, synced and renamed, 0600.
void write_whole(const std::string& path, std::string_view text);

/// Makes the file with this text, 0600; false when there is one already, which is left alone.
/// Nobody ever sees it half written.
bool create_whole(const std::string& path, std::string_view text);

/// Makes the directory and the missing ones above it, 0700.
void make_private_directory(const std::string& path);

/// `path` from `base` when it is relative; without dots, doubled slashes and a slash at the end.
std::string absolute_path(const std::string& path, const std::string& base);

} // namespace ahpd::config
