#include "runtimes/process/launch.hpp"

#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

// The C library's own name for clone. ThreadSanitizer answers to the usual one as if it were a
// fork, and in memory that both share its bookkeeping for the child would switch it off for the
// parent.
extern "C" int __clone(int (*)(void*), void*, int, void*, ...);

namespace ahpd::process {

namespace {

constexpr int first_closed = 3;

/// Frees the two attribute objects on every path.
struct spawn_settings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  spawn_settings() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  ~spawn_settings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  spawn_settings(const spawn_settings&) = delete;
  spawn_settings& operator=(const spawn_settings&) = delete;
};

/// What the vforked child reads, and where it says why it failed: its memory is its parent's.
struct child_orders {
  const launch_plan* plan = nullptr;
  int error = 0;
};

// The child shares the parent's memory while other threads run, so it makes system calls and
// nothing else: no C library function that keeps state (setuid there signals every thread), and no
// sanitizer's bookkeeping.
#define AHPD_IN_CHILD __attribute__((no_sanitize("address", "undefined", "thread"), noinline))

AHPD_IN_CHILD bool take_signals() {
  // The kernel's struct sigaction is at most this long, and all zero it says SIG_DFL.
  const unsigned long to_default[8] = {};
  for (int number = 1; number <= 64; ++number)
    if (number != SIGKILL && number != SIGSTOP)
      ::syscall(SYS_rt_sigaction, number, to_default, nullptr, 8);
  return true;
}

AHPD_IN_CHILD bool take_streams(const launch_plan& plan) {
  if (::syscall(SYS_setsid) < 0)
    return false;
  if (plan.terminal && ::syscall(SYS_ioctl, plan.input, TIOCSCTTY, 0) < 0)
    return false;
  return ::syscall(SYS_dup3, plan.input, 0, 0) >= 0 &&
         ::syscall(SYS_dup3, plan.output, 1, 0) >= 0 &&
         ::syscall(SYS_dup3, plan.error, 2, 0) >= 0 &&
         ::syscall(SYS_close_range, first_closed, ~0U, 0) >= 0;
}

AHPD_IN_CHILD bool take_identity(const identity& as) {
  return ::syscall(SYS_setgroups, as.groups.size(), as.groups.data()) >= 0 &&
         ::syscall(SYS_setresgid, as.gid, as.gid, as.gid) >= 0 &&
         ::syscall(SYS_setresuid, as.uid, as.uid, as.uid) >= 0;
}

AHPD_IN_CHILD int child_main(void* given) {
  auto& orders = *static_cast<child_orders*>(given);
  const launch_plan& plan = *orders.plan;
  // The directory comes after the identity: it must be one that this user may enter.
  if (take_signals() && take_streams(plan) && (!plan.as || take_identity(*plan.as)) &&
      (!plan.directory || ::syscall(SYS_chdir, plan.directory) >= 0)) {
    const unsigned long none[16] = {};
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, none, nullptr, 8);
    ::syscall(SYS_execve, plan.path, plan.argv, plan.envp);
  }
  orders.error = errno;
  ::syscall(SYS_exit_group, 127);
  return 127;
}

#undef AHPD_IN_CHILD

} // namespace

launched launch_plain(const launch_plan& plan) {
  spawn_settings with;
  sigset_t every, none;
  std::memset(&every, 0xff,
              sizeof every); // sigfillset leaves two out, which glibc then has ignored
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigdefault(&with.attributes, &every);
  ::posix_spawnattr_setsigmask(&with.attributes, &none);
  ::posix_spawnattr_setflags(&with.attributes,
                             POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  int error = ::posix_spawn_file_actions_adddup2(&with.actions, plan.input, 0);
  if (error == 0)
    error = ::posix_spawn_file_actions_adddup2(&with.actions, plan.output, 1);
  if (error == 0)
    error = ::posix_spawn_file_actions_adddup2(&with.actions, plan.error, 2);
  if (error == 0)
    error = ::posix_spawn_file_actions_addclosefrom_np(&with.actions, first_closed);
  if (error == 0 && plan.directory)
    error = ::posix_spawn_file_actions_addchdir_np(&with.actions, plan.directory);
  launched out;
  if (error == 0)
    error =
      ::posix_spawn(&out.pid, plan.path, &with.actions, &with.attributes, plan.argv, plan.envp);
  if (error != 0)
    return {-1, error};
  return out;
}

launched launch_special(const launch_plan& plan) {
  std::vector<char> stack(64 * 1024);
  child_orders orders{&plan};
  // No handler of ours may run in the child, which would run it on our memory.
  sigset_t every, before;
  ::sigfillset(&every);
  ::pthread_sigmask(SIG_SETMASK, &every, &before);
  const pid_t pid =
    ::__clone(child_main, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD, &orders);
  const int error = pid < 0 ? errno : orders.error;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error == 0)
    return {pid, 0};
  if (pid > 0)
    ::waitpid(pid, nullptr, 0); // it has ended already
  return {-1, error};
}

} // namespace ahpd::process
