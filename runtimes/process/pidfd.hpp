#pragma once

#include "runtimes/process/descriptor.hpp"

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace ahpd::process {

// System calls: glibc 2.36 declares its functions for these without C linkage.

/// Holds a process, whatever becomes of its number; readable when it has ended. None: errno says
/// why.
inline descriptor hold_process(pid_t pid) {
  return descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

/// Signals a held process.
inline bool signal_held(const descriptor& process, int number) {
  return ::syscall(SYS_pidfd_send_signal, process.get(), number, nullptr, 0) == 0;
}

} // namespace ahpd::process
