#include "tools/ahpd/foreground.hpp"

#include "config/announcement.hpp"
#include "config/daemon_record.hpp"
#include "config/options.hpp"
#include "config/process_id.hpp"
#include "tools/ahpd/launch.hpp"
#include "tools/ahpd/print.hpp"
#include "tools/ahpd/secrets.hpp"
#include "tools/ahpd/serve.hpp"

#include <ctime>
#include <exception>
#include <optional>

#include <unistd.h>

namespace ahpd::cli {

namespace {

config::daemon_record record_of(const std::string& announcement, const split_flags& typed,
                                const config::run_options& options, const std::string& cwd) {
  config::daemon_record out;
  out.pid = ::getpid();
  out.process = config::start_of(out.pid);
  out.url = config::announced_url(announcement).value_or("");
  out.connect_url = config::connect_url(out.url, options.connection_token);
  out.paths = options.paths;
  out.started_at = config::iso_time(std::time(nullptr));
  out.argv = typed.flags;
  out.cwd = cwd;
  out.token_typed = typed.typed;
  return out;
}

int serve(const std::vector<std::string>& flags, std::optional<launch_channel> launcher) {
  auto typed = split_token(flags);
  if (launcher && !launcher->token().empty()) {
    typed.token = launcher->token();
    typed.typed = true;
  }
  const auto around = config::real_surroundings();
  auto answer =
    config::read_options(typed.typed ? with_token(typed.flags, typed.token) : typed.flags, around);
  if (const auto* refusal = std::get_if<config::start_refusal>(&answer)) {
    say(refusal->sentence);
    return refusal->exit_code;
  }
  const auto& options = std::get<config::run_options>(answer);
  std::optional<config::directory_lock> lock;
  if (!options.sessions_in_memory)
    lock.emplace(options.directory);
  const int code = run_hub(options, [&](const std::string& announcement) {
    print(announcement);
    if (!launcher)
      return;
    config::write_daemon(options.directory,
                         record_of(announcement, typed, options, around.working_directory));
    launcher->ready(announcement);
  });
  if (launcher)
    config::clear_daemon(options.directory, ::getpid());
  return code;
}

} // namespace

int run_foreground(const std::vector<std::string>& flags) {
  try {
    return serve(flags, launch_channel::take());
  } catch (const std::exception& e) {
    say(e.what());
    return 1;
  }
}

} // namespace ahpd::cli
