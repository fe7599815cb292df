#include "runtimes/process/children.hpp"

#include <sys/wait.h>

namespace ahpd::process {

children& children::of_this_process() {
  static children one;
  return one;
}

void children::collect(pid_t pid) {
  const auto held = lock();
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG);
  pids_.erase(pid);
  if (told_)
    told_();
}

void children::on_collected(std::function<void()> told) {
  const auto held = lock();
  told_ = std::move(told);
}

} // namespace ahpd::process
