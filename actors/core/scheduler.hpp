#pragma once

#include <caf/actor_system_config.hpp>
#include <caf/fwd.hpp>

#include <chrono>
#include <functional>
#include <memory>

namespace boost::asio {
class io_context;
class thread_pool;
} // namespace boost::asio

namespace ahpd::core {

/// Makes every actor of a system run on the threads of one Asio `io_context`, beside its sockets,
/// child processes and timers, so that no wake-up crosses a thread. Call once, before the
/// `actor_system` is made; `threads` is at least 1. The context lives as long as the system.
void use_asio_scheduler(caf::actor_system_config& cfg, unsigned threads);

/// The context that the actors of `system` run on. Only for systems made with `use_asio_scheduler`.
boost::asio::io_context& io_of(caf::actor_system& system);

/// The few threads for what blocks: files, name look-ups, hashing.
boost::asio::thread_pool& blocking_pool_of(caf::actor_system& system);

/// Calls `due` on a thread of the system after a while, unless what this gives is dropped before.
/// To be dropped before the system ends.
std::shared_ptr<void> call_after(caf::actor_system& system, std::chrono::milliseconds after,
                                 std::function<void()> due);

/// Runs `work` on the blocking pool.
void run_blocking(caf::actor_system& system, std::function<void()> work);

} // namespace ahpd::core
