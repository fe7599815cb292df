#include "tools/ahpd/launch.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ahpd::cli {

namespace {

using clock = std::chrono::steady_clock;

constexpr off_t largest_log = 5 << 20;
constexpr std::size_t largest_message = 1u << 20;
constexpr off_t shown_log = 4096;
constexpr int channel_number = 3; ///< in the launched program
constexpr const char* mark = "AHPD_DETACHED";

[[noreturn]] void fail(const std::string& what, int error_number) {
  throw std::runtime_error(what + ": " + std::strerror(error_number));
}

/// A log that may be written to, the old one put aside when it grew large.
int open_log(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) == 0 && st.st_size > largest_log &&
      ::rename(path.c_str(), (path + ".1").c_str()) != 0)
    fail(path + " could not be put aside", errno);
  const int log = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0)
    fail(path + " could not be opened", errno);
  return log;
}

/// What posix_spawn needs to be told: a session of its own, no signal blocked or ignored, and
/// nothing open but the log and the channel.
class spawn_plan {
public:
  spawn_plan(int log, int channel) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files_, log, 1);
    posix_spawn_file_actions_adddup2(&files_, log, 2);
    posix_spawn_file_actions_adddup2(&files_, channel, channel_number);
    posix_spawn_file_actions_addclosefrom_np(&files_, channel_number + 1);
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~spawn_plan() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  spawn_plan(const spawn_plan&) = delete;
  spawn_plan& operator=(const spawn_plan&) = delete;

  pid_t run(std::vector<std::string> words) {
    words.insert(words.begin(), "ahpd");
    std::vector<char*> argv;
    for (auto& word : words)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    std::string marked = std::string(mark) + '=' + std::to_string(channel_number);
    std::vector<char*> env{marked.data()};
    for (char** entry = environ; *entry; ++entry)
      env.push_back(*entry);
    env.push_back(nullptr);
    pid_t pid = 0;
    const int wrong =
      ::posix_spawn(&pid, "/proc/self/exe", &files_, &attributes_, argv.data(), env.data());
    if (wrong != 0)
      fail("ahpd could not be started", wrong);
    return pid;
  }

private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

/// Reads to the end of the stream; false when that did not come in time.
bool read_to_end(int socket, std::string& text, clock::time_point deadline) {
  char block[4096];
  for (;;) {
    const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock::now()).count();
    pollfd waits{socket, POLLIN, 0};
    const int there = left <= 0 ? 0 : ::poll(&waits, 1, static_cast<int>(left));
    if (there < 0 && errno == EINTR)
      continue;
    if (there <= 0)
      return false;
    const auto n = ::recv(socket, block, sizeof block, 0);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return true;
    if (text.size() + static_cast<std::size_t>(n) > largest_message)
      return false;
    text.append(block, static_cast<std::size_t>(n));
  }
}

void send_all(int socket, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const auto n = ::send(socket, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return; // the other side is gone, which it notices by itself
    done += static_cast<std::size_t>(n);
  }
}

std::string end_of_log(int log, off_t from) {
  const off_t end = ::lseek(log, 0, SEEK_END);
  from = std::max(from, end - shown_log);
  std::string out(static_cast<std::size_t>(std::max<off_t>(end - from, 0)), '\0');
  const auto n = ::pread(log, out.data(), out.size(), from);
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
}

} // namespace

launched launch(const std::vector<std::string>& words, const std::string& token,
                const std::string& log_path, std::chrono::milliseconds limit) {
  const int log = open_log(log_path);
  const off_t before = ::lseek(log, 0, SEEK_END);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    fail("ahpd could not be started", errno);
  launched out;
  out.pid = spawn_plan(log, ends[1]).run(words);
  ::close(ends[1]);
  send_all(ends[0], token);
  ::shutdown(ends[0], SHUT_WR);
  const bool ended = read_to_end(ends[0], out.announcement, clock::now() + limit);
  if (!ended || out.announcement.empty()) {
    if (!ended)
      ::kill(-out.pid, SIGKILL); // and what it started: it leads a group of its own
    int status = 0;
    while (::waitpid(out.pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (ended && WIFEXITED(status))
      out.exit_code = WEXITSTATUS(status);
    out.announcement.clear();
    out.output = end_of_log(log, before);
  }
  ::close(ends[0]);
  ::close(log);
  return out;
}

launch_channel::launch_channel(int socket) : socket_(socket) {
  constexpr auto limit = std::chrono::seconds(10);
  if (!read_to_end(socket, token_, clock::now() + limit))
    throw std::runtime_error("The program that started this one does not finish its sentence");
}

std::optional<launch_channel> launch_channel::take() {
  const char* named = std::getenv(mark);
  if (!named)
    return std::nullopt;
  const bool ours = named == std::to_string(channel_number);
  ::unsetenv(mark);
  struct stat st {};
  if (!ours || ::fstat(channel_number, &st) != 0 || !S_ISSOCK(st.st_mode))
    return std::nullopt;
  ::fcntl(channel_number, F_SETFD, FD_CLOEXEC);
  return launch_channel(channel_number);
}

void launch_channel::ready(const std::string& announcement) {
  send_all(socket_, announcement);
  ::close(socket_);
}

} // namespace ahpd::cli
