#pragma once

#include "runtimes/disk/place.hpp"

#include <cstdint>
#include <string>

namespace ahpd::disk {

/// Makes a folder. With `parents` those it is in, too, and one that is there is fine: false.
bool make_folder(const std::string& path, bool parents, const maybe_owner& whose);

struct copied {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

/// Copies a file, a link (as a link) or a folder with all in it; modes are kept. What is at the
/// destination is replaced in one step, or EEXIST; a folder is never replaced by something else,
/// nor the other way round.
copied copy(const std::string& from, const std::string& to, bool overwrite,
            const maybe_owner& whose);

/// The same for moving; owners and times are kept. Across file systems it is a copy and a removal.
void move(const std::string& from, const std::string& to, bool overwrite);

/// Removes a file, a link or a folder; one with something in it only when `recursive`, else
/// ENOTEMPTY. True: it was a folder.
bool remove(const std::string& path, bool recursive);

} // namespace ahpd::disk
