#pragma once

#include "actors/core/directory.hpp"
#include "actors/sandbox/edit_history.hpp"
#include "actors/sandbox/metrics.hpp"
#include "config/sandbox_options.hpp"
#include "runtimes/process/accounts.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace ahpd::sandbox {

/// What every part of the daemon knows. Made before the tree starts, and alive as long as anything
/// refers to it; what changes is thread-safe by itself.
struct services {
  config::sandbox_options options;
  std::map<std::string, std::string> environment; ///< of what is started; without secrets
  std::string home; ///< of the daemon's account: its working directory
  std::string runtime_dir;
  std::string run_marker; ///< the first part of every marker, so that one sweep finds all
  std::uint16_t port = 0; ///< that was bound
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  process::accounts accounts;
  metrics counters;
  edit_history edits;

  // The actors, by the address that survives their restarts.
  std::shared_ptr<core::address> commands = std::make_shared<core::address>();
  std::shared_ptr<core::address> capabilities = std::make_shared<core::address>();
  std::shared_ptr<core::address> files = std::make_shared<core::address>();
};
using services_ptr = std::shared_ptr<services>;

} // namespace ahpd::sandbox
