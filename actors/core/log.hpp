#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

/// One line of JSON per event on standard error, through spdlog.
namespace ahpd::core::log {

/// A named detail of an event. Values are text; numbers are given as text too.
using field = std::pair<std::string_view, std::string>;

/// Starts the log. `level` is one of debug, info, warning, error.
void start(std::string_view level);

/// Text that must never appear in a line, such as the connection token: it is replaced wherever it
/// stands. Secrets shorter than four characters are not taken; they would eat innocent text.
void redact(const std::string& secret);

void debug(std::string_view event, std::initializer_list<field> details = {});
void info(std::string_view event, std::initializer_list<field> details = {});
void warning(std::string_view event, std::initializer_list<field> details = {});
void error(std::string_view event, std::initializer_list<field> details = {});

/// The line an event makes, without its opening brace and time: "level":…,"event":…,…}. For tests.
std::string line(std::string_view level, std::string_view event,
                 std::initializer_list<field> details);

} // namespace ahpd::core::log
