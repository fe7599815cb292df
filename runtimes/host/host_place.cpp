#include "runtimes/host/host_place.hpp"

#include "runtimes/process/program.hpp"
#include "runtimes/process/sweep.hpp"
#include "runtimes/process/user.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <signal.h>
#include <unistd.h>

#include <mutex>
#include <utility>

namespace ahpd::runtimes {

namespace {

namespace asio = boost::asio;

/// Makes the request run as this user; gives a sentence when it may not.
std::string become(const process::user& who, process::spawn_request& what,
                   const std::map<std::string, std::string>& asked) {
  if (who.who.uid == ::geteuid())
    return {};
  if (::geteuid() != 0)
    return "running a program as the user '" + who.name + "' needs a daemon that runs as root";
  what.as = who.who;
  for (const auto& [name, value] :
       {std::pair{"HOME", &who.home}, {"USER", &who.name}, {"LOGNAME", &who.name}})
    if (!asked.count(name))
      what.env[name] = *value;
  return {};
}

/// One sweep at a time, for all who asked meanwhile: each looks at every process of this host.
class sweeps : public std::enable_shared_from_this<sweeps> {
public:
  using callback = std::function<void(std::size_t, std::string)>;

  sweeps(asio::io_context& io, asio::thread_pool& blocking) : io_(io), blocking_(blocking) {}

  void add(const std::vector<std::string>& markers, callback done) {
    const std::lock_guard hold(mutex_);
    wanted_.markers.insert(markers.begin(), markers.end());
    wanted_.markers.erase(std::string()); // no run at all, not one without a name
    waiting_.push_back(std::move(done));
    if (!std::exchange(busy_, true))
      asio::post(blocking_, [self = shared_from_this()] { self->run(); });
  }

private:
  void run() {
    for (;;) {
      process::process_tree tree;
      std::vector<callback> waiting;
      {
        const std::lock_guard hold(mutex_);
        busy_ = !waiting_.empty();
        if (!busy_)
          return;
        std::swap(tree, wanted_);
        std::swap(waiting, waiting_);
      }
      const auto result = process::kill_tree(tree);
      for (auto& done : waiting)
        asio::post(io_, [done = std::move(done), result] { done(result.killed, result.failure); });
    }
  }

  asio::io_context& io_;
  asio::thread_pool& blocking_;
  std::mutex mutex_;
  process::process_tree wanted_;
  std::vector<callback> waiting_;
  bool busy_ = false;
};

class host_place : public place {
public:
  host_place(asio::io_context& io, asio::thread_pool& blocking,
             std::map<std::string, std::string> base)
      : io_(io), blocking_(blocking), base_(std::move(base)) {}

  void exec(exec_request what, exec_events events, std::function<void(exec_result)> done) override {
    process::spawn_request child;
    child.argv = std::move(what.argv);
    child.env = what.env;
    child.env.insert(base_.begin(), base_.end()); // keeps what the request set
    if (!what.marker.empty())
      child.env[process::marker_variable] = what.marker;
    child.directory = std::move(what.directory);
    child.terminal = what.terminal;
    child.input = what.input;
    process::run_options options{std::move(what.marker), what.keep_bytes, what.wait_for_reader};
    if (what.user.empty())
      return process::start_program(io_, blocking_, std::move(child), std::move(options),
                                    std::move(events), std::move(done));

    asio::post(blocking_,
               [&io = io_, &blocking = blocking_, child = std::move(child),
                options = std::move(options), events = std::move(events), done = std::move(done),
                user = std::move(what.user), asked = std::move(what.env)]() mutable {
                 auto found = process::find_user(user);
                 if (found.found)
                   found.refused = become(*found.found, child, asked);
                 if (found.refused.empty())
                   process::start_program(io, blocking, std::move(child), std::move(options),
                                          std::move(events), std::move(done));
                 else
                   asio::post(io, [done = std::move(done), why = std::move(found.refused)] {
                     done({nullptr, why});
                   });
               });
  }

  void sweep(std::vector<std::string> markers,
             std::function<void(std::size_t, std::string)> done) override {
    sweeps_->add(markers, std::move(done));
  }

private:
  asio::io_context& io_;
  asio::thread_pool& blocking_;
  const std::map<std::string, std::string> base_;
  const std::shared_ptr<sweeps> sweeps_ = std::make_shared<sweeps>(io_, blocking_);
};

} // namespace

std::shared_ptr<place> make_host_place(asio::io_context& io, asio::thread_pool& blocking,
                                       std::map<std::string, std::string> base_environment) {
  // Started by somebody who ignores SIGCHLD, the kernel would throw every exit status away.
  struct sigaction now {};
  if (::sigaction(SIGCHLD, nullptr, &now) == 0 && now.sa_handler == SIG_IGN)
    ::signal(SIGCHLD, SIG_DFL);
  return std::make_shared<host_place>(io, blocking, std::move(base_environment));
}

} // namespace ahpd::runtimes
