#include "runtimes/process/outputs.hpp"

#include <utility>

namespace ahpd::process {

bool outputs::append(runtimes::output which, std::string_view bytes) {
  const std::lock_guard held(mutex_);
  rings_[static_cast<std::size_t>(which)].append(bytes);
  return !std::exchange(told_, true);
}

runtimes::chunk outputs::read(runtimes::output which, std::uint64_t offset, std::size_t most) {
  const std::lock_guard held(mutex_);
  told_ = false;
  return rings_[static_cast<std::size_t>(which)].read(offset, most);
}

} // namespace ahpd::process
