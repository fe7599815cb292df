#pragma once

#include "actors/core/directory.hpp"

#include <caf/behavior.hpp>
#include <caf/stateful_actor.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ahpd::core {

/// One child of a supervisor.
struct child_spec {
  std::string name; ///< for the log
  std::function<caf::actor(caf::actor_system&)> start;
  std::shared_ptr<address> where; ///< told of every new incarnation
  bool vital = false;             ///< true: its crash is the supervisor's end at once
};

/// When a supervisor gives up, and how long it waits before it starts a child again: `first_delay`,
/// doubled with every crash inside the window up to `longest_delay`.
struct restart_policy {
  unsigned most = 5; ///< crashes within the window; one more escalates
  std::chrono::seconds window{60};
  std::chrono::milliseconds first_delay{50};
  std::chrono::milliseconds longest_delay{5'000};
};

struct supervisor_state {
  static inline const char* name = "supervisor";

  struct child {
    child_spec spec;
    caf::actor handle;
    std::deque<std::chrono::steady_clock::time_point> crashes;
  };
  std::vector<child> children;
  restart_policy policy;
  bool stopping = false;
  caf::error reason;
};

/// The delay before the restart that follows `crashes` crashes within the window.
std::chrono::milliseconds back_off(const restart_policy& policy, std::size_t crashes);

/// Starts its children in order, restarts the ones that crash, and ends with a child's reason when
/// that child is vital or crashes too often. Told to end, it ends its children in the reverse
/// order, each one gone before the next is told.
caf::behavior supervisor(caf::stateful_actor<supervisor_state>* self, std::vector<child_spec> specs,
                         restart_policy policy);

} // namespace ahpd::core
