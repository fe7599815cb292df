#pragma once

#include "config/options.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ahpd::config {

/// Everything a run of aiod needs. Sources: spec "Flags and variables".
struct sandbox_options {
  std::string host = "0.0.0.0";
  std::uint16_t port = 18091;
  std::string api_key;      ///< empty: open
  std::string default_user; ///< empty: the daemon's own account
  bool only_v2 = false;
  std::string runtime_dir; ///< empty: found by `make_runtime_directory`
  std::string mcp_servers; ///< JSON; empty: none
  std::string log_level = "info";
  std::string shell_backend = "auto"; ///< auto, native or tmux
  std::uint64_t shell_sessions = 20;
  std::uint64_t shell_idle_s = 3600;
  std::string bash; ///< looked for first; empty: none
  std::string browser_host = "127.0.0.1";
  std::uint16_t browser_port = 9222;
  std::string computer_url = "http://127.0.0.1:18100";
  std::vector<std::string> warnings; ///< sentences for the log
};

/// A flag of `aiod start` or a variable that has none.
struct sandbox_flag {
  std::string_view name; ///< "--host"; empty: a variable alone
  std::string_view variable;
  std::string_view fallback; ///< as help shows it
  std::string_view about;
};
std::span<const sandbox_flag> sandbox_flags();

/// Reads the words behind `aiod start` over the environment: a flag wins. Refuses with a sentence.
std::variant<sandbox_options, start_refusal>
read_sandbox_options(const std::vector<std::string>& words,
                     const std::map<std::string, std::string>& environment);

} // namespace ahpd::config
