#include "tools/ahpd/serve.hpp"

#include "actors/core/log.hpp"
#include "actors/core/scheduler.hpp"
#include "actors/hub/door.hpp"
#include "actors/hub/engines/acp.hpp"
#include "actors/hub/engines/built_in.hpp"
#include "actors/hub/hub.hpp"
#include "actors/hub/recovery.hpp"
#include "config/agents.hpp"
#include "config/announcement.hpp"
#include "config/identity.hpp"
#include "protocol/transport/server.hpp"
#include "runtimes/docker/docker_runtime.hpp"
#include "runtimes/host/host_place.hpp"
#include "runtimes/host/watch.hpp"
#include "runtimes/process/executable.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <caf/all.hpp>

#include <algorithm>
#include <array>
#include <future>
#include <mutex>
#include <stdexcept>

#include <unistd.h>

namespace ahpd {

namespace {

struct hub_config : caf::actor_system_config {
  explicit hub_config(unsigned threads) {
    set("logger.file-verbosity", caf::atom("quiet"));
    set("logger.console-verbosity", caf::atom("quiet"));
    core::use_asio_scheduler(*this, threads);
  }
};

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

/// The built-in a plugin entry names: by name, or by a path that holds `packages/<name>/`.
std::string built_in_name(const std::string& entry) {
  for (const std::string name : {"computer", "agent-acp"})
    if (entry == "@ahpd/" + name || entry.find("packages/" + name + "/") != std::string::npos)
      return name;
  return {};
}

bool on_path(const std::string& command, const std::map<std::string, std::string>& environment) {
  return process::find_executable(command, environment).error == 0;
}

/// Adds the agents that the operator's records name, then those known without one whose program is
/// installed here.
void load_agents(const config::run_options& options, hub::services& host,
                 config::announcement& facts) {
  const auto environment = config::real_surroundings().environment;
  auto agents = config::read_agents(options.directory, environment, facts.skipped);
  for (const auto& known : config::agent_templates())
    if (on_path(known.command, environment) &&
        std::none_of(agents.begin(), agents.end(), [&](auto& a) { return a.id == known.id; }))
      agents.push_back(known);
  for (const auto& agent : agents) {
    if (host.find_engine(agent.id))
      facts.skipped.push_back("agent " + agent.id + ": the host has one of its own by that name");
    else
      host.engines.push_back(hub::acp_engine(agent));
  }
  facts.plugins.push_back("@ahpd/agent-acp");
}

/// Loads what the plugin entries name; what cannot be loaded is one line of the announcement.
void load_plugins(const config::run_options& options, hub::services& host,
                  boost::asio::io_context& io, config::announcement& facts) {
  for (const auto& entry : options.plugins) {
    if (!entry.enabled)
      continue;
    const auto name = built_in_name(entry.name);
    if (name.empty()) {
      facts.skipped.push_back("plugin " + entry.name + " is none of this host's; skipped");
      continue;
    }
    if (name == "agent-acp") {
      const auto& loaded = facts.plugins;
      if (std::find(loaded.begin(), loaded.end(), "@ahpd/agent-acp") == loaded.end())
        load_agents(options, host, facts);
      continue;
    }
    auto read = runtimes::read_computer_options(entry.options);
    for (auto& line : read.left_out)
      facts.skipped.push_back(std::move(line));
    if (!read.wrong.empty()) {
      for (auto& line : read.wrong)
        facts.skipped.push_back(std::move(line));
      continue;
    }
    auto env = config::real_surroundings().environment;
    for (const auto& [key, value] : read.options.env)
      env[key] = value;
    host.computers = hub::computer_plugin{
      runtimes::make_docker_runtime(io, {host.host_id, read.options.label, std::move(env)}),
      read.options};
    facts.plugins.push_back("@ahpd/computer");
  }
}

transport::http_response plain(unsigned status, std::string body) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(body)};
}

/// Plain requests: agents' for tools, health, metrics, and the word that this is no web site.
void answer_request(caf::actor_system& system, const hub::services_ptr& host, const hub::door& door,
                    transport::http_request request,
                    const std::function<void(transport::http_response)>& reply) {
  const auto path = request.target.substr(0, request.target.find('?'));
  if (path.starts_with(hub::tools_directory::prefix))
    return host->tools.serve(std::move(request), reply);
  if (path == "/health")
    return reply(plain(200, "ok\n"));
  if (path == "/ready")
    return hub::check_ready(system, host, [reply](bool ready, const std::string& text) {
      reply(plain(ready ? 200 : 503, text + "\n"));
    });
  if (path == "/metrics") {
    if (!hub::has_token(door, request))
      return reply(plain(401, "A connection token is required"));
    return reply(
      {200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, host->metrics.text()});
  }
  if (path == "/api" || path.rfind("/api/", 0) == 0)
    return reply({404,
                  {{"Content-Type", "application/json"}},
                  json::serialize(json::object{{"message", "No API at " + path}})});
  auto upgrade = plain(426, "ahpd speaks the Agent Host Protocol over WebSocket");
  upgrade.headers["Upgrade"] = "websocket";
  reply(std::move(upgrade));
}

std::shared_ptr<transport::server> open_door(caf::actor_system& system,
                                             const config::run_options& options,
                                             const hub::services_ptr& host) {
  const hub::door door{options.connection_token, options.host};
  transport::server_handlers handlers;
  handlers.on_request = [&system, host,
                         door](transport::http_request request,
                               const std::function<void(transport::http_response)>& reply) {
    answer_request(system, host, door, std::move(request), reply);
  };
  handlers.on_upgrade =
    [&system, host, door](const transport::http_request& request) -> transport::upgrade_answer {
    if (auto refused = hub::refuse_upgrade(door, request)) {
      core::log::warning("connection refused", {{"peer", request.peer}, {"why", refused->body}});
      return *refused;
    }
    return [&system, host](const std::shared_ptr<transport::websocket>& socket) {
      return hub::connect(system, host, socket);
    };
  };
  std::string why;
  auto server = transport::listen(core::io_of(system), {options.host, options.port, {}},
                                  std::move(handlers), {}, why);
  if (!server)
    throw std::runtime_error(why);
  host->tools.listens_at(options.host, server->port());
  return server;
}

std::string url_of(const config::run_options& options, std::uint16_t port) {
  const bool v6 = options.host.find(':') != std::string::npos;
  return "ws://" + (v6 ? "[" + options.host + "]" : options.host) + ":" + std::to_string(port);
}

/// Why the hub ends: a signal, or a tree that ended by itself.
enum class ending { told, failed };

} // namespace

int run_hub(config::run_options options,
            const std::function<void(const std::string& announcement)>& ready) {
  core::log::start("info");
  core::log::redact(options.connection_token);
  auto database = std::make_shared<config::store>(
    options.sessions_in_memory ? ":memory:" : options.directory + "/ahpd.db");
  auto left = hub::end_cut_turns(*database);

  hub_config cfg(options.io_threads);
  caf::actor_system system(cfg);
  auto& io = core::io_of(system);

  config::announcement facts;
  auto host = std::make_shared<hub::services>();
  host->host_id = config::host_id(options.directory);
  host->host_name = machine_name();
  host->default_directory = options.paths.front();
  const auto environment = config::real_surroundings().environment;
  if (const auto shell = environment.find("SHELL"); shell != environment.end())
    host->shell = shell->second;
  host->files = std::make_shared<const runtimes::served_folders>(options.paths);
  host->watcher = runtimes::make_file_watcher(io, core::blocking_pool_of(system), host->files);
  host->client_tool_timeout = std::chrono::milliseconds(options.client_tool_timeout_ms);
  host->delta_window = std::chrono::milliseconds(options.delta_window_ms);
  host->engines = hub::built_in_engines();
  host->this_host = runtimes::make_host_place(io, core::blocking_pool_of(system), environment);
  host->order = hub::open_sequence(*database, host);
  facts.skipped = options.skipped;
  if (!options.wire.empty())
    host->wire = std::make_shared<core::wire_log>(options.wire);
  facts.wire = options.wire;
  load_plugins(options, *host, io, facts);

  std::promise<ending> over;
  std::once_flag once;
  const auto end = [&](ending how) { std::call_once(once, [&] { over.set_value(how); }); };
  boost::asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&](const boost::system::error_code& ec, int) {
    if (!ec)
      end(ending::told);
  });

  auto root = hub::start_hub(system, host, database, std::move(left));
  std::promise<void> tree_gone;
  root->attach_functor([&] {
    end(ending::failed);
    tree_gone.set_value();
  });
  auto server = open_door(system, options, host);

  facts.url = url_of(options, server->port());
  facts.runtime = "ahpd " AHPD_VERSION;
  facts.paths = options.paths;
  facts.pid = ::getpid();
  facts.files = options.files;
  facts.door = !options.connection_token.empty() ? config::announcement::admission::token
               : config::is_loopback(options.host)
                 ? config::announcement::admission::loopback_only
                 : config::announcement::admission::any_connection;
  facts.token_file = options.connection_token_file;
  ready(config::announce(facts));

  const auto how = over.get_future().get();
  // Nothing new comes in, clients are told, then the tree ends from its leaves to the store.
  server->close("the host is stopping");
  caf::anon_send_exit(root, caf::exit_reason::user_shutdown);
  tree_gone.get_future().get();
  root = nullptr;
  if (how == ending::failed)
    core::log::error("the hub ended by itself; start it again");
  return how == ending::told ? 0 : 1;
}

} // namespace ahpd
