#pragma once

#include "actors/sandbox/commands.hpp"
#include "runtimes/exec.hpp"
#include "runtimes/process/spawner.hpp"

#include <list>

namespace ahpd::sandbox {

/// What a command's actor is started with.
struct command_start {
  std::string id;
  std::string session;
  command_order order;
  process::spawn_request program;
  std::string marker; ///< in the environment of all that it starts
  call_ptr first;     ///< the call that asked for it
  caf::actor keeper;
};

/// The rest of an answer of its own goes into this.
struct command_stream {
  std::uint64_t number = 0;
  std::shared_ptr<transport::body_stream> to;
};

struct command_state {
  static inline const char* name = "command";

  /// A call that waits for the end, or for something behind its offsets.
  struct waiter {
    std::uint64_t number = 0;
    call_ptr what;
    bool for_end = false;
    std::uint64_t offset = 0, error_offset = 0;
  };
  /// A call whose answer goes on.
  struct stream {
    std::uint64_t number = 0;
    std::shared_ptr<transport::body_stream> to;
    std::uint64_t offset = 0, error_offset = 0;
    bool busy = false; ///< the peer has not taken what was sent last
  };
  /// Output up to here came before what is behind it.
  struct segment {
    runtimes::output which = runtimes::output::out;
    std::uint64_t upto = 0;
  };

  ~command_state();

  services_ptr host;
  command_start start;
  std::shared_ptr<runtimes::running> program; ///< null: not started yet
  std::string status = "running";
  bool timed_out = false; ///< and is being killed for it
  std::optional<int> exit_code;
  std::chrono::steady_clock::time_point began;
  std::vector<segment> arrived;
  std::list<waiter> waiters;
  std::list<stream> streams;
  std::vector<call_ptr> early; ///< that came before it was started
  std::uint64_t last_number = 0;

  bool is_over() const { return status != "running"; }
};

/// Runs one command, answers the routes that read, write and signal it, and keeps its output until
/// it is told to end.
caf::behavior command_actor(caf::stateful_actor<command_state>* self, services_ptr host,
                            command_start start);

} // namespace ahpd::sandbox

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::sandbox::command_start)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::sandbox::command_stream)
