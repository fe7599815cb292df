#pragma once

#include "actors/core/owner.hpp"
#include "actors/hub/pool_work.hpp"
#include "actors/hub/services.hpp"

#include <caf/behavior.hpp>
#include <caf/response_promise.hpp>
#include <caf/stateful_actor.hpp>

#include <memory>
#include <optional>
#include <string>

namespace ahpd::hub {

/// Asks a new watch what `createResourceWatch` is answered with. One that cannot watch ends then.
struct await_watch {};
struct watch_begun {
  pool_answer answer;
};

/// A watch tells itself that nobody is left.
struct leave {};

struct resource_watch_state {
  static inline const char* name = "resource watch";

  services_ptr host;
  std::string uri;
  std::shared_ptr<core::channel> doc; ///< null: not begun yet
  std::optional<runtimes::file_watcher::handle> watch;
  std::optional<pool_answer> answer;
  std::optional<caf::response_promise> asked;
  bool creator_left = false;

  resource_watch_state() = default;
  resource_watch_state(const resource_watch_state&) = delete;
  resource_watch_state& operator=(const resource_watch_state&) = delete;
  ~resource_watch_state(); ///< its channel goes with it
};

/// Watches files for clients and owns the channel that tells them, ahp-resource-watch:/<id> (AHP
/// "Resource watch"). Ends with its last follower, or with the connection that created it while it
/// has none.
caf::behavior resource_watch_actor(caf::stateful_actor<resource_watch_state>* self,
                                   services_ptr host, runtimes::watch_request what,
                                   const json::object& params, const caf::actor& creator);

} // namespace ahpd::hub

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::await_watch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::leave)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::watch_begun)
