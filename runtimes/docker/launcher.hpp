#pragma once

#include "runtimes/docker/exec_run.hpp"
#include "runtimes/docker/follower.hpp"
#include "runtimes/docker/machines.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace ahpd::runtimes {

/// A started run, or why there is none.
struct launched {
  std::shared_ptr<exec_run> run;
  std::string refused;
};

/// Starts programs in containers and learns how they ended. On the engine's strand.
class launcher : public std::enable_shared_from_this<launcher> {
public:
  /// `start_limit`: how long the engine may take to start a program that it has accepted.
  launcher(std::shared_ptr<docker_engine> engine, std::shared_ptr<event_follower> events,
           std::chrono::milliseconds start_limit);

  /// Starts a program in a container and waits until it runs, or is known never to.
  boost::asio::awaitable<launched> launch(found_machine in, exec_request what, std::string marker,
                                          std::shared_ptr<run_controls> controls);

  /// Waits for the end of a launched program and of its output.
  boost::asio::awaitable<exit_status> end_of(std::shared_ptr<exec_run> run);

  boost::asio::awaitable<void> resize(std::shared_ptr<exec_run> run, window_size size);

  docker_engine& engine() const { return *engine_; }

private:
  boost::asio::awaitable<outcome<docker::exec_state>> inspect(std::string exec_id);
  boost::asio::awaitable<std::string> connect(std::shared_ptr<exec_run> run);
  boost::asio::awaitable<std::string> started(std::shared_ptr<exec_run> run);
  boost::asio::awaitable<void> wait_closed(std::shared_ptr<exec_run> run);
  boost::asio::awaitable<bool> has_ended(std::string exec_id);
  void hear();
  void exec_died(const docker::event& what);

  std::shared_ptr<docker_engine> engine_;
  std::shared_ptr<event_follower> events_;
  const std::chrono::milliseconds start_limit_;
  bool hearing_ = false;
  std::map<std::string, std::weak_ptr<exec_run>> runs_; ///< by exec id
};

} // namespace ahpd::runtimes
