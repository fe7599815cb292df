#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Running a program in a place: on this host, in a container, later on a box or a node.
namespace ahpd::runtimes {

enum class output : std::uint8_t { out = 0, err = 1 };

struct window_size {
  std::uint16_t columns = 80;
  std::uint16_t rows = 24;
};

struct exec_request {
  std::vector<std::string> argv; ///< a program and its arguments; never a shell string built from values
  std::map<std::string, std::string> env; ///< laid over the place's own environment
  std::string directory; ///< where it starts; empty: the place's own
  std::string user; ///< empty: the place's own
  std::optional<window_size> terminal; ///< a PTY of that size; its output is all `output::out`
  bool input = false; ///< false: standard input is empty
  /// Names this run for `place::sweep`: put into its environment as AHPD_RUN, so that all it started is
  /// found again, children that left its process group and a hub that was killed included. Must be
  /// unique and unguessable; empty: no marker. One of several parts with dots between is swept by what it
  /// begins with, up to a dot, as well as by the whole. A container knows one dot.
  std::string marker;
  std::size_t keep_bytes = 1u << 20; ///< of each output stream; older bytes are evicted
  /// The program waits in its writing while half of `keep_bytes` has not been read yet, so that
  /// nothing is evicted unread and a flood costs no more than its reader takes.
  bool wait_for_reader = false;
};

/// How a program ended. Exactly one of the three says so.
struct exit_status {
  std::optional<int> code;
  std::optional<int> signal;
  std::string lost; ///< not empty: the status could not be learnt, and why; none is invented

  bool ok() const { return code == 0; }
};

/// Bytes of one output stream from an offset.
struct chunk {
  std::uint64_t offset = 0; ///< of the first byte given; above the one asked for when bytes were evicted
  std::string bytes;
  std::uint64_t end = 0; ///< offset behind the last byte that was ever written
};

/// One started program. Callable from any thread; returns at once. Dropping the handle does not end
/// the program: `kill` does.
class running {
public:
  virtual ~running() = default;

  /// Bytes of `which` from `offset` on, at most `most` of them.
  virtual chunk read(output which, std::uint64_t offset, std::size_t most = SIZE_MAX) const = 0;

  virtual void write(std::string bytes) = 0;
  virtual void close_input() = 0;
  virtual void resize(window_size size) = 0;

  /// Signals the whole tree it started, children that left its group included when it has a marker.
  virtual void signal(int number) = 0;

  /// SIGTERM to the tree, after `grace` SIGKILL to what is left. `on_exit` follows as ever.
  virtual void kill(std::chrono::milliseconds grace) = 0;
};

/// What a program tells its owner, on an io thread, one call at a time.
struct exec_events {
  /// There is something new to `read`. Told once until the next `read`.
  std::function<void()> on_output;
  /// It ended and all its output can be read. Last, and exactly once, unless starting it failed. A
  /// child that keeps a pipe open changes nothing: the end is the program's own.
  std::function<void(exit_status)> on_exit;
};

/// A started program, or the sentence why there is none ("sh was not found; …").
struct exec_result {
  std::shared_ptr<running> program;
  std::string refused;
};

/// Where programs run.
class place {
public:
  virtual ~place() = default;

  /// Starts a program. `done` is called before any of `events`.
  virtual void exec(exec_request what, exec_events events, std::function<void(exec_result)> done) = 0;

  /// Kills (SIGKILL) whatever still runs with one of these markers, or one that begins with it and a dot,
  /// in its environment. Calls `done` with how many processes that were, those of others who asked at the
  /// same time included, or with a sentence when the place could not be asked.
  virtual void sweep(std::vector<std::string> markers,
                     std::function<void(std::size_t, std::string)> done)
    = 0;
};

} // namespace ahpd::runtimes
