#pragma once

#include "runtimes/docker/launcher.hpp"

#include <boost/asio/thread_pool.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ahpd::runtimes {

/// What a look for processes came to.
struct sweep_outcome {
  std::size_t hit = 0;   ///< how many processes were signalled
  std::string failure;   ///< why not all could be looked for or ended; empty: none is left out
  bool no_shell = false; ///< the machine has nothing that could look
};

/// Finds the processes of runs by the marker in their environment and signals them. A small script
/// does that inside the machine: as root, and as each other user that has processes there, since
/// root in a container may not read another user's environment.
class sweeper : public std::enable_shared_from_this<sweeper> {
public:
  explicit sweeper(std::shared_ptr<launcher> programs) : programs_(std::move(programs)) {}

  /// Signals each process once; SIGKILL again and again until none is left. Signal 0 only counts.
  boost::asio::awaitable<sweep_outcome> signal(found_machine in, std::vector<std::string> markers,
                                               int number);

private:
  struct pass {
    std::size_t hit = 0;
    std::vector<std::string> others; ///< "uid:gid" of users whose processes could not be read
    std::string failure;
    bool no_shell = false;
  };

  boost::asio::awaitable<pass> look(found_machine in, std::string user,
                                    std::vector<std::string> markers, int number);
  boost::asio::awaitable<sweep_outcome> look_from_here(std::vector<std::string> markers, int number,
                                                       std::string machine);

  std::shared_ptr<launcher> programs_;
  std::unique_ptr<boost::asio::thread_pool> blocking_; ///< made when it is needed
};

} // namespace ahpd::runtimes
