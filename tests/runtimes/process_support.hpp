#pragma once

#include "runtimes/exec.hpp"
#include "runtimes/host/host_place.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace ahpd::tests {

/// One program of a test: what it told, and ways to wait for that. Every wait fails the test after
/// a generous deadline.
class watched {
public:
  runtimes::exec_events events();
  void started(runtimes::exec_result result);

  void wait_started();
  runtimes::exit_status wait_exit();

  /// Waits until `which` holds `text`, and gives all of it that is kept.
  std::string wait_output(const std::string& text, runtimes::output which = runtimes::output::out);

  bool ended();
  std::string out() const { return program->read(runtimes::output::out, 0).bytes; }
  std::string err() const { return program->read(runtimes::output::err, 0).bytes; }

  std::shared_ptr<runtimes::running> program;
  std::string refused;
  std::vector<std::string> order; ///< "started", "output", "exit": as they came

private:
  void wait(const char* what, const std::function<bool()>& until);
  void note(const char* what);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool answered_ = false;
  std::optional<runtimes::exit_status> exit_;
};

/// A host place with an io thread and a pool. At its end all its programs are killed and collected.
class host_fixture {
public:
  host_fixture();
  ~host_fixture();

  /// Starts a program and waits until it runs or was refused.
  std::shared_ptr<watched> start(runtimes::exec_request what);
  std::shared_ptr<watched> sh(const std::string& script);

  /// Sweeps and gives what `sweep` answered.
  std::pair<std::size_t, std::string> sweep(std::vector<std::string> markers);

  /// Lets `io.run` return once nothing is pending.
  void release() { work_.reset(); }

  /// A marker that no other run has; what still carries it at the fixture's end is killed.
  std::string marker();

  boost::asio::io_context io;
  boost::asio::thread_pool blocking{2};
  std::shared_ptr<runtimes::place> place;

private:
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io.get_executor()};
  std::thread thread_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<watched>> runs_;
  std::vector<std::string> markers_;
};

runtimes::exec_request request(std::vector<std::string> argv);
runtimes::exec_request script(const std::string& text);

/// Whether a process lives: it exists and is not a zombie.
bool lives(pid_t pid);

/// Waits for a process that is not ours to collect to be gone.
bool gone(pid_t pid);

} // namespace ahpd::tests
