#pragma once

#include "actors/core/owner.hpp"
#include "actors/hub/services.hpp"
#include "actors/hub/terminals.hpp"
#include "protocol/ahp/terminal_stream.hpp"

#include <caf/behavior.hpp>
#include <caf/stateful_actor.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

/// One terminal's actor, as `terminals_actor` sees it.
namespace ahpd::hub {

/// The program runs and its channel is there, or why there is none.
struct terminal_started {
  std::string uri;
  json::shared info;   ///< TerminalInfo, when it runs
  std::string refused; ///< why it does not
};

/// What the root channel shows of a terminal has changed.
struct terminal_changed {
  std::string uri;
  json::shared info; ///< TerminalInfo
};

struct terminal_start {
  std::string uri;
  json::shared state; ///< TerminalState
  std::shared_ptr<runtimes::place> place;
  runtimes::exec_request program;
  std::size_t output_bytes = 0; ///< of `terminal_output`
  caf::actor terminals;
};

/// What a terminal starts from, but for its place and its keeper. `directory` is inside the place.
terminal_start start_of(const open_terminal& what, const std::string& marker,
                        std::string directory);

/// Holds a program for an owner that may be gone before the program has started.
class program_holder {
public:
  /// Takes the started program; kills it when it was dropped meanwhile.
  void hold(std::shared_ptr<runtimes::running> program);
  std::shared_ptr<runtimes::running> get() const;
  /// Kills the program, now or when it has started.
  void drop();

private:
  mutable std::mutex guard_;
  std::shared_ptr<runtimes::running> program_;
  bool dropped_ = false;
};

struct terminal_state {
  static inline const char* name = "terminal";

  struct stream {
    std::uint64_t offset = 0; ///< of the next byte to read
    ahp::terminal_stream reader;
  };

  terminal_start start;
  services_ptr host;
  std::shared_ptr<core::channel> doc;
  std::shared_ptr<program_holder> program = std::make_shared<program_holder>();
  stream streams[2];
  bool window_open =
    false;               ///< output was shown a moment ago: more of it waits for the window's end
  bool unread = false;   ///< the program has written more than was read
  std::size_t shown = 0; ///< bytes of text in the state
  std::string tail;      ///< of all text, for `terminal_output`
  bool truncated = false;
  std::uint64_t commands = 0;     ///< that shell integration told of
  std::int64_t command_began = 0; ///< Unix ms of the running one; 0: none
  std::optional<runtimes::exit_status> ended;
  bool over = false;    ///< the end was shown
  bool leaving = false; ///< told to end: goes when its program has gone

  terminal_state() = default;
  terminal_state(const terminal_state&) = delete;
  terminal_state& operator=(const terminal_state&) = delete;
  ~terminal_state(); ///< kills the program
};

/// Owns one terminal's channel and its program.
///
/// Output goes to the channel as it comes: the first of it at once, then what came within
/// `services::delta_window` in one piece of at most 128 KiB. A program that writes faster waits.
/// The state keeps the newest 200,000 bytes of text, cut at a line, and never more than 256 KiB.
caf::behavior terminal_actor(caf::stateful_actor<terminal_state>* self, services_ptr host,
                             terminal_start start);

} // namespace ahpd::hub

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::terminal_started)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::terminal_changed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::terminal_start)
