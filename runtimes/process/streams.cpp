#include "runtimes/process/streams.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <cerrno>
#include <cstdlib>

namespace ahpd::process {

namespace {

/// Moves a descriptor out of the numbers the child's streams get; 0 to 2 may be free in a daemon.
bool lift(descriptor& fd) {
  if (!fd)
    return false;
  if (fd.get() > 2)
    return true;
  fd = descriptor(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
  return static_cast<bool>(fd);
}

bool unblock(const descriptor& fd) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  return flags >= 0 && ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) == 0;
}

bool make_pipe(descriptor& from, descriptor& into) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return false;
  from = descriptor(ends[0]);
  into = descriptor(ends[1]);
  return lift(from) && lift(into);
}

streams failed() {
  streams out;
  out.problem = errno;
  return out;
}

winsize kernel_size(runtimes::window_size size) {
  winsize out{};
  out.ws_col = size.columns;
  out.ws_row = size.rows;
  return out;
}

} // namespace

streams make_pipes(bool input) {
  streams out;
  if (input) {
    if (!make_pipe(out.child_input, out.input) || !unblock(out.input))
      return failed();
  } else {
    out.child_input = descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!lift(out.child_input))
      return failed();
  }
  if (!make_pipe(out.output, out.child_output) || !unblock(out.output) ||
      !make_pipe(out.error, out.child_error) || !unblock(out.error))
    return failed();
  return out;
}

streams make_terminal(runtimes::window_size size, std::optional<uid_t> owner) {
  streams out;
  out.output = descriptor(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!lift(out.output) || !unblock(out.output) || ::grantpt(out.output.get()) != 0 ||
      ::unlockpt(out.output.get()) != 0)
    return failed();
  // By the master, not by name: in a container the name may belong to another devpts.
  out.child_input =
    descriptor(::ioctl(out.output.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!lift(out.child_input))
    return failed();
  if (owner && ::fchown(out.child_input.get(), *owner, static_cast<gid_t>(-1)) != 0)
    return failed();
  termios modes{};
  if (::tcgetattr(out.child_input.get(), &modes) != 0)
    return failed();
  modes.c_iflag |= IUTF8; // else erasing a character leaves half of it
  const winsize wanted = kernel_size(size);
  if (::tcsetattr(out.child_input.get(), TCSANOW, &modes) != 0 ||
      ::ioctl(out.output.get(), TIOCSWINSZ, &wanted) != 0)
    return failed();
  return out;
}

void resize_terminal(int master, runtimes::window_size size) {
  const winsize wanted = kernel_size(size);
  ::ioctl(master, TIOCSWINSZ, &wanted);
}

} // namespace ahpd::process
