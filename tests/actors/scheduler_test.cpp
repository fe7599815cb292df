#include "actors/core/scheduler.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <thread>

using namespace std::chrono_literals;

namespace {

struct config : caf::actor_system_config {
  explicit config(unsigned threads) {
    set("logger.file-verbosity", caf::atom("quiet"));
    ahpd::core::use_asio_scheduler(*this, threads);
  }
};

using tick = caf::atom_constant<caf::atom("tick")>;
using ask = caf::atom_constant<caf::atom("ask")>;

template <class T> T within(std::future<T>& f) {
  REQUIRE(f.wait_for(20s) == std::future_status::ready);
  return f.get();
}

} // namespace

TEST_CASE("an actor runs on the thread of the io_context") {
  config cfg(1);
  caf::actor_system system(cfg);
  std::promise<std::thread::id> io_thread;
  boost::asio::post(ahpd::core::io_of(system),
                    [&] { io_thread.set_value(std::this_thread::get_id()); });
  std::promise<std::thread::id> actor_thread;
  system.spawn(
    [&](caf::event_based_actor*) { actor_thread.set_value(std::this_thread::get_id()); });
  auto a = io_thread.get_future();
  auto b = actor_thread.get_future();
  CHECK(within(a) == within(b));
}

TEST_CASE("a flooded actor does not starve the sockets' thread") {
  config cfg(1);
  caf::actor_system system(cfg);
  // The actor sends itself two messages for each one until told otherwise: its mailbox never
  // empties.
  std::atomic<bool> over{false};
  auto flooded = system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    return {[self, &over](tick t) {
      if (!over)
        self->send(self, t);
    }};
  });
  for (int i = 0; i < 1000; ++i)
    caf::anon_send(flooded, tick::value);
  std::promise<bool> ran;
  boost::asio::post(ahpd::core::io_of(system), [&] {
    over = true;
    ran.set_value(true);
  });
  auto f = ran.get_future();
  CHECK(within(f));
  caf::anon_send_exit(flooded, caf::exit_reason::user_shutdown);
}

TEST_CASE("a system ends while timers, requests and actors are under way") {
  for (unsigned threads : {1u, 2u}) {
    config cfg(threads);
    caf::actor_system system(cfg);
    for (int i = 0; i < 50; ++i) {
      auto a = system.spawn([](caf::event_based_actor* self) -> caf::behavior {
        self->delayed_send(self, 3600s, tick::value);
        return {[](tick) {}, [](ask) { return 1; }};
      });
      system.spawn([a](caf::event_based_actor* self) {
        self->request(a, 3600s, ask::value).then([](int) {});
      });
      caf::anon_send_exit(a, caf::exit_reason::user_shutdown);
    }
  }
  CHECK(true); // getting here is the point: no hang, no crash
}

TEST_CASE("requests between many actors on two threads are all answered") {
  config cfg(2);
  caf::actor_system system(cfg);
  constexpr int askers = 16;
  constexpr int rounds = 500;
  std::atomic<int> answered{0};
  std::promise<void> all;
  auto echo = system.spawn([]() -> caf::behavior { return {[](ask, int n) { return n; }}; });
  for (int i = 0; i < askers; ++i)
    system.spawn([&, echo](caf::event_based_actor* self) -> caf::behavior {
      self->send(self, tick::value, 0);
      return {[&, self, echo](tick, int n) {
        if (n == rounds)
          return self->quit();
        self->request(echo, caf::infinite, ask::value, n).then([&, self](int got) {
          if (++answered == askers * rounds)
            all.set_value();
          self->send(self, tick::value, got + 1);
        });
      }};
    });
  auto f = all.get_future();
  CHECK(f.wait_for(60s) == std::future_status::ready);
  CHECK(answered == askers * rounds);
  caf::anon_send_exit(echo, caf::exit_reason::user_shutdown);
}

TEST_CASE("a delayed message arrives and blocking work runs beside the actors") {
  config cfg(1);
  caf::actor_system system(cfg);
  std::promise<bool> late;
  system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    self->delayed_send(self, 1ms, tick::value);
    return {[&, self](tick) {
      ahpd::core::run_blocking(self->system(), [&] { late.set_value(true); });
      self->quit();
    }};
  });
  auto f = late.get_future();
  CHECK(within(f));
}
