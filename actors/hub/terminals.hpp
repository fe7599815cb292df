#pragma once

#include "actors/core/owner.hpp"
#include "actors/hub/services.hpp"

#include <caf/behavior.hpp>
#include <caf/response_promise.hpp>
#include <caf/stateful_actor.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Terminals (AHP "Terminal channel"): programs whose output clients follow and that they may type
/// into. They are asked for at `services::terminals`, by clients (createTerminal), by `!command`
/// turns and by engines for their agents. A terminal outlives its program, and goes when it is
/// closed, when the session that claims it is disposed of, or with the hub.
namespace ahpd::hub {

/// Starts a program in a terminal. Answered with `terminal_opened` once it runs and the terminal is
/// listed in the root channel; refused with a sentence when it cannot be started, with -32010 when
/// `uri` is taken, with -32602 when `directory` is not there on this host, or when there are
/// too many terminals.
struct open_terminal {
  std::string uri;    ///< `ahp-terminal:/…`; empty: the host names it
  json::shared claim; ///< TerminalClaim; one of kind `session` names the session as the host does
  std::string title;  ///< empty: the program's name
  session_place where;
  /// Absolute: a folder of this host, which a machine has where it is mounted; else one in the
  /// machine. Empty: `where.directory`.
  std::string directory;
  std::vector<std::string> argv;          ///< see `shell_argv`
  std::map<std::string, std::string> env; ///< laid over the place's own; TERM is set for a PTY
  /// A PTY of this size. None: the program has pipes, no input, and `isPty` is false.
  std::optional<runtimes::window_size> window;
  /// How much of its output `read_terminal` gives, in bytes of UTF-8: the tail. At most 1 MiB.
  std::size_t output_bytes = 0;
};
struct terminal_opened {
  std::string uri;
};

/// What a terminal's program wrote so far; answered with `terminal_output`, or -32008.
struct read_terminal {
  std::string uri;
};
struct terminal_output {
  std::string text;       ///< UTF-8, escape sequences included, never cut inside a character
  bool truncated = false; ///< older output is not in it
  std::optional<runtimes::exit_status> ended; ///< none: it runs
};

/// Answered with `terminal_output` when the program has ended and all its output was read, or with
/// -32008 when the terminal is closed before that.
struct wait_terminal {
  std::string uri;
};

/// Ends the program: SIGTERM to all it started, after two seconds SIGKILL. The terminal stays.
/// Answered with `unit` at once.
struct kill_terminal {
  std::string uri;
};

/// Ends the program and forgets the terminal. Answered with `unit` when nothing it started is left,
/// or refused with -32008.
struct close_terminal {
  std::string uri;
};

/// Closes every terminal that a session claims. No answer.
struct close_session_terminals {
  std::string session; ///< URI as the host spells it
};

/// The argv of `shell`, a program of this host, or of a machine's own: bash where there is one,
/// else sh. Without a command it is interactive, and no login shell.
std::vector<std::string> shell_argv(const std::string& shell, const std::string& machine,
                                    const std::string& command = {});

/// The exit code that AHP shows: a signal's is 128 and its number; none when it is not known.
std::optional<int> shown_exit_code(const runtimes::exit_status& status);

struct terminals_state {
  static inline const char* name = "terminals";

  struct entry {
    std::string marker;
    std::string machine; ///< id; empty: this host
    std::string session; ///< that claims it; empty: none
    std::shared_ptr<runtimes::place> place;
    caf::actor actor;         ///< none until its place is known and its run durable
    json::value info;         ///< TerminalInfo; null until its program runs
    std::uint64_t exited = 0; ///< order of its end among the ended; 0: it runs
    bool closing = false;
    caf::response_promise opening;
    caf::error refused; ///< why it could not be opened
    std::vector<caf::response_promise> closers;
    std::vector<caf::response_promise> waiters; ///< for its program's end
  };

  services_ptr host;
  std::map<std::string, entry> terminals; ///< by URI
  std::uint64_t exits = 0;
  bool leaving = false; ///< told to end: goes when all terminals are gone

  terminals_state() = default;
  terminals_state(const terminals_state&) = delete;
  terminals_state& operator=(const terminals_state&) = delete;
  ~terminals_state(); ///< ends the terminals' actors, and they their programs
};

/// Opens, lists and closes terminals, one actor each.
caf::behavior terminals_actor(caf::stateful_actor<terminals_state>* self, services_ptr host);

} // namespace ahpd::hub

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::open_terminal)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::terminal_opened)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::read_terminal)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::terminal_output)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::wait_terminal)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::kill_terminal)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::close_terminal)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::close_session_terminals)
