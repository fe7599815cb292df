#pragma once

#include "protocol/json.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What the operator writes and what the daemon keeps.
namespace ahpd::config {

/// One entry of `plugins`: `"name"` or `{"name", "options"?, "enabled"?}`.
struct plugin_entry {
  std::string name;
  json::object options;
  bool enabled = true;
};

/// Everything a run of the hub needs, flags laid over files. Sources: spec "Run flags and config
/// keys".
struct run_options {
  std::string host = "127.0.0.1";
  std::uint16_t port = 9187;
  std::vector<std::string> paths; ///< absolute folders that are served; the first is the default
  std::string connection_token; ///< resolved: from the flag, or read from (or written to) its file
  std::string connection_token_file; ///< empty: the token came as text, or there is none
  bool without_connection_token = false;
  bool sessions_in_memory = false;
  unsigned delta_window_ms = 75;
  std::int64_t client_tool_timeout_ms = 600'000; ///< 0: for ever
  unsigned io_threads = 1;
  std::string wire; ///< file for frames; empty: off
  std::vector<plugin_entry> plugins;
  std::string directory;          ///< the configuration directory, made when absent
  std::vector<std::string> files; ///< configuration files that were read
  std::vector<std::string>
    skipped; ///< one sentence per thing that was left out, for the announcement
};

/// A start that is refused: exit code 2 for words and values, 1 for a state conflict.
struct start_refusal {
  int exit_code = 2;
  std::string sentence;
};

/// Environment and folder a parse depends on, so that tests give their own.
struct surroundings {
  std::map<std::string, std::string>
    environment; ///< XDG_CONFIG_HOME, HOME, AHPD_CONFIG, AHPD_TOKEN, …
  std::string working_directory;
};

/// The process's own.
surroundings real_surroundings();

/// `$XDG_CONFIG_HOME/ahpd`, else `~/.config/ahpd`; empty when neither is known.
std::string config_directory(const surroundings& around);

/// Reads flags (without the program's name and verb) and the configuration files. Makes the
/// configuration directory (0700) and, when asked for a token file that is absent, the token
/// (0600). Returns the options, or the refusal, its sentence word for word as the specification has
/// it.
std::variant<run_options, start_refusal> read_options(const std::vector<std::string>& flags,
                                                      const surroundings& around);

/// Whether `host` is 127.0.0.1, ::1 or localhost.
bool is_loopback(const std::string& host);

} // namespace ahpd::config
