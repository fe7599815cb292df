#pragma once

#include <cstddef>
#include <deque>
#include <string>

namespace ahpd::process {

/// What waits to be written into a program, in order. Used on the program's strand.
class input_queue {
public:
  static constexpr std::size_t most_waiting = 16u << 20;

  /// Adds bytes. False, and they are dropped, when so much waits already that the program does not
  /// read. A single large write is taken as it is: its memory is the caller's already.
  bool push(std::string bytes);

  bool empty() const { return waiting_.empty(); }

  /// Writes to a non-blocking descriptor until it takes no more or all is written. Gives 0 or the
  /// errno of a write that failed for good.
  int flush(int fd);

  void clear();

private:
  std::deque<std::string> waiting_;
  std::size_t written_ = 0; ///< of the first one
  std::size_t bytes_ = 0;
};

} // namespace ahpd::process
