#pragma once

#include "config/options.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// What can be set for a run, by a flag on the line or by a key of a configuration file: one table,
/// which reading, `--help` and the shell completions share.
namespace ahpd::config {

/// What one source (the line or a file) says. Files and folders are absolute.
struct layer {
  std::optional<std::int64_t> port;
  std::optional<std::int64_t> delta_window_ms;
  std::optional<std::int64_t> io_threads;
  std::optional<std::int64_t> client_tool_timeout_ms;
  std::optional<std::string> host;
  std::optional<std::string> connection_token;
  std::optional<std::string> connection_token_file;
  std::optional<std::string> sessions;
  std::optional<std::string> wire;
  std::optional<bool> without_connection_token;
  std::optional<bool> update_check;
  std::optional<std::vector<std::string>> paths;
  std::optional<std::vector<plugin_entry>> plugins;
  std::vector<std::string> skipped; ///< sentences

  // On the line only.
  bool no_cwd = false;
  bool no_plugins = false;
  std::optional<std::string> config_file;
  std::vector<std::string> plugin_options; ///< `P.KEY=VALUE`
};

struct integer_setting {
  std::optional<std::int64_t> layer::*to;
  std::int64_t least;
  std::int64_t most;
};
struct text_setting {
  std::optional<std::string> layer::*to;
  bool is_path = false;
};
struct choice_setting {
  std::optional<std::string> layer::*to;
  std::array<std::string_view, 2> words;
};
struct truth_setting {
  std::optional<bool> layer::*to;
  bool typed = true; ///< what the flag says
};
struct switch_setting { ///< on the line only
  bool layer::*to;
};
struct paths_setting {};
struct plugins_setting {};
struct plugin_option_setting {};
struct unserved_setting { ///< known to the protocol's other hosts, not served by this version
  /// Leaving it out would open what it closes, so a file that sets it is refused.
  bool guards = false;
};

struct setting {
  std::string_view flag;  ///< `--port`; empty: files only
  std::string_view key;   ///< `port`; empty: the line only
  std::string_view value; ///< what help calls the flag's value; empty: it takes none
  std::string_view help;
  std::variant<integer_setting, text_setting, choice_setting, truth_setting, switch_setting,
               paths_setting, plugins_setting, plugin_option_setting, unserved_setting>
    meaning;

  bool served() const { return !std::holds_alternative<unserved_setting>(meaning); }
};

/// Every setting, in the order in which help shows them.
std::span<const setting> settings();

/// Lays a flag's text over `to`. Gives what is wrong with it (`must be an integer between 0 and
/// 65535`), or an empty text. Relative paths are taken from `base`.
std::string set_from_flag(const setting& which, const std::string& text, const std::string& base,
                          layer& to);

/// The same for the value of a key in a configuration file.
std::string set_from_key(const setting& which, const json::value& value, const std::string& base,
                         layer& to);

/// The flags of a run (without the program's name and verb), or the refusal.
std::variant<layer, start_refusal> read_line(const std::vector<std::string>& flags,
                                             const std::string& working_directory);

/// A configuration file, or the refusal.
std::variant<layer, start_refusal> read_file(const std::string& file);

/// `over` laid over `under`: what `over` says replaces, sentences add up.
void lay_over(layer& under, layer&& over);

} // namespace ahpd::config
