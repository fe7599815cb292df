#pragma once

#include "runtimes/disk/fault.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ahpd::disk {

struct grep_request {
  std::string path; ///< a folder or a regular file
  std::string pattern;
  bool recursive = true;
  std::vector<std::string> include; ///< globs of files
  std::vector<std::string> exclude; ///< globs of files and folders
  std::string type;                 ///< ripgrep's name of a kind of files; empty: all
  bool case_insensitive = false;
  bool fixed_strings = false;
  bool multiline = false; ///< a match may span lines, and "." is a newline, too
  std::size_t context_before = 0;
  std::size_t context_after = 0;
  std::size_t max_results = 500;
  std::size_t offset = 0;
  std::uint64_t max_file_size = 1u << 20; ///< larger files are passed over
};

struct grep_match {
  std::string file; ///< whole path
  std::uint64_t line = 0;
  std::string content; ///< the line, or the lines that it spans, without the last one's ending
  std::vector<std::string> before;
  std::vector<std::string> after;
};

struct grep_answer {
  std::vector<grep_match> matches; ///< by path and line
  /// Files; nothing when the search was ended early.
  std::optional<std::uint64_t> searched;
  std::optional<std::uint64_t> matched;
  bool truncated = false;
};

/// Searches by `rg` where the PATH of `environment` has it, else by itself. Both pass over names
/// with a dot at their beginning and files with NUL bytes, and heed no ignore files. Ends after a
/// minute, or with 32 MiB of lines. A pattern, glob or type that is none is a `bad_request`.
grep_answer grep(const grep_request& what, const std::map<std::string, std::string>& environment);

/// The search by itself.
grep_answer grep_here(const grep_request& what);

/// "500K", "1M", "2G" or a number of bytes; nothing when it is none.
std::optional<std::uint64_t> size_of_text(const std::string& text);

/// The lines of a text file that hold a regular expression, with their numbers from 0.
std::vector<std::pair<std::uint64_t, std::string>> lines_with(const std::string& path,
                                                              const std::string& expression);

} // namespace ahpd::disk
