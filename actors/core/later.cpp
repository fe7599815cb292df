#include "actors/core/later.hpp"

#include "actors/core/scheduler.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/send.hpp>

namespace ahpd::core {

std::shared_ptr<void> later::start(caf::actor_system& system, std::chrono::milliseconds after,
                                   const caf::actor& to, caf::message what) {
  return call_after(system, after,
                    [to = caf::actor_cast<caf::weak_actor_ptr>(to), what = std::move(what)] {
                      if (const auto there = caf::actor_cast<caf::actor>(to))
                        caf::anon_send(there, what);
                    });
}

} // namespace ahpd::core
