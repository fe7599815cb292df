#pragma once

#include "runtimes/docker/launcher.hpp"
#include "runtimes/docker/machines.hpp"
#include "runtimes/docker/sweeper.hpp"

#include <memory>
#include <string>

namespace ahpd::runtimes {

/// What runs in machines needs, in one piece that each run and each place holds.
struct machine_room : std::enable_shared_from_this<machine_room> {
  machine_room(std::shared_ptr<docker_machines> machines_, std::shared_ptr<event_follower> events_);

  const std::shared_ptr<docker_engine> engine;
  const std::shared_ptr<docker_machines> machines;
  const std::shared_ptr<event_follower> events;
  const std::shared_ptr<launcher> programs;
  const std::shared_ptr<sweeper> sweeps;
};

/// The place inside the machine of that name. Any thread.
std::shared_ptr<place> make_inside(std::shared_ptr<machine_room> room, std::string id);

} // namespace ahpd::runtimes
