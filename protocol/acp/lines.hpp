#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ahpd::acp {

/// Longest message an agent may send, in bytes, its newline left out.
inline constexpr std::size_t longest_line = 16u << 20;

/// Cuts a byte stream into the messages of ACP's stdio transport: one JSON text a line. Bytes may
/// come in pieces of any size, cut anywhere.
class line_reader {
public:
  explicit line_reader(std::size_t longest = longest_line) : longest_(longest) {}

  /// The lines that `bytes` completes, without "\n" or "\r\n"; blank ones are left out.
  std::vector<std::string> feed(std::string_view bytes);

  /// A line passed the bound: the stream cannot be read any further, and `feed` gives nothing more.
  bool too_long() const { return too_long_; }

  /// Whether a line has begun and its newline is still to come.
  bool inside_line() const { return !rest_.empty(); }

private:
  const std::size_t longest_;
  std::string rest_;
  bool too_long_ = false;
};

} // namespace ahpd::acp
