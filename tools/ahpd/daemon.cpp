#include "tools/ahpd/daemon.hpp"

#include "config/daemon_record.hpp"
#include "config/files.hpp"
#include "config/options.hpp"
#include "config/process_id.hpp"
#include "protocol/json.hpp"
#include "tools/ahpd/launch.hpp"
#include "tools/ahpd/print.hpp"
#include "tools/ahpd/secrets.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ahpd::cli {

namespace {

constexpr std::chrono::seconds start_limit{20};
constexpr std::chrono::seconds stop_limit{30};
constexpr const char* nothing_runs = "Nothing is running.";

enum class form { text, json, quiet };

/// What was asked of the verb itself, taken out of its words.
form take_form(std::vector<std::string>& words) {
  const bool json = std::erase(words, "--json") > 0;
  const bool quiet = std::erase(words, "--quiet") > 0;
  if (json && quiet)
    throw config::start_refusal{2, "Pass --json or --quiet, not both."};
  return json ? form::json : quiet ? form::quiet : form::text;
}

void refuse_words(const std::string& verb, const std::vector<std::string>& words) {
  if (!words.empty())
    throw config::start_refusal{2, "ahpd " + verb + " does not take " + words.front() + "; ahpd " +
                                     verb + " --help shows what it takes."};
}

std::string directory() {
  const auto out = config::config_directory(config::real_surroundings());
  if (out.empty())
    throw config::start_refusal{
      2, "Neither XDG_CONFIG_HOME nor HOME says where the configuration directory is."};
  return out;
}

void print_record(const config::daemon_record& record, form how, const std::string& text) {
  if (how == form::quiet)
    return print(record.url + '\n');
  if (how == form::text)
    return print(text);
  json::array paths;
  for (const auto& path : record.paths)
    paths.emplace_back(path);
  const json::value out{{"url", record.url},
                        {"pid", record.pid},
                        {"startedAt", record.started_at},
                        {"paths", std::move(paths)}};
  print(json::serialize(out) + '\n');
}

config::run_options checked(const split_flags& typed, const config::surroundings& around) {
  auto answer =
    config::read_options(typed.typed ? with_token(typed.flags, typed.token) : typed.flags, around);
  if (auto* refusal = std::get_if<config::start_refusal>(&answer))
    throw std::move(*refusal);
  return std::get<config::run_options>(std::move(answer));
}

/// The caller holds the launch lock.
int start(const split_flags& typed, const std::string& where, form how) {
  const std::string log = where + "/daemon.log";
  const auto child = launch(typed.flags, typed.token, log, start_limit);
  if (!child.announcement.empty()) {
    const auto record = config::find_daemon(where);
    if (!record)
      throw std::runtime_error("It ended right after its start; see " + log);
    print_record(*record, how, child.announcement);
    return 0;
  }
  if (!child.output.empty())
    say(child.output.substr(0, child.output.find_last_not_of('\n') + 1));
  if (!child.exit_code) {
    say("It did not start within " + std::to_string(start_limit.count()) +
        " s and was ended; see " + log);
    return 1;
  }
  say("It ended with exit status " + std::to_string(*child.exit_code) + "; see " + log);
  return std::max(1, *child.exit_code);
}

/// A process that cannot be mistaken for a later one with its number.
class held_process {
public:
  explicit held_process(const config::daemon_record& record)
      : file_(static_cast<int>(::syscall(SYS_pidfd_open, record.pid, 0))) {
    // Only what still is the recorded process once we hold it may be signalled.
    gone_ = file_ < 0 && errno == ESRCH;
    if (file_ < 0 && !gone_)
      throw std::runtime_error("The process cannot be reached: " +
                               std::string(strerrordesc_np(errno)));
    gone_ = gone_ || config::start_of(record.pid) != record.process;
  }
  ~held_process() {
    if (file_ >= 0)
      ::close(file_);
  }
  held_process(const held_process&) = delete;
  held_process& operator=(const held_process&) = delete;

  /// Whether it ended in time.
  bool end(std::chrono::milliseconds limit) {
    if (gone_)
      return true;
    if (::syscall(SYS_pidfd_send_signal, file_, SIGTERM, nullptr, 0) != 0) {
      if (errno == ESRCH)
        return true;
      throw std::runtime_error("The process cannot be signalled: " +
                               std::string(strerrordesc_np(errno)));
    }
    const auto deadline = std::chrono::steady_clock::now() + limit;
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
      pollfd waits{file_, POLLIN, 0};
      const int there = ::poll(&waits, 1, static_cast<int>(std::max<long>(0, left.count())));
      if (there >= 0 || errno != EINTR)
        return there > 0;
    }
  }

private:
  int file_;
  bool gone_ = false;
};

/// The caller holds the launch lock.
void stop(const config::daemon_record& record, const std::string& where) {
  const std::string pid = std::to_string(record.pid);
  if (!held_process(record).end(stop_limit))
    throw std::runtime_error("ahpd (pid " + pid + ") was asked to stop and has not ended within " +
                             std::to_string(stop_limit.count()) + " s; kill -9 " + pid +
                             " ends it");
  config::clear_daemon(where, record.pid);
}

config::daemon_record running_daemon(const std::string& where) {
  auto record = config::find_daemon(where);
  if (!record)
    throw config::start_refusal{1, nothing_runs};
  return std::move(*record);
}

/// Waits for other starts and stops; without a directory nothing can run.
config::launch_lock lock_of_running(const std::string& where) {
  std::error_code ec;
  if (!std::filesystem::is_directory(where, ec))
    throw config::start_refusal{1, nothing_runs};
  return config::launch_lock(where);
}

int start_words(std::vector<std::string> words) {
  const form how = take_form(words);
  const auto typed = split_token(words);
  const auto options = checked(typed, config::real_surroundings());
  const config::launch_lock lock(options.directory);
  if (const auto running = config::find_daemon(options.directory))
    throw config::start_refusal{1, "One is already running: " + running->url + " (pid " +
                                     std::to_string(running->pid) + ")"};
  return start(typed, options.directory, how);
}

int stop_words(std::vector<std::string> words) {
  refuse_words("stop", words);
  const auto where = directory();
  const auto lock = lock_of_running(where);
  const auto record = running_daemon(where);
  stop(record, where);
  print("Stopped ahpd (pid " + std::to_string(record.pid) + ").\n");
  return 0;
}

int restart_words(std::vector<std::string> words) {
  const form how = take_form(words);
  refuse_words("restart", words);
  const auto where = directory();
  const auto lock = lock_of_running(where);
  const auto record = running_daemon(where);
  const split_flags typed{record.argv,
                          record.token_typed ? config::token_of(record.connect_url) : std::string(),
                          record.token_typed};
  auto around = config::real_surroundings();
  around.working_directory = record.cwd;
  checked(typed, around);
  if (::chdir(record.cwd.c_str()) != 0)
    throw std::runtime_error(
      record.cwd + ", where it was started, cannot be entered: " + strerrordesc_np(errno));
  stop(record, where);
  return start(typed, where, how);
}

int status_words(std::vector<std::string> words) {
  const form how = take_form(words);
  refuse_words("status", words);
  const auto record = running_daemon(directory());
  print_record(record, how,
               "ahpd on " + record.url + " (pid " + std::to_string(record.pid) + "), started " +
                 record.started_at + '\n');
  return 0;
}

/// Says a refusal or a failure, and gives its exit code.
int answered(int (*verb)(std::vector<std::string>), const std::vector<std::string>& words) {
  try {
    return verb(words);
  } catch (const config::start_refusal& refusal) {
    say(refusal.sentence);
    return refusal.exit_code;
  } catch (const std::exception& e) {
    say(e.what());
    return 1;
  }
}

} // namespace

int start_verb(const std::vector<std::string>& words) {
  return answered(start_words, words);
}
int stop_verb(const std::vector<std::string>& words) {
  return answered(stop_words, words);
}
int restart_verb(const std::vector<std::string>& words) {
  return answered(restart_words, words);
}
int status_verb(const std::vector<std::string>& words) {
  return answered(status_words, words);
}

} // namespace ahpd::cli
