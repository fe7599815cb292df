#include "runtimes/process/sweep.hpp"

#include "runtimes/process/pidfd.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

namespace ahpd::process {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::seconds patience{10}; ///< for what was killed to end
constexpr std::size_t most_awaited = 128;    ///< descriptors held at a time
constexpr std::size_t most_environment = 8u << 20;

std::string text_of(int error) {
  return std::generic_category().message(error);
}

/// What /proc/<pid>/stat says of a process.
struct process_facts {
  char state = '?';
  pid_t group = 0;
  pid_t session = 0;
  unsigned long long started = 0; ///< with the pid it names a process once and for all

  bool ended() const { return state == 'Z' || state == 'X'; }
};

/// A file of /proc, at most `most` bytes; empty when it cannot be read, as of a process that is
/// gone.
std::string read_proc(pid_t pid, const char* name, std::size_t most) {
  const std::string path = "/proc/" + std::to_string(pid) + '/' + name;
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string out;
  char buffer[16 * 1024];
  while (file && out.size() < most) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got <= 0)
      break;
    out.append(buffer, static_cast<std::size_t>(got));
  }
  return out;
}

std::optional<process_facts> facts_of(pid_t pid) {
  const std::string text = read_proc(pid, "stat", 4096);
  const auto name_end = text.rfind(')'); // the name before it may hold anything
  if (name_end == std::string::npos)
    return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  process_facts out;
  std::string skipped;
  fields >> out.state >> skipped >> out.group >> out.session;
  for (int field = 7; field < 22; ++field)
    fields >> skipped;
  fields >> out.started;
  return fields ? std::optional(out) : std::nullopt;
}

bool has_marker(pid_t pid, const std::set<std::string>& markers) {
  const std::string text = read_proc(pid, "environ", most_environment);
  const std::string prefix = std::string(marker_variable) + '=';
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    if (entry.substr(0, prefix.size()) != prefix)
      continue;
    const std::string whole(entry.substr(prefix.size()));
    for (auto dot = whole.find('.'); dot != std::string::npos; dot = whole.find('.', dot + 1))
      if (markers.count(whole.substr(0, dot)) > 0)
        return true;
    return markers.count(whole) > 0;
  }
  return false;
}

/// The facts of a living process of the tree; nothing for any other.
std::optional<process_facts> member(const process_tree& tree, pid_t pid) {
  if (pid == ::getpid())
    return std::nullopt;
  auto facts = facts_of(pid);
  if (!facts || facts->ended())
    return std::nullopt;
  const bool in_session = tree.session > 0 && facts->session == tree.session;
  if (!in_session && (tree.markers.empty() || !has_marker(pid, tree.markers)))
    return std::nullopt;
  return facts;
}

/// Calls `found` for each process of the tree, as /proc lists them, until it says false. Gives the
/// errno when /proc cannot be read.
int each_member(const process_tree& tree,
                const std::function<bool(pid_t, const process_facts&)>& found) {
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (!proc)
    return errno;
  while (const dirent* entry = ::readdir(proc.get())) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size())
      continue;
    if (const auto facts = member(tree, pid); facts && !found(pid, *facts))
      break;
  }
  return 0;
}

/// Signals one process of the tree. Between being found and being held it may have ended and its
/// pid been given away, so it is looked at again once held. Gives the descriptor, or the errno.
struct signalled {
  descriptor held;
  int error = 0;
};

signalled signal_member(const process_tree& tree, pid_t pid, int number) {
  signalled out{hold_process(pid), 0};
  if (!out.held)
    out.error = errno;
  else if (!member(tree, pid))
    out.error = ESRCH;
  else if (!signal_held(out.held, number))
    out.error = errno;
  return out;
}

/// One kill of a tree: what was hit, and who is still to end.
class killing {
public:
  explicit killing(const process_tree& tree) : tree_(tree) {}

  sweep_result run() {
    // A pass that finds nobody may have been outrun by a process that was just being made; the
    // second such pass in a row was not, as new pids are listed behind old ones.
    for (int quiet = 0; quiet < 2;) {
      bool found = false;
      const int error = each_member(tree_, [&](pid_t pid, const process_facts& facts) {
        found = hit(pid, facts) || found;
        return true;
      });
      await_ended();
      quiet = found ? 0 : quiet + 1;
      if (error != 0)
        failure_ = "the processes of a run could not be looked for in /proc: " + text_of(error);
      else if (found && clock::now() > deadline_)
        failure_ = "processes of a run still live " + std::to_string(patience.count()) +
                   " s after they were killed";
      else
        continue;
      break;
    }
    return {killed_.size(), failure_};
  }

private:
  /// Kills one process; false when it is not ours to kill, which no further pass would change.
  bool hit(pid_t pid, const process_facts& facts) {
    if (awaited_.size() >= most_awaited)
      await_ended();
    auto done = signal_member(tree_, pid, SIGKILL);
    if (done.error == 0) {
      killed_.emplace(pid, facts.started);
      awaited_.push_back(std::move(done.held));
    } else if (done.error != ESRCH) {
      failure_ =
        "process " + std::to_string(pid) + " of a run could not be killed: " + text_of(done.error);
    }
    return done.error == 0 || done.error == ESRCH;
  }

  /// Waits for what was killed to end, so that the next pass meets only who is new.
  void await_ended() {
    for (const auto& held : awaited_) {
      pollfd end{held.get(), POLLIN, 0};
      while (::poll(&end, 1, left()) < 0 && errno == EINTR) {
      }
    }
    awaited_.clear();
  }

  /// Milliseconds until the deadline, for poll.
  int left() const {
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - clock::now());
    return static_cast<int>(std::max<long long>(rest.count(), 0));
  }

  const process_tree& tree_;
  const clock::time_point deadline_ = clock::now() + patience;
  std::set<std::pair<pid_t, unsigned long long>> killed_;
  std::vector<descriptor> awaited_;
  std::string failure_;
};

} // namespace

descriptor hold_any(const process_tree& tree) {
  descriptor out;
  each_member(tree, [&](pid_t pid, const process_facts&) {
    out = hold_process(pid);
    if (out && !member(tree, pid))
      out.reset();
    return !out;
  });
  return out;
}

void signal_tree(const process_tree& tree, int number, pid_t except) {
  each_member(tree, [&](pid_t pid, const process_facts& facts) {
    if (facts.group != except)
      signal_member(tree, pid, number);
    return true;
  });
}

sweep_result end_tree(const process_tree& tree, std::chrono::milliseconds grace) {
  const auto deadline = clock::now() + grace;
  signal_tree(tree, SIGTERM, 0);
  while (const auto left = hold_any(tree)) {
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()).count();
    pollfd end{left.get(), POLLIN, 0};
    if (rest <= 0 || ::poll(&end, 1, static_cast<int>(rest)) == 0)
      break;
  }
  return kill_tree(tree);
}

sweep_result kill_tree(const process_tree& tree) {
  return killing(tree).run();
}

} // namespace ahpd::process
