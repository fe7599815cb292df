#include "tests/support/program.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ahpd::tests {

namespace {

using clock = std::chrono::steady_clock;

int left_ms(clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

/// What configures ahpd is the test's to give: a developer's own AHPD_… variables stay out.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& laid_over) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (!laid_over.count(text.substr(0, text.find('='))) && text.rfind("AHPD_", 0) != 0)
      out.push_back(text);
  }
  for (const auto& [name, value] : laid_over)
    out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (auto& s : strings)
    out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

} // namespace

program::program(const program_options& what) {
  REQUIRE(!what.argv.empty());
  auto args = what.argv;
  auto env = environment_with(what.env);
  auto argv = pointers(args);
  auto envp = pointers(env);
  std::array<int, 2> out{};
  REQUIRE(::pipe2(out.data(), O_CLOEXEC) == 0);
  ::fcntl(out[1], F_SETPIPE_SZ, 1 << 20); // a program that nobody reads for a while is not held up
  err_fd_ = ::memfd_create("stderr", MFD_CLOEXEC);
  REQUIRE(err_fd_ >= 0);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) { // only async-signal-safe calls from here on
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int null_fd = ::open("/dev/null", O_RDONLY);
    const bool ready = ::getppid() == parent && ::dup2(null_fd, 0) == 0 && ::dup2(out[1], 1) == 1 &&
                       ::dup2(err_fd_, 2) == 2 &&
                       (what.directory.empty() || ::chdir(what.directory.c_str()) == 0);
    if (ready)
      ::execve(argv[0], argv.data(), envp.data());
    ::_exit(126);
  }
  ::close(out[1]);
  out_fd_ = out[0];
  ::fcntl(out_fd_, F_SETFL, O_NONBLOCK);
  pid_fd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  REQUIRE(pid_fd_ >= 0);
}

program::~program() {
  if (!ended_) {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (int fd : {pid_fd_, out_fd_, err_fd_})
    if (fd >= 0)
      ::close(fd);
}

void program::read_available() {
  std::array<char, 65536> buffer{};
  for (;;) {
    const auto n = ::read(out_fd_, buffer.data(), buffer.size());
    if (n <= 0)
      return;
    output_.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

void program::reap(int status) {
  ended_ = true;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  read_available();
}

bool program::running() {
  int status = 0;
  if (!ended_ && ::waitpid(pid_, &status, WNOHANG) == pid_)
    reap(status);
  return !ended_;
}

void program::wait_for_output(const std::string& text, std::chrono::milliseconds limit) {
  const auto until = clock::now() + limit;
  for (;;) {
    const bool alive = running();
    read_available();
    if (output_.find(text) != std::string::npos)
      return;
    if (!alive)
      FAIL("the program ended with " << exit_code_ << " before it printed '" << text
                                     << "'\nstdout: " << output_ << "\nstderr: " << errors());
    if (left_ms(until) == 0)
      FAIL("'" << text << "' was not printed in time\nstdout: " << output_
               << "\nstderr: " << errors());
    std::array<pollfd, 2> fds{pollfd{out_fd_, POLLIN, 0}, pollfd{pid_fd_, POLLIN, 0}};
    ::poll(fds.data(), fds.size(), left_ms(until));
  }
}

void program::signal(int number) {
  if (running())
    ::kill(pid_, number);
}

int program::wait(std::chrono::milliseconds limit) {
  const auto until = clock::now() + limit;
  bool open = true; // a closed pipe is always readable: then only the end is waited for
  while (running()) {
    if (left_ms(until) == 0) {
      kill();
      FAIL("the program did not end in time\nstdout: " << output_ << "\nstderr: " << errors());
    }
    std::array<pollfd, 2> fds{pollfd{pid_fd_, POLLIN, 0}, pollfd{out_fd_, POLLIN, 0}};
    ::poll(fds.data(), open ? 2 : 1, left_ms(until));
    if (fds[1].revents & POLLIN)
      read_available();
    else if (fds[1].revents & POLLHUP)
      open = false;
  }
  return exit_code_;
}

void program::kill() {
  if (!running())
    return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  reap(status);
}

std::string program::errors() const {
  std::string out;
  std::array<char, 65536> buffer{};
  for (;;) {
    const auto n = ::pread(err_fd_, buffer.data(), buffer.size(), static_cast<off_t>(out.size()));
    if (n <= 0)
      return out;
    out.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

program_result run_program(const program_options& what, std::chrono::milliseconds limit) {
  program started(what);
  const int code = started.wait(limit);
  return {code, started.output(), started.errors()};
}

} // namespace ahpd::tests
