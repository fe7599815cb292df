#pragma once

#include "runtimes/host/served_folders.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Work on the files of served folders. Paths are absolute and of any bytes but NUL. Calls block:
/// they belong on a pool for that. What changes something returns when it is on disk.
namespace ahpd::runtimes::files {

/// The most bytes a file may have to be read whole, and to be written.
constexpr std::uint64_t most_read = 16u << 20;
constexpr std::uint64_t most_written = 64u << 20;
/// The most entries of a folder that is listed, and of a tree that is copied or removed.
constexpr std::size_t most_listed = 50'000;
constexpr std::size_t most_in_tree = 200'000;

enum class kind : std::uint8_t { file, folder, link };

struct info {
  std::string path; ///< absolute and without links (but for its last name when links are kept)
  kind what = kind::file;
  std::uint64_t size = 0;
  std::int64_t modified_ms = 0; ///< Unix time
  std::int64_t changed_ms = 0;  ///< of its content, name or rights
  std::string version;          ///< of a file: differs whenever it was changed
};

struct entry {
  std::string name;
  bool is_folder = false; ///< also a link to one, when that is served
};

enum class write_mode : std::uint8_t {
  truncate, ///< keep [0, position), then the data
  append,   ///< `position` bytes before the end
  insert,   ///< at `position`
};

struct write {
  std::string path;
  std::string data;
  write_mode mode = write_mode::truncate;
  std::uint64_t position = 0;
  bool create_only = false;
  std::optional<std::string> if_version = std::nullopt; ///< only while the file is of this version
};

struct done {};

/// The bytes of a regular file.
file_outcome<std::string> read(const served_folders& in, const std::string& path);

/// Folders first, then by name.
file_outcome<std::vector<entry>> list(const served_folders& in, const std::string& path);

file_outcome<info> look(const served_folders& in, const std::string& path, bool follow_last_link);

/// Makes a folder and those it is in; one that is there is fine.
file_outcome<done> make_folder(const served_folders& in, const std::string& path);

/// Writes a file; a link is followed to what it names. What is there is replaced in one step and
/// keeps its mode and owner: nobody sees half of it, and a full disk leaves it as it was. A file
/// with a second name, or whose owner or folder this host may not write for, is written where it
/// is. An append at the very end goes behind what any other program appends meanwhile.
file_outcome<done> put(const served_folders& in, const write& what);

/// Copies a file or, with all in it, a folder; links are copied as links. A file at the destination
/// is replaced in one step unless `only_new`; a folder that is not empty never is.
file_outcome<done> copy(const served_folders& in, const std::string& from, const std::string& to,
                        bool only_new);

/// The same for moving; across file systems it is a copy and a removal.
file_outcome<done> move(const served_folders& in, const std::string& from, const std::string& to,
                        bool only_new);

/// Removes a file, a link or a folder; one with something in it only when `with_content`.
file_outcome<done> remove(const served_folders& in, const std::string& path, bool with_content);

} // namespace ahpd::runtimes::files
