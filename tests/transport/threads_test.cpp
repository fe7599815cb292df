#include "tests/transport/fixture.hpp"

#include <boost/asio/executor_work_guard.hpp>

#include <atomic>
#include <thread>
#include <vector>

using namespace ahpd::tests;

namespace {

/// An io_context run by two threads of its own.
struct threads {
  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  std::vector<std::thread> all;

  threads() {
    for (int i = 0; i < 2; ++i)
      all.emplace_back([this] { io.run(); });
  }
  ~threads() {
    io.stop();
    for (auto& one : all)
      one.join();
  }
};

/// Waits for `n`, ten seconds at most.
void await(const std::atomic<int>& what, int n) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (what < n && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  REQUIRE(what == n);
}

} // namespace

TEST_CASE("many threads send at once; each one's messages arrive whole and in order") {
  constexpr int senders = 3, each = 500;
  std::atomic<int> heard = 0, disorder = 0, closed = 0, opened = 0;
  std::vector<int> last(senders, -1); // only on the far socket's strand
  std::shared_ptr<websocket> near, far;
  threads on;
  server_handlers handlers;
  handlers.on_upgrade = [&](const http_request&) -> upgrade_answer {
    return [&](std::shared_ptr<websocket> it) -> websocket_events {
      far = it;
      ++opened;
      return {[&, it](std::string text) {
                const int who = text[0] - '0', which = std::stoi(text.substr(1));
                if (which != ++last[static_cast<std::size_t>(who)])
                  ++disorder;
                it->grant(1);
                ++heard;
              },
              {},
              [&](close_reason) { ++closed; }};
    };
  };
  std::string error;
  const auto sut = listen(on.io, {}, handlers, {}, error);
  REQUIRE_MESSAGE(sut, error);
  dial_websocket(
    on.io, tcp_target(sut->port()), {}, {},
    [&](std::shared_ptr<websocket> it) -> websocket_events {
      near = std::move(it);
      ++opened;
      return {{}, {}, [&](close_reason) { ++closed; }};
    },
    [](http_response) {});
  await(opened, 2);
  std::vector<std::thread> all;
  for (int who = 0; who < senders; ++who)
    all.emplace_back([&, who] {
      for (int i = 0; i < each; ++i)
        near->send(std::make_shared<const std::string>(std::to_string(who) + std::to_string(i)));
    });
  for (auto& one : all)
    one.join();
  await(heard, senders * each);
  CHECK(disorder == 0);
  near->close(1000, "done");
  far->close(1000, "done");
  await(closed, 2);
}

TEST_CASE("requests of many threads share a pool; cancels at any moment are safe") {
  constexpr int askers = 3, each = 200;
  std::atomic<int> answered = 0, wrong = 0;
  threads on;
  server_handlers handlers;
  handlers.on_request = [](http_request what, std::function<void(http_response)> reply) {
    reply({200, {}, what.target});
  };
  std::string error;
  const auto sut = listen(on.io, {}, handlers, {}, error);
  REQUIRE_MESSAGE(sut, error);
  const auto client = make_http_client(on.io, tcp_target(sut->port()));
  std::vector<std::thread> all;
  for (int who = 0; who < askers; ++who)
    all.emplace_back([&, who] {
      for (int i = 0; i < each; ++i) {
        const std::string path = "/" + std::to_string(who) + "/" + std::to_string(i);
        std::atomic<bool> done = false;
        const auto running = client->send({"GET", path, {}, {}, {}}, {}, [&](http_result it) {
          if (!it.response || it.response->body != path)
            ++wrong;
          ++answered;
          done = true;
        });
        const auto dropped = client->send({"GET", "/dropped", {}, {}, {}}, {}, [](http_result) {});
        while (!done)
          std::this_thread::yield();
      }
    });
  for (auto& one : all)
    one.join();
  CHECK(answered == askers * each);
  CHECK(wrong == 0);
}
