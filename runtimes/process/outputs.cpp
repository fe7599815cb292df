#include "runtimes/process/outputs.hpp"

#include <algorithm>
#include <utility>

namespace ahpd::process {

bool outputs::append(runtimes::output which, std::string_view bytes) {
  const std::lock_guard held(mutex_);
  rings_[static_cast<std::size_t>(which)].append(bytes);
  return !std::exchange(told_, true);
}

runtimes::chunk outputs::read(runtimes::output which, std::uint64_t offset, std::size_t most) {
  const std::lock_guard held(mutex_);
  const auto i = static_cast<std::size_t>(which);
  told_ = false;
  auto out = rings_[i].read(offset, most);
  read_to_[i] = std::max(read_to_[i], out.offset + out.bytes.size());
  return out;
}

bool outputs::full(runtimes::output which) {
  const std::lock_guard held(mutex_);
  const auto i = static_cast<std::size_t>(which);
  waiting_[i] = unread(i) >= most_unread_;
  return waiting_[i];
}

void outputs::discard() {
  const std::lock_guard held(mutex_);
  for (auto& ring : rings_)
    ring.forget();
}

bool outputs::room(runtimes::output which) {
  const std::lock_guard held(mutex_);
  const auto i = static_cast<std::size_t>(which);
  return unread(i) < most_unread_ && std::exchange(waiting_[i], false);
}

} // namespace ahpd::process
