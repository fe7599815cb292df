#include "runtimes/process/reaper.hpp"

#include "runtimes/process/children.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/strand.hpp>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

namespace ahpd::process {

namespace asio = boost::asio;

class reaper::watch : public std::enable_shared_from_this<watch> {
public:
  explicit watch(asio::io_context& io) : strand_(asio::make_strand(io)), ended_(strand_) {
    ended_.add(SIGCHLD);
  }

  void begin() {
    children::of_this_process().on_collected([me = weak_from_this(), on = strand_] {
      asio::post(on, [me] {
        if (const auto still = me.lock())
          still->collect_orphans();
      });
    });
    asio::post(strand_, [me = shared_from_this()] {
      me->collect_orphans(); // those that ended before anybody listened
      me->wait();
    });
  }

  void end() {
    children::of_this_process().on_collected({});
    asio::post(strand_, [me = shared_from_this()] {
      me->over_ = true;
      me->ended_.cancel();
    });
  }

private:
  void wait() {
    if (over_)
      return;
    ended_.async_wait([me = shared_from_this()](boost::system::error_code ec, int) {
      if (ec)
        return;
      me->collect_orphans();
      me->wait();
    });
  }

  /// Stops at a child of our own: the kernel shows no other before it is collected, and its program
  /// does that and then calls again.
  void collect_orphans() {
    auto& own = children::of_this_process();
    const auto held = own.lock();
    for (siginfo_t info{}; ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0; info = {}) {
      if (info.si_pid == 0 || own.has(held, info.si_pid))
        return;
      siginfo_t ignored{};
      ::waitid(P_PID, static_cast<id_t>(info.si_pid), &ignored, WEXITED | WNOHANG);
    }
  }

  asio::strand<asio::io_context::executor_type> strand_;
  asio::signal_set ended_;
  bool over_ = false;
};

reaper::reaper(asio::io_context& io) : watch_(std::make_shared<watch>(io)) {
  watch_->begin();
}

reaper::~reaper() {
  watch_->end();
}

bool become_subreaper() {
  return ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

} // namespace ahpd::process
