#pragma once

#include "runtimes/exec.hpp"
#include "runtimes/process/spawner.hpp"

#include <functional>
#include <string>

namespace boost::asio {
class io_context;
class thread_pool;
} // namespace boost::asio

namespace ahpd::process {

/// What a started program's owner gets to choose.
struct run_options {
  std::string marker; ///< as in the program's environment; empty: none
  std::size_t keep_bytes = 1u << 20;
  bool wait_for_reader = false;
  /// What children that outlive the program write into its streams is read until they close them,
  /// behind `on_exit` too, and told by `on_output`. Else the streams are closed at the program's
  /// end, and who still writes gets SIGPIPE. Once the handle is dropped it is read and not kept.
  bool read_on = false;
};

/// Starts a program on an io thread and calls `done` and the events there, as `place::exec` says.
///
/// Its input waits in a queue. What is written while 16 MiB wait is dropped and the input closed
/// behind the queue: the program gets every byte up to a point and then the end, never a stream
/// with a hole. A terminal always takes input; closing it types end-of-file (^D) and ends what can
/// be written.
///
/// `blocking` must be joined before `io` is destroyed. The handle may outlive both.
void start_program(boost::asio::io_context& io, boost::asio::thread_pool& blocking,
                   spawn_request what, run_options options, runtimes::exec_events events,
                   std::function<void(runtimes::exec_result)> done);

} // namespace ahpd::process
