#include "actors/core/scheduler.hpp"

#include <boost/asio/defer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <caf/actor_system.hpp>
#include <caf/detail/thread_safe_actor_clock.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <thread>
#include <vector>

namespace ahpd::core {

namespace asio = boost::asio;

namespace {

/// How many messages an actor takes before sockets and other actors have their turn. CAF's default
/// has no bound, and one flooded actor would starve everything else on the thread.
constexpr std::size_t messages_per_turn = 50;

constexpr std::size_t blocking_threads = 4;

class asio_coordinator final : public caf::scheduler::abstract_coordinator {
public:
  asio_coordinator(caf::actor_system& system, unsigned threads)
      : abstract_coordinator(system), threads_(threads), io_(static_cast<int>(threads)),
        blocking_(blocking_threads), unit_(*this) {}

  asio::io_context& io() { return io_; }
  asio::thread_pool& blocking() { return blocking_; }

  void init(caf::actor_system_config& cfg) override {
    abstract_coordinator::init(cfg);
    max_throughput_ = messages_per_turn;
    num_workers_ = threads_;
  }

  void start() override {
    clock_thread_ = std::thread([this] {
      system().thread_started();
      clock_.run_dispatch_loop();
      system().thread_terminates();
    });
    for (unsigned i = 0; i < threads_; ++i)
      workers_.emplace_back([this] {
        system().thread_started();
        io_.run();
        system().thread_terminates();
      });
    abstract_coordinator::start();
  }

  void stop() override {
    stop_actors();
    clock_.cancel_dispatch_loop();
    clock_thread_.join();
    blocking_.join();
    guard_.reset();
    // Sockets that are still open keep `run` busy for ever; whoever wanted a graceful end had it
    // before the system ended.
    io_.stop();
    for (auto& worker : workers_)
      worker.join();
  }

  void enqueue(caf::resumable* what) override {
    asio::post(io_, [this, what] { resume(what); });
  }

  caf::actor_clock& clock() noexcept override { return clock_; }

private:
  /// What a running actor uses to schedule others. One serves all threads: it has no state.
  class unit final : public caf::execution_unit {
  public:
    explicit unit(asio_coordinator& parent) : execution_unit(&parent.system()), parent_(parent) {}

    void exec_later(caf::resumable* what) override {
      asio::defer(parent_.io_, [&parent = parent_, what] { parent.resume(what); });
    }

  private:
    asio_coordinator& parent_;
  };

  void resume(caf::resumable* what) {
    switch (what->resume(&unit_, max_throughput_)) {
    case caf::resumable::resume_later:
      enqueue(what);
      break;
    case caf::resumable::done:
    case caf::resumable::awaiting_message:
      caf::intrusive_ptr_release(what);
      break;
    case caf::resumable::shutdown_execution_unit:
      break;
    }
  }

  unsigned threads_;
  asio::io_context io_;
  asio::thread_pool blocking_;
  asio::executor_work_guard<asio::io_context::executor_type> guard_{io_.get_executor()};
  unit unit_;
  caf::detail::thread_safe_actor_clock clock_;
  std::thread clock_thread_;
  std::vector<std::thread> workers_;
};

asio_coordinator& coordinator_of(caf::actor_system& system) {
  return dynamic_cast<asio_coordinator&>(system.scheduler());
}

} // namespace

void use_asio_scheduler(caf::actor_system_config& cfg, unsigned threads) {
  cfg.module_factories.push_back(
    [threads](caf::actor_system& system) -> caf::actor_system::module* {
      return new asio_coordinator(system, threads);
    });
}

asio::io_context& io_of(caf::actor_system& system) {
  return coordinator_of(system).io();
}

asio::thread_pool& blocking_pool_of(caf::actor_system& system) {
  return coordinator_of(system).blocking();
}

std::shared_ptr<void> call_after(caf::actor_system& system, std::chrono::milliseconds after,
                                 std::function<void()> due) {
  const auto timer = std::make_shared<asio::steady_timer>(io_of(system), after);
  timer->async_wait([due = std::move(due)](const boost::system::error_code& ec) {
    if (!ec)
      due();
  });
  return timer;
}

void run_blocking(caf::actor_system& system, std::function<void()> work) {
  asio::post(blocking_pool_of(system), std::move(work));
}

} // namespace ahpd::core
