#include "tools/aiod/start.hpp"

#include "actors/core/log.hpp"
#include "actors/core/scheduler.hpp"
#include "actors/sandbox/capabilities.hpp"
#include "actors/sandbox/front.hpp"
#include "actors/sandbox/probes.hpp"
#include "actors/sandbox/sandbox.hpp"
#include "protocol/random.hpp"
#include "protocol/transport/server.hpp"
#include "runtimes/process/executable.hpp"
#include "runtimes/process/reaper.hpp"
#include "runtimes/process/sweep.hpp"
#include "tools/aiod/runtime_directory.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <caf/all.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <future>
#include <stdexcept>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ahpd::aiod {

namespace {

/// What no child may see.
constexpr std::array secrets{"AIO_API_KEY", "SANDBOX_API_KEY", "OTEL_EXPORTER_OTLP_HEADERS",
                             "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "EXTRA_MCP_SERVERS"};

struct system_config : caf::actor_system_config {
  system_config() {
    set("logger.file-verbosity", caf::atom("quiet"));
    set("logger.console-verbosity", caf::atom("quiet"));
    core::use_asio_scheduler(*this, 1);
  }
};

void say(const std::string& sentence) {
  std::fprintf(stderr, "aiod: %s\n", sentence.c_str());
}

/// The level that a filter such as "aio_daemon=debug,info" means for all that it does not name.
std::string level_of(const std::string& filter) {
  std::string level = "info";
  for (std::size_t at = 0; at <= filter.size();) {
    const auto end = std::min(filter.find(',', at), filter.size());
    const auto word = filter.substr(at, end - at);
    const auto equals = word.find('=');
    if (equals == std::string::npos || word.substr(0, equals) == "aio_daemon")
      level = word.substr(equals == std::string::npos ? 0 : equals + 1);
    at = end + 1;
  }
  if (level == "trace")
    return "debug";
  return level == "warn" ? "warning" : level;
}

sandbox::services_ptr make_services(config::sandbox_options options, const surroundings& here) {
  auto host = std::make_shared<sandbox::services>();
  host->options = std::move(options);
  host->environment = here.environment;
  host->home = here.home;
  host->run_marker = random_hex(16);
  return host;
}

transport::server_limits limits() {
  transport::server_limits out;
  out.body_bytes = 32u << 20;
  out.request_time = std::chrono::seconds(60);
  return out;
}

/// Whoever waits for the end of this process hears of a signal, and of a second one at once.
class ending {
public:
  explicit ending(boost::asio::io_context& io) : signals_(io, SIGINT, SIGTERM) { wait(); }
  void await() { told_.get_future().get(); }

private:
  void wait() {
    signals_.async_wait([this](const boost::system::error_code& ec, int) {
      if (ec)
        return;
      if (std::exchange(once_, true))
        ::_exit(1);
      told_.set_value();
      wait();
    });
  }

  boost::asio::signal_set signals_;
  std::promise<void> told_;
  bool once_ = false;
};

} // namespace

surroundings settle(const std::map<std::string, std::string>& environment) {
  surroundings out{environment, {}};
  for (const char* name : secrets)
    out.environment.erase(name);
  const auto own = process::accounts().find(::geteuid());
  const auto given = environment.find("HOME");
  out.home = own ? own->home : given != environment.end() ? given->second : std::string();
  if (out.home.empty() || ::chdir(out.home.c_str()) != 0) {
    out.home = "/";
    if (::chdir("/") != 0)
      throw std::runtime_error("the root directory cannot be entered");
  }
  ::umask(022);
  return out;
}

int serve(config::sandbox_options options, const surroundings& here) {
  core::log::start(level_of(options.log_level), core::log::stream::out);
  core::log::redact(options.api_key);
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL); // else the kernel throws every exit status away

  auto host = make_services(std::move(options), here);
  try {
    host->runtime_dir = make_runtime_directory(host->options.runtime_dir, here.environment);
  } catch (const std::runtime_error& why) {
    say(why.what());
    return 1;
  }
  for (const auto& each : host->options.warnings)
    core::log::warning(each);
  if (const auto& user = host->options.default_user; !user.empty() && !host->accounts.find(user))
    core::log::warning("the default user is no account of this machine; requests that name no "
                       "user are refused until it is",
                       {{"user", user}});

  system_config cfg;
  caf::actor_system system(cfg);
  auto& io = core::io_of(system);
  std::optional<process::reaper> orphans;
  if (::getpid() == 1)
    orphans.emplace(io);
  ending told(io);
  auto root = sandbox::start_sandbox(system, host);
  std::promise<void> gone;
  root->attach_functor([&] { gone.set_value(); });

  std::string why;
  auto server = transport::listen(io, {host->options.host, host->options.port, {}},
                                  sandbox::front(host), limits(), why);
  if (server) {
    host->port = server->port();
    core::log::info("aiod serves", {{"host", host->options.host},
                                    {"port", std::to_string(server->port())},
                                    {"version", AHPD_VERSION}});
    told.await();
    server->close("the daemon is stopping");
    process::end_tree({0, {host->run_marker}}, std::chrono::seconds(2));
  } else {
    say(why);
  }
  caf::anon_send_exit(root, caf::exit_reason::user_shutdown);
  gone.get_future().get();
  root = nullptr;
  return server ? 0 : 1;
}

int doctor(config::sandbox_options options, const surroundings& here, bool as_json) {
  core::log::start("error");
  auto host = make_services(std::move(options), here);
  system_config cfg;
  caf::actor_system system(cfg);
  auto root = sandbox::start_sandbox(system, host);
  std::promise<void> gone;
  root->attach_functor([&] { gone.set_value(); });
  std::promise<json::object> found;
  auto then = [&](const json::object& all) { found.set_value(all); };
  caf::anon_send(host->capabilities->get(),
                 sandbox::want_capabilities{
                   true, std::make_shared<std::function<void(const json::object&)>>(then)});
  const auto all = found.get_future().get();
  if (as_json) {
    std::printf("%s\n", json::pretty(all).c_str());
  } else {
    for (const char* tool : {"bash", "rg", "tmux"}) {
      const auto at = process::find_executable(tool, host->environment);
      std::printf("%-8s %s\n", tool, at.error == 0 ? at.path.c_str() : "not on PATH");
    }
    std::printf("%-8s %s\n", "browser", sandbox::has_browser_process() ? "runs" : "does not run");
    const auto& browser = all.at("browser").as_object();
    std::printf("%-8s %s %s\n", "cdp", std::string(browser.at("endpoint").as_string()).c_str(),
                browser.at("cdp").as_bool() ? "answers" : "does not answer");
  }
  caf::anon_send_exit(root, caf::exit_reason::user_shutdown);
  gone.get_future().get();
  return 0;
}

} // namespace ahpd::aiod
