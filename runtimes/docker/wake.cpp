#include "runtimes/docker/wake.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace asio = boost::asio;

namespace ahpd::runtimes {

asio::awaitable<void> wake::wait() {
  co_await wait_until(std::chrono::steady_clock::time_point::max());
}

asio::awaitable<bool> wake::wait_for(std::chrono::steady_clock::duration most) {
  co_return co_await wait_until(std::chrono::steady_clock::now() + most);
}

asio::awaitable<bool> wake::wait_until(std::chrono::steady_clock::time_point end) {
  while (!raised_) {
    timer_.expires_at(end);
    boost::system::error_code ec;
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ec));
    if (!ec && !raised_)
      co_return false;
  }
  raised_ = false;
  co_return true;
}

void wake::raise() {
  raised_ = true;
  timer_.cancel();
}

} // namespace ahpd::runtimes
