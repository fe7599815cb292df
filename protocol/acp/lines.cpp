#include "protocol/acp/lines.hpp"

namespace ahpd::acp {

std::vector<std::string> line_reader::feed(std::string_view bytes) {
  std::vector<std::string> out;
  while (!too_long_ && !bytes.empty()) {
    const auto end = bytes.find('\n');
    const auto part = bytes.substr(0, end);
    if (rest_.size() + part.size() > longest_) {
      too_long_ = true;
      rest_.clear();
      break;
    }
    rest_ += part;
    if (end == std::string_view::npos)
      break;
    bytes.remove_prefix(end + 1);
    if (!rest_.empty() && rest_.back() == '\r')
      rest_.pop_back();
    if (rest_.find_first_not_of(" \t") != std::string::npos)
      out.push_back(std::move(rest_));
    rest_.clear();
  }
  return out;
}

} // namespace ahpd::acp
