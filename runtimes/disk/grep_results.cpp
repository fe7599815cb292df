#include "runtimes/disk/grep_results.hpp"

#include <algorithm>

namespace ahpd::disk {

namespace {

constexpr std::size_t most_bytes = 32u << 20; ///< of lines in an answer

void drop_ending(std::string& text) {
  if (!text.empty() && text.back() == '\n')
    text.pop_back();
  if (!text.empty() && text.back() == '\r')
    text.pop_back();
}

} // namespace

void grep_results::begin(std::string file) {
  file_ = std::move(file);
  lines_.clear();
}

void grep_results::line(std::uint64_t number, std::string text, bool is_match) {
  drop_ending(text);
  const auto more = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  lines_[number] = {std::move(text), more + 1, is_match};
}

/// Lines by their numbers, `to` exclusive, as far as they are known.
std::vector<std::string> grep_results::context(std::uint64_t from, std::uint64_t to) const {
  std::vector<std::string> out;
  for (auto i = lines_.lower_bound(from); i != lines_.end() && i->first < to; ++i)
    out.push_back(i->second.text);
  return out;
}

void grep_results::end() {
  for (const auto& [number, each] : lines_) {
    if (!each.is_match || passed_++ < request_.offset)
      continue;
    if (answer_.matches.size() == request_.max_results || bytes_ > most_bytes)
      return cut();
    grep_match found{file_, number, each.text, {}, {}};
    const auto behind = number + each.lines;
    found.before =
      context(number - std::min<std::uint64_t>(number, request_.context_before), number);
    found.after = context(behind, behind + request_.context_after);
    bytes_ += file_.size() + found.content.size();
    for (const auto* lines : {&found.before, &found.after})
      for (const auto& line : *lines)
        bytes_ += line.size();
    answer_.matches.push_back(std::move(found));
  }
  lines_.clear();
}

grep_answer grep_results::take(std::optional<std::uint64_t> searched,
                               std::optional<std::uint64_t> matched) {
  if (!answer_.truncated) {
    answer_.searched = searched;
    answer_.matched = matched;
  }
  return std::move(answer_);
}

} // namespace ahpd::disk
