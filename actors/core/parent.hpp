#pragma once

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/default_attachable.hpp>

namespace ahpd::core {

/// Has `self` told, by a down message, when `parent` ends, and takes that back when `self` ends
/// first: else what CAF notes at the parent stays there, and with it the memory of an actor that is
/// gone. For children of an actor that outlives many of them.
template <class Self> void watch_parent(Self* self, const caf::actor& parent) {
  self->monitor(parent);
  self->attach_functor(
    [parent = caf::actor_cast<caf::weak_actor_ptr>(parent), me = self->address()] {
      if (const auto there = parent.lock())
        there->get()->detach(
          caf::default_attachable::observe_token{me, caf::default_attachable::monitor});
    });
}

} // namespace ahpd::core
