#include "actors/hub/terminal.hpp"

#include "protocol/ahp/file_uri.hpp"

#include <algorithm>

namespace ahpd::hub {

namespace {

constexpr std::size_t most_output_bytes = 1u << 20; ///< of `open_terminal`

json::value first_state(const open_terminal& what, const std::string& directory) {
  json::object state{{"title", what.title},
                     {"content", json::array{}},
                     {"claim", *what.claim},
                     {"lifecycle", {{"status", "running"}}},
                     {"isPty", what.window.has_value()}};
  if (!directory.empty())
    state["cwd"] = ahp::file_uri(directory);
  if (what.window) {
    state["cols"] = what.window->columns;
    state["rows"] = what.window->rows;
  }
  return state;
}

} // namespace

terminal_start start_of(const open_terminal& what, const std::string& marker,
                        std::string directory) {
  terminal_start start;
  start.uri = what.uri;
  start.state = std::make_shared<const json::value>(first_state(what, directory));
  start.program.argv = what.argv;
  start.program.env = what.env;
  if (what.window)
    start.program.env.emplace("TERM", "xterm-256color");
  start.program.directory = std::move(directory);
  start.program.terminal = what.window;
  start.program.marker = marker;
  start.program.wait_for_reader = true;
  start.output_bytes = std::min(what.output_bytes, most_output_bytes);
  return start;
}

std::vector<std::string> shell_argv(const std::string& shell, const std::string& machine,
                                    const std::string& command) {
  std::vector<std::string> argv{shell};
  if (!machine.empty())
    argv = {"sh", "-c", "command -v bash >/dev/null 2>&1 && exec bash \"$@\"; exec sh \"$@\"",
            "sh"};
  if (!command.empty()) {
    argv.push_back("-c");
    argv.push_back(command);
  }
  return argv;
}

std::optional<int> shown_exit_code(const runtimes::exit_status& status) {
  constexpr int by_signal = 128;
  if (status.signal)
    return by_signal + *status.signal;
  return status.code;
}

} // namespace ahpd::hub
