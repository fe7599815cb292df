#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <chrono>

namespace ahpd::runtimes {

using docker_strand = boost::asio::strand<boost::asio::io_context::executor_type>;

/// Lets one coroutine on a strand sleep until something else on that strand wakes it. A wake that
/// comes before the wait is not lost.
class wake {
public:
  explicit wake(docker_strand on) : timer_(on) {}

  boost::asio::awaitable<void> wait();

  /// False when so much time passed first.
  boost::asio::awaitable<bool> wait_for(std::chrono::steady_clock::duration most);

  /// On the strand.
  void raise();

private:
  boost::asio::awaitable<bool> wait_until(std::chrono::steady_clock::time_point end);

  boost::asio::steady_timer timer_;
  bool raised_ = false;
};

} // namespace ahpd::runtimes
