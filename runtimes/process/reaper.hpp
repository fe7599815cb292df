#pragma once

#include <memory>

namespace boost::asio {
class io_context;
} // namespace boost::asio

namespace ahpd::process {

/// Collects orphans as they end, for a process that they are given to: PID 1 of a container, or one
/// that called `become_subreaper`. Children of the spawner are left to their programs.
///
/// At most one at a time; must be dropped before `io` is.
class reaper {
public:
  explicit reaper(boost::asio::io_context& io);
  ~reaper();
  reaper(const reaper&) = delete;
  reaper& operator=(const reaper&) = delete;

private:
  class watch;
  std::shared_ptr<watch> watch_;
};

/// Makes the kernel give this process, not PID 1, the orphans among its descendants. False: it
/// cannot.
bool become_subreaper();

} // namespace ahpd::process
