#pragma once

#include "runtimes/host/served_folders.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace ahpd::runtimes {

struct found_file {
  std::string name; ///< relative to the folder
  bool is_folder = false;
};

/// How far a search goes at most; what was found by then is its answer.
struct search_bounds {
  std::size_t most_found = 50;
  std::size_t most_seen = 20'000;
  std::chrono::milliseconds longest{300};
};

/// Files and folders below `folder` whose path has `query` in it, whatever its case: those whose
/// name begins with it first, near ones before deep ones. Links are not followed; .git and what the
/// .gitignore of a folder names without a `!` is passed over. Blocks.
std::vector<found_file> search_files(const served_folders& in, const std::string& folder,
                                     const std::string& query, const search_bounds& bounds = {});

} // namespace ahpd::runtimes
