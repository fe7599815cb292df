#include "protocol/docker/streams.hpp"

#include <algorithm>

namespace ahpd::docker {

namespace {

constexpr std::size_t header_size = 8;

} // namespace

bool demultiplexer::feed(std::string_view bytes, const sink& to) {
  while (!bytes.empty() && !broken_) {
    if (left_ > 0) {
      const auto n = std::min<std::size_t>(left_, bytes.size());
      to(kind_, bytes.substr(0, n));
      left_ -= static_cast<std::uint32_t>(n);
      bytes.remove_prefix(n);
      continue;
    }
    const auto n = std::min(header_size - header_.size(), bytes.size());
    header_ += bytes.substr(0, n);
    bytes.remove_prefix(n);
    if (header_.size() < header_size)
      break;
    const auto at = [this](std::size_t i) { return static_cast<unsigned char>(header_[i]); };
    // 0 is input that was echoed, 1 output, 2 errors, 3 what the engine itself has to say.
    broken_ = at(0) > 3 || at(1) != 0 || at(2) != 0 || at(3) != 0;
    kind_ = at(0) >= 2 ? stream_kind::err : stream_kind::out;
    left_ = std::uint32_t{at(4)} << 24 | std::uint32_t{at(5)} << 16 | std::uint32_t{at(6)} << 8 |
            std::uint32_t{at(7)};
    if (!broken_)
      header_.clear();
  }
  return !broken_;
}

void line_splitter::feed(std::string_view bytes,
                         const std::function<void(std::string_view)>& on_line) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const auto piece = bytes.substr(0, end);
    if (!skipping_ && line_.size() + piece.size() > most_) {
      skipping_ = true;
      line_.clear();
      line_.shrink_to_fit();
    }
    if (!skipping_)
      line_ += piece;
    if (end == std::string_view::npos)
      return;
    bytes.remove_prefix(end + 1);
    if (skipping_) {
      ++left_out_;
      skipping_ = false;
      continue;
    }
    if (!line_.empty() && line_.back() == '\r')
      line_.pop_back();
    if (!line_.empty())
      on_line(line_);
    line_.clear();
  }
}

} // namespace ahpd::docker
