#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// Changes of a text as the editing routes ask for them. Lines end with "\n" or "\r\n".
namespace ahpd::aio {

/// The lines from `start` (from 0) to `end` (exclusive; none: the last), without the terminator of
/// the last one.
std::string_view lines_of(std::string_view text, std::size_t start, std::optional<std::size_t> end);

std::size_t count_lines(std::string_view text);

/// Which of several occurrences are replaced.
enum class occurrences : std::uint8_t { only, all, first, last };

struct edited {
  std::string text;
  std::size_t first_line = 0; ///< of what is new, from 0
  std::size_t lines = 1;      ///< that it has
  std::size_t replaced = 0;   ///< occurrences
};

/// The text, or why it cannot be made: a sentence.
using edit_outcome = std::variant<edited, std::string>;

edit_outcome replace_text(std::string_view text, std::string_view old_text,
                          std::string_view new_text, occurrences which);

/// Puts lines behind that number of lines (0: at the top), with the line ending that the text has.
edit_outcome insert_lines(std::string_view text, std::int64_t behind, std::string_view lines);

/// Lines from `start` (from 0) to `end` (exclusive) with their numbers (from 1), as `cat -n` writes
/// them.
std::string numbered(std::string_view text, std::size_t start, std::size_t end);

/// The same of what an edit made and a few lines around it.
std::string snippet(const edited& what);

/// A text whose characters are bytes: each of U+0000 to U+00FF is one. Nothing when one is greater.
std::optional<std::string> bytes_of_characters(std::string_view utf8);

} // namespace ahpd::aio
