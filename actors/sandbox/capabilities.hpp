#pragma once

#include "actors/sandbox/call.hpp"
#include "protocol/transport/client.hpp"

#include <caf/behavior.hpp>
#include <caf/stateful_actor.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace ahpd::sandbox {

/// Wants to know what works on this machine. `then` is called on the actor's thread.
struct want_capabilities {
  bool refresh = false; ///< probe now
  std::shared_ptr<std::function<void(const json::object&)>> then;
};

struct capabilities_state {
  static inline const char* name = "capabilities";

  /// What is being found out now; all three must be there.
  struct probe {
    std::optional<json::object> here;
    std::optional<json::object> browser;
    std::optional<json::object> computer;
  };

  services_ptr host;
  std::shared_ptr<const json::object> known;
  std::chrono::steady_clock::time_point known_at;
  std::optional<probe> now;
  std::vector<want_capabilities> waiting;
  std::shared_ptr<transport::exchange> asking_browser, asking_computer;
};

/// Probes what this machine has (spec "Capabilities JSON"). An answer of the last five seconds is
/// given again; an older one is given, too, while a new one is being made, unless a refresh was
/// asked for. Callers who come during a probe share it.
caf::behavior capabilities_actor(caf::stateful_actor<capabilities_state>* self, services_ptr host);

} // namespace ahpd::sandbox

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::sandbox::want_capabilities)
