#pragma once

#include "actors/core/clients.hpp"
#include "actors/core/directory.hpp"
#include "actors/core/metrics.hpp"
#include "actors/core/telemetry.hpp"
#include "actors/core/wire_log.hpp"
#include "actors/hub/engine.hpp"
#include "actors/hub/tools_server.hpp"
#include "runtimes/docker/manifest.hpp"
#include "runtimes/host/served_folders.hpp"
#include "runtimes/host/watch.hpp"
#include "runtimes/runtime.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ahpd::hub {

/// The plugin @ahpd/computer, when it is loaded: what makes machines.
struct computer_plugin {
  std::shared_ptr<runtimes::runtime> docker;
  runtimes::computer_options options;
};

/// What every actor of the hub is given when it starts. Set before the first actor and not changed
/// after, but for the addresses, which follow their actors.
struct services {
  std::string host_id; ///< UUID of this host; labels its machines
  std::string host_name;
  std::string default_directory; ///< absolute folder; where sessions start
  std::string shell = "/bin/sh"; ///< of this host's terminals
  std::chrono::milliseconds delta_window{75};
  /// How long a client whose connection was lost stays an active client (AHP "Disconnection").
  std::chrono::milliseconds return_grace{60'000};
  std::chrono::milliseconds metrics_interval{10'000}; ///< between exports, while followed
  /// How long a client may take to run its tool for an agent; 0: for ever.
  std::chrono::milliseconds client_tool_timeout{600'000};
  std::vector<engine> engines; ///< the first is the default provider
  std::optional<computer_plugin> computers;
  std::shared_ptr<runtimes::place> this_host;
  std::shared_ptr<const runtimes::served_folders> files; ///< null: file: is not served
  std::shared_ptr<runtimes::file_watcher> watcher;       ///< of those

  std::shared_ptr<core::sequencer> order;
  core::directory channels;
  core::clients clients;
  tools_directory tools;
  core::metrics metrics;
  core::telemetry telemetry{metrics};
  std::shared_ptr<core::wire_log> wire; ///< null: frames are not logged

  std::shared_ptr<core::address> store = std::make_shared<core::address>();
  std::shared_ptr<core::address> catalogue = std::make_shared<core::address>();
  std::shared_ptr<core::address> sessions = std::make_shared<core::address>();
  std::shared_ptr<core::address> machines = std::make_shared<core::address>();
  std::shared_ptr<core::address> terminals = std::make_shared<core::address>();
  std::shared_ptr<core::address> exporter = std::make_shared<core::address>();

  const engine* find_engine(const std::string& provider) const {
    for (const auto& e : engines)
      if (e.provider == provider)
        return &e;
    return nullptr;
  }
};

using services_ptr = std::shared_ptr<services>;

} // namespace ahpd::hub
