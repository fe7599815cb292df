#include "runtimes/process/input_queue.hpp"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace ahpd::process {

bool input_queue::push(std::string bytes) {
  if (bytes_ >= most_waiting)
    return false;
  if (bytes.empty())
    return true;
  bytes_ += bytes.size();
  waiting_.push_back(std::move(bytes));
  return true;
}

int input_queue::flush(int fd) {
  while (!waiting_.empty()) {
    const std::string& first = waiting_.front();
    const ssize_t done = ::write(fd, first.data() + written_, first.size() - written_);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return errno == EAGAIN ? 0 : errno;
    written_ += static_cast<std::size_t>(done);
    bytes_ -= static_cast<std::size_t>(done);
    if (written_ == first.size()) {
      waiting_.pop_front();
      written_ = 0;
    }
  }
  return 0;
}

void input_queue::clear() {
  waiting_.clear();
  written_ = bytes_ = 0;
}

} // namespace ahpd::process
