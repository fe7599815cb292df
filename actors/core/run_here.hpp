#pragma once

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/send.hpp>

#include <functional>
#include <memory>

namespace ahpd::core {

/// Work that an actor sent to itself from a callback of a lower floor. An actor that uses `back_to`
/// handles it with `take_run_here()`.
struct run_here {
  std::shared_ptr<std::function<void()>> work;
};

} // namespace ahpd::core

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::core::run_here)

namespace ahpd::core {

/// A callback that runs `work` with its argument inside `self`, as a message: where the answer of a
/// runtime or a socket meets an actor's state. When the actor is gone by then, nothing runs.
template <class T, class Self, class Work> std::function<void(T)> back_to(Self* self, Work work) {
  return [to = caf::actor_cast<caf::actor>(self), work = std::move(work)](T value) mutable {
    auto shared = std::make_shared<T>(std::move(value));
    caf::anon_send(to, run_here{std::make_shared<std::function<void()>>(
                         [work, shared]() mutable { work(std::move(*shared)); })});
  };
}

/// The handler for `run_here`.
inline auto take_run_here() {
  return [](const run_here& what) { (*what.work)(); };
}

} // namespace ahpd::core
