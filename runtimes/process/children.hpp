#pragma once

#include <sys/types.h>

#include <functional>
#include <mutex>
#include <set>

namespace ahpd::process {

/// The pids this process started and has not collected yet, so that the reaper leaves them alone.
///
/// One per process, as pids are. Thread-safe.
class children {
public:
  static children& of_this_process();

  /// Held while a child is made and added, and by the reaper while it decides: a pid that nobody
  /// knows yet is never taken for an orphan.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

  void add(const std::unique_lock<std::mutex>&, pid_t pid) { pids_.insert(pid); }
  bool has(const std::unique_lock<std::mutex>&, pid_t pid) const { return pids_.count(pid) > 0; }

  /// Collects a child that has ended, so that its pid becomes free.
  void collect(pid_t pid);

  /// Called after every `collect`, with the lock held: an orphan may have waited behind that child.
  /// Empty: nobody.
  void on_collected(std::function<void()> told);

private:
  std::mutex mutex_;
  std::set<pid_t> pids_;
  std::function<void()> told_;
};

} // namespace ahpd::process
