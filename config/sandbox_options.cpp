#include "config/sandbox_options.hpp"

#include "config/nearest.hpp"
#include "config/settings.hpp"

#include <algorithm>
#include <charconv>
#include <functional>

namespace ahpd::config {

namespace {

constexpr sandbox_flag flags[] = {
  {"--host", "AIO_HOST", "0.0.0.0", "Address to bind."},
  {"--port", "AIO_PORT", "18091", "Port to bind; 0: one that is free."},
  {"--api-key", "AIO_API_KEY", "", "Key that every request must present; none: everybody may."},
  {"--default-user", "AIO_DEFAULT_USER", "", "Account of requests that name none; needs root."},
  {"--api-surface", "AIO_API_SURFACE", "full", "full: v1 and v2; v2: only /v2 and /mcp."},
  {"--runtime-dir", "AIO_RUNTIME_DIR", "", "Directory for sockets and scratch files."},
  {"--mcp-servers", "EXTRA_MCP_SERVERS", "", "JSON registry of MCP servers to offer too."},
  {"", "AIO_RUST_LOG_LEVEL", "info", "Log level: error, warn, info, debug or trace."},
  {"", "AIO_SHELL_BACKEND", "auto", "Terminals: auto (tmux when it is there), native or tmux."},
  {"", "AIO_SHELL_MAX_SESSIONS", "20", "Terminals at once."},
  {"", "AIO_SHELL_SESSION_TIMEOUT_SECS", "3600", "Seconds until an idle terminal goes."},
  {"", "AIO_BASH_BIN", "", "The bash to use; else the one on PATH."},
  {"", "BROWSER_REMOTE_DEBUGGING_HOST", "127.0.0.1", "Where Chromium's debugging port is."},
  {"", "BROWSER_REMOTE_DEBUGGING_PORT", "9222", "Its number."},
  {"", "AIO_COMPUTER_USE_URL", "http://127.0.0.1:18100", "Where the desktop worker answers."},
  {"", "OTEL_EXPORTER_OTLP_ENDPOINT", "", "Where traces go; none: nowhere."},
};

struct reader {
  sandbox_options out;
  std::optional<start_refusal> refused;

  void wrong(const std::string& name, const std::string& value, const std::string& expected) {
    if (!refused)
      refused = start_refusal{2, name + " is '" + value + "'; expected " + expected + "."};
  }

  template <class Number>
  void number(const std::string& name, const std::string& value, Number& into,
              const std::string& expected, Number least = 0) {
    Number read = 0;
    const char* const end = value.data() + value.size();
    const auto got = std::from_chars(value.data(), end, read);
    if (got.ec != std::errc() || got.ptr != end || read < least)
      wrong(name, value, expected);
    else
      into = read;
  }

  void set(const sandbox_flag& f, const std::string& name, const std::string& value) {
    const auto is = [&](std::string_view variable) { return f.variable == variable; };
    if (is("AIO_HOST"))
      out.host = value;
    else if (is("AIO_PORT"))
      number<std::uint16_t>(name, value, out.port, "a port from 0 to 65535");
    else if (is("AIO_API_KEY"))
      out.api_key = value;
    else if (is("AIO_DEFAULT_USER"))
      out.default_user = value;
    else if (is("AIO_API_SURFACE"))
      value == "full" || value == "v2" ? void(out.only_v2 = value == "v2")
                                       : wrong(name, value, "full or v2");
    else if (is("AIO_RUNTIME_DIR"))
      out.runtime_dir = value;
    else if (is("EXTRA_MCP_SERVERS"))
      out.mcp_servers = value;
    else if (is("AIO_RUST_LOG_LEVEL"))
      out.log_level = value;
    else if (is("AIO_SHELL_BACKEND"))
      value == "auto" || value == "native" || value == "tmux"
        ? void(out.shell_backend = value)
        : wrong(name, value, "auto, native or tmux");
    else if (is("AIO_SHELL_MAX_SESSIONS"))
      number<std::uint64_t>(name, value, out.shell_sessions, "a number from 1 on", 1);
    else if (is("AIO_SHELL_SESSION_TIMEOUT_SECS"))
      number<std::uint64_t>(name, value, out.shell_idle_s, "seconds from 1 on", 1);
    else if (is("AIO_BASH_BIN"))
      out.bash = value;
    else if (is("BROWSER_REMOTE_DEBUGGING_HOST"))
      out.browser_host = value;
    else if (is("BROWSER_REMOTE_DEBUGGING_PORT"))
      number<std::uint16_t>(name, value, out.browser_port, "a port from 1 to 65535", 1);
    else if (is("AIO_COMPUTER_USE_URL"))
      out.computer_url = value;
  }
};

start_refusal unknown_flag(const std::string& word) {
  std::vector<std::string_view> names;
  for (const auto& f : flags)
    if (!f.name.empty())
      names.push_back(f.name);
  const auto meant = nearest(word, names);
  return {2, "aiod start does not know " + word + "; " +
               (meant.empty() ? "aiod start --help lists its flags."
                              : "did you mean " + std::string(meant) + "?")};
}

std::string variable(const std::map<std::string, std::string>& environment, std::string_view name) {
  const auto i = environment.find(std::string(name));
  return i == environment.end() ? std::string() : i->second;
}

} // namespace

std::span<const sandbox_flag> sandbox_flags() {
  return flags;
}

std::variant<sandbox_options, start_refusal>
read_sandbox_options(const std::vector<std::string>& words,
                     const std::map<std::string, std::string>& environment) {
  reader in;
  for (const auto& f : flags) // an empty variable counts as none
    if (auto value = variable(environment, f.variable); !value.empty())
      in.set(f, std::string(f.variable), value);
  if (in.out.api_key.empty())
    in.out.api_key = variable(environment, "SANDBOX_API_KEY");
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    const auto name = words[i].substr(0, equals);
    const auto f = std::find_if(std::begin(flags), std::end(flags), [&](const auto& each) {
      return !each.name.empty() && each.name == name;
    });
    if (f == std::end(flags))
      return unknown_flag(name);
    if (equals == std::string::npos && ++i == words.size())
      return start_refusal{2, name + " needs a value behind it."};
    const auto value = equals == std::string::npos ? words[i] : words[i].substr(equals + 1);
    in.set(*f, name, value);
  }
  if (in.refused)
    return *in.refused;
  if (in.out.api_key.empty() && !variable(environment, "JWT_PUBLIC_KEY").empty())
    in.out.warnings.push_back("JWT_PUBLIC_KEY is set, but is not looked at: without AIO_API_KEY "
                              "everybody may use this daemon");
  if (!in.out.mcp_servers.empty())
    in.out.warnings.push_back("EXTRA_MCP_SERVERS is not looked at: this version of aiod serves no "
                              "MCP");
  for (const char* name : {"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"})
    if (!variable(environment, name).empty())
      in.out.warnings.push_back(std::string(name) +
                                " is not looked at: this version of aiod exports no traces");
  return std::move(in.out);
}

} // namespace ahpd::config
