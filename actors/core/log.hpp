#pragma once

#include "protocol/json.hpp"

#include <atomic>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// One line of JSON per event, through spdlog.
namespace ahpd::core::log {

/// A named detail of an event. Values are text; numbers are given as text too.
using field = std::pair<std::string_view, std::string>;

enum class stream { error, out };

/// Starts the log. `level` is one of debug, info, warning, error. Lines for standard output, which
/// are many, are written by a thread of their own: a reader that stops stops nobody, and loses the
/// oldest of what it did not read.
void start(std::string_view level, stream to = stream::error);

/// Text that must never appear in a line, such as the connection token: it is replaced wherever it
/// stands. Secrets shorter than four characters are not taken; they would eat innocent text.
void redact(const std::string& secret);

void debug(std::string_view event, std::initializer_list<field> details = {});
void info(std::string_view event, std::initializer_list<field> details = {});
void warning(std::string_view event, std::initializer_list<field> details = {});
void error(std::string_view event, std::initializer_list<field> details = {});

enum class level { debug, info, warning, error };

/// Whether an event of this level makes a line.
bool writes(level at);

/// A whole line of the caller's own making, at level info: an object that lacks only its time. Its
/// secrets are taken out.
void record(const json::object& line);

/// Hears the events of the log while it lives, also those that are below the level of standard
/// error. Deaf until told from which level on; a log that nobody hears costs nothing more. What a
/// listener logs itself is not heard, so that telling never makes something to tell.
class tap {
public:
  /// The details are as in a line: cut, and without secrets.
  using details = std::vector<std::pair<std::string, std::string>>;
  using listener = std::function<void(level, std::string_view event, const details&)>;

  /// `told` is called on the thread that logs, and not any more once the destructor is through.
  explicit tap(listener told);
  ~tap();
  tap(const tap&) = delete;
  tap& operator=(const tap&) = delete;

  /// From which level on; nothing: deaf. Any thread.
  void hear(std::optional<level> from);

private:
  friend void tell_taps(level, std::string_view, std::initializer_list<field>);
  listener told_;
  std::atomic<int> from_;
};

/// Text as a line shows it: without secrets, cut to 2,000 bytes, valid UTF-8.
std::string shown(std::string text);

/// The line an event makes, without its opening brace and time: "level":…,"event":…,…}. For tests.
std::string line(std::string_view level, std::string_view event,
                 std::initializer_list<field> details);

} // namespace ahpd::core::log
