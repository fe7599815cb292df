#include "protocol/aio/text_edit.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace ahpd::aio {

namespace {

constexpr std::size_t around = 4; ///< lines of a snippet before and behind what is new

/// Where a line begins; the end of the text for one that it has not.
std::size_t begin_of(std::string_view text, std::size_t line) {
  std::size_t at = 0;
  for (; line > 0 && at < text.size(); --line) {
    const auto end = text.find('\n', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  return at;
}

std::size_t newlines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string_view ending_of(std::string_view text) {
  const auto end = text.find('\n');
  return end != std::string_view::npos && end > 0 && text[end - 1] == '\r' ? "\r\n" : "\n";
}

std::string with_ending(std::string_view lines, std::string_view ending) {
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i] == '\n' && (i == 0 || lines[i - 1] != '\r'))
      out += ending;
    else
      out += lines[i];
  return out;
}

} // namespace

std::size_t count_lines(std::string_view text) {
  return newlines(text) + (!text.empty() && text.back() != '\n' ? 1 : 0);
}

std::string_view lines_of(std::string_view text, std::size_t start,
                          std::optional<std::size_t> end) {
  if (end && *end <= start)
    return {};
  const auto from = begin_of(text, start);
  auto rest = text.substr(from);
  if (end)
    rest = rest.substr(0, begin_of(rest, *end - start));
  if (!rest.empty() && rest.back() == '\n')
    rest.remove_suffix(rest.size() > 1 && rest[rest.size() - 2] == '\r' ? 2 : 1);
  return rest;
}

edit_outcome replace_text(std::string_view text, std::string_view old_text,
                          std::string_view new_text, occurrences which) {
  if (old_text.empty())
    return std::string("old_str must not be empty");
  std::vector<std::size_t> found;
  for (auto at = text.find(old_text); at != std::string_view::npos;
       at = text.find(old_text, at + old_text.size()))
    found.push_back(at);
  if (found.empty())
    return std::string("old_str not found in file");
  if (which == occurrences::only && found.size() > 1)
    return std::string("old_str has multiple occurrences; replace_mode is required");
  if (which == occurrences::first)
    found.resize(1);
  if (which == occurrences::last)
    found = {text.rfind(old_text)};
  edited out;
  std::size_t done = 0;
  for (const auto at : found) {
    out.text += text.substr(done, at - done);
    out.text += new_text;
    done = at + old_text.size();
  }
  out.text += text.substr(done);
  out.first_line = newlines(text.substr(0, found.front()));
  out.lines = newlines(new_text) + 1;
  out.replaced = found.size();
  return out;
}

edit_outcome insert_lines(std::string_view text, std::int64_t behind, std::string_view lines) {
  const auto all = count_lines(text);
  if (behind < 0 || static_cast<std::uint64_t>(behind) > all)
    return "insert_line must be between 0 and " + std::to_string(all);
  const auto ending = ending_of(text);
  const auto at = begin_of(text, static_cast<std::size_t>(behind));
  auto more = with_ending(lines, ending);
  edited out;
  out.first_line = static_cast<std::size_t>(behind);
  out.lines = count_lines(lines);
  if (at > 0 && text[at - 1] != '\n') // the last line has no ending, and then has none either
    more.insert(0, ending);
  else if (more.empty() || more.back() != '\n')
    more += ending;
  out.text = std::string(text.substr(0, at)) + more + std::string(text.substr(at));
  out.lines = std::max<std::size_t>(out.lines, 1);
  return out;
}

std::string numbered(std::string_view text, std::size_t start, std::size_t end) {
  std::string out;
  auto at = begin_of(text, start);
  for (auto line = start; line < end && at < text.size(); ++line) {
    const auto next = begin_of(text.substr(at), 1);
    char number[32];
    std::snprintf(number, sizeof number, "%6zu\t", line + 1);
    out += number;
    out += text.substr(at, next);
    at += next;
  }
  return out;
}

std::string snippet(const edited& what) {
  const auto first = what.first_line > around ? what.first_line - around : 0;
  return numbered(what.text, first, what.first_line + what.lines + around);
}

std::optional<std::string> bytes_of_characters(std::string_view utf8) {
  std::string out;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto c = static_cast<unsigned char>(utf8[i]);
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if ((c == 0xc2 || c == 0xc3) && i + 1 < utf8.size()) {
      const auto next = static_cast<unsigned char>(utf8[++i]);
      out += static_cast<char>((c & 0x03) << 6 | (next & 0x3f));
    } else {
      return std::nullopt;
    }
  }
  return out;
}

} // namespace ahpd::aio
