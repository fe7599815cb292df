#pragma once

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/message.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace ahpd::core {

/// A message on its way to an actor that gets it after a while, unless this is dropped before. What
/// waits in CAF's own clock cannot be called off, and keeps the actor with all it holds until then;
/// so whatever may wait long and often waits here.
class later {
public:
  later() = default;

  template <class... Ts>
  later(caf::actor_system& system, std::chrono::milliseconds after, const caf::actor& to,
        Ts&&... what)
      : wait_(start(system, after, to, caf::make_message(std::forward<Ts>(what)...))) {}

private:
  static std::shared_ptr<void> start(caf::actor_system& system, std::chrono::milliseconds after,
                                     const caf::actor& to, caf::message what);

  std::shared_ptr<void> wait_;
};

} // namespace ahpd::core
