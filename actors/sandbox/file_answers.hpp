#pragma once

#include "protocol/json.hpp"
#include "runtimes/disk/entries.hpp"

#include <string>
#include <string_view>
#include <vector>

/// How answers tell of files.
namespace ahpd::sandbox {

/// Octal, as "644".
std::string permissions_text(mode_t mode);

/// ".txt" of "a.txt"; nothing of a directory.
json::value extension_of(const disk::entry& what);

/// One of `files` in a listing; `root` is the directory, without a slash at its end.
json::object listed_entry(const std::string& root, const disk::entry& what);

/// Sorts by "path", "name", "size", "modified" or "type" (directories, then by extension); what is
/// equal goes by path.
void sort_entries(std::vector<disk::entry>& entries, std::string_view by, bool descending);

/// A path below a directory.
std::string joined_path(const std::string& root, const std::string& below);

} // namespace ahpd::sandbox
