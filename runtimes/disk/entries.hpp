#pragma once

#include "runtimes/disk/fault.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include <sys/types.h>

namespace ahpd::disk {

/// What something in a folder is. A link is told by what it names, where that is there.
struct entry {
  std::string name;
  std::string path; ///< relative to the folder that the walk began in
  bool is_folder = false;
  bool is_file = false; ///< a regular one
  bool is_link = false;
  std::uint64_t size = 0;
  std::int64_t modified = 0; ///< Unix seconds
  mode_t mode = 0;           ///< its twelve bits
};

/// What has a path; a link by itself unless it is followed.
entry look_at(const std::string& path, bool follow);

struct walk_rules {
  std::size_t depth = std::numeric_limits<std::size_t>::max(); ///< 1: only the folder's own
  bool hidden = true;  ///< names with a dot at their beginning, and what is below them
  bool sorted = false; ///< by name in each folder; else as the system gives them
};

enum class then : std::uint8_t {
  go_on,
  skip, ///< go on, but not into this folder
  stop,
};

/// Calls `each` for everything below a folder until it says stop, a folder before what is in it.
/// Links are not gone into, and neither is what may not be read or is deeper than 200 folders.
/// Throws only when `path` itself is no folder that can be read.
void walk(const std::string& path, const walk_rules& rules,
          const std::function<then(const entry&)>& each);

} // namespace ahpd::disk
