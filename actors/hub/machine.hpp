#pragma once

#include "runtimes/runtime.hpp"

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/behavior.hpp>
#include <caf/response_promise.hpp>
#include <caf/stateful_actor.hpp>

#include <deque>
#include <memory>
#include <string>

namespace ahpd::hub {

/// What can be done to a machine that exists.
enum class machine_verb : std::uint8_t { start, stop, restart, suspend, remove };

/// Asks a machine for a verb; answered with `unit` once the runtime has done it.
struct do_verb {
  machine_verb verb;
};

struct machine_state {
  static inline const char* name = "machine";

  std::shared_ptr<runtimes::runtime> runtime;
  std::string id;
  std::deque<std::pair<machine_verb, caf::response_promise>> queue; ///< the front one is under way

  machine_state() = default;
  machine_state(const machine_state&) = delete;
  machine_state& operator=(const machine_state&) = delete;
  ~machine_state(); ///< answers who still waits
};

/// Does one verb at a time to one machine, in the order they were asked for.
caf::behavior machine_actor(caf::stateful_actor<machine_state>* self,
                            std::shared_ptr<runtimes::runtime> runtime, std::string id);

/// Asks a docker queue for a machine; answered with `made_machine`.
struct make_machine {
  runtimes::machine_spec spec;
  std::function<void(runtimes::progress)> on_progress; ///< may be empty
};
struct made_machine {
  runtimes::machine_record record;
};

struct docker_queue_state {
  static inline const char* name = "docker queue";

  std::shared_ptr<runtimes::runtime> runtime;
  std::deque<std::pair<make_machine, caf::response_promise>> queue; ///< the front one is being made

  docker_queue_state() = default;
  docker_queue_state(const docker_queue_state&) = delete;
  docker_queue_state& operator=(const docker_queue_state&) = delete;
  ~docker_queue_state(); ///< answers who still waits
};

/// Makes machines on one Docker, one at a time; a failure lets the next one go on (facts "Ordering
/// rules").
caf::behavior docker_queue_actor(caf::stateful_actor<docker_queue_state>* self,
                                 std::shared_ptr<runtimes::runtime> runtime);

/// What a runtime's refusal is on the wire (facts "Codes").
caf::error wire_refusal(const runtimes::refusal& why);

} // namespace ahpd::hub

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::do_verb)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::make_machine)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::made_machine)
