#pragma once

#include "runtimes/disk/grep.hpp"

#include <chrono>
#include <map>
#include <string>

/// What both ways to search share; not for callers.
namespace ahpd::disk {

/// Makes an answer of lines that come file by file.
class grep_results {
public:
  explicit grep_results(const grep_request& what) : request_(what) {}

  void begin(std::string file);
  /// A line, or the lines of a match, with the number of the first from 1.
  void line(std::uint64_t number, std::string text, bool is_match);
  void end();

  /// Whether nothing more is wanted; the search is then ended.
  bool is_full() const { return answer_.truncated; }
  /// Ends the search although there may be more.
  void cut() { answer_.truncated = true; }

  grep_answer take(std::optional<std::uint64_t> searched, std::optional<std::uint64_t> matched);

private:
  struct found_line {
    std::string text;
    std::uint64_t lines = 1;
    bool is_match = false;
  };

  std::vector<std::string> context(std::uint64_t from, std::uint64_t to) const;

  const grep_request& request_;
  std::string file_;
  std::map<std::uint64_t, found_line> lines_; ///< of the file
  std::size_t passed_ = 0;                    ///< matches before the offset
  std::size_t bytes_ = 0;
  grep_answer answer_;
};

/// How long a search may take.
constexpr std::chrono::seconds longest_search{60};

/// Searches by a program. False: it could not be started.
bool grep_by_rg(const grep_request& what, const std::string& program, grep_answer& out);

} // namespace ahpd::disk
