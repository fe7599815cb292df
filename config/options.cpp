#include "config/options.hpp"

#include "config/files.hpp"
#include "config/plugin_options.hpp"
#include "config/settings.hpp"
#include "config/token.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <pwd.h>
#include <unistd.h>

namespace ahpd::config {

namespace fs = std::filesystem;

namespace {

std::string variable(const surroundings& around, const char* name) {
  const auto found = around.environment.find(name);
  return found == around.environment.end() ? std::string() : found->second;
}

/// Everything that refuses a start below throws this; `read_options` turns it into its answer.
[[noreturn]] void refuse(const std::string& sentence, int exit_code = 2) {
  throw start_refusal{exit_code, sentence};
}

template <class T> T given(std::variant<T, start_refusal>&& answer) {
  if (auto* refusal = std::get_if<start_refusal>(&answer))
    throw std::move(*refusal);
  return std::move(std::get<T>(answer));
}

/// The files that a run reads, in the order in which they are laid over each other.
std::vector<std::string> files_to_read(const layer& line, const surroundings& around,
                                       const std::string& directory) {
  if (line.config_file)
    return {*line.config_file};
  std::vector<std::string> out;
  const std::string own = directory + "/config.json";
  std::error_code ec;
  if (fs::symlink_status(own, ec).type() != fs::file_type::not_found)
    out.push_back(own);
  const auto named = variable(around, "AHPD_CONFIG");
  if (!named.empty())
    out.push_back(absolute_path(named, around.working_directory));
  return out;
}

/// A credential that is typed replaces what the files say, but nothing typed opens a host that
/// they close.
void settle_credentials(layer& files, const layer& line) {
  if (line.connection_token || line.connection_token_file) {
    files.connection_token.reset();
    files.connection_token_file.reset();
    files.without_connection_token.reset();
  }
}

void check_credentials(const layer& all, const std::string& host) {
  const bool token = all.connection_token || all.connection_token_file;
  const bool without = all.without_connection_token.value_or(false);
  if (without && token)
    refuse("--without-connection-token contradicts the token you also passed.");
  if (all.connection_token && all.connection_token_file)
    refuse("Pass --connection-token or --connection-token-file, not both.");
  if (all.connection_token && all.connection_token->empty())
    refuse("--connection-token was empty.");
  if (!token && !without && !is_loopback(host))
    refuse("Binding " + host +
           " exposes this host beyond this machine.\n"
           "Pass --connection-token, --connection-token-file, or --without-connection-token.");
}

std::vector<std::string> served_folders(const layer& all, const surroundings& around) {
  std::vector<std::string> named = all.paths.value_or(std::vector<std::string>());
  if (named.empty() && all.no_cwd)
    refuse("--no-cwd serves only what --path or \"paths\" names, and neither does. Pass --path, or "
           "run ahpd configure.");
  if (named.empty() && around.working_directory.empty())
    refuse("The current folder is gone; pass --path.");
  if (named.empty())
    named.push_back(absolute_path(around.working_directory, "/"));
  std::vector<std::string> out;
  for (auto& path : named) {
    std::error_code ec;
    const auto status = fs::status(path, ec);
    if (status.type() == fs::file_type::not_found)
      refuse(path + " cannot be served: it does not exist");
    if (ec)
      refuse(path + " cannot be served: " + ec.message());
    if (!fs::is_directory(status))
      refuse(path + " cannot be served: it is not a folder");
    if (std::find(out.begin(), out.end(), path) == out.end())
      out.push_back(std::move(path));
  }
  return out;
}

std::vector<plugin_entry> plugins_to_load(layer& files, layer& line, const surroundings& around,
                                          std::vector<std::string>& skipped) {
  auto& source = line.plugins || line.no_plugins ? line.plugins : files.plugins;
  std::vector<plugin_entry> named;
  if (source)
    named = std::move(*source);
  else if (!line.no_plugins)
    named.push_back({"@ahpd/computer", {}, true}); // what a host does that was told nothing
  std::vector<plugin_entry> out;
  std::set<std::string> seen;
  for (auto& plugin : named) {
    if (seen.insert(plugin.name).second)
      out.push_back(std::move(plugin));
    else
      skipped.push_back("plugin " + plugin.name + ": it is named twice, and the first is used");
  }
  for (const auto& option : line.plugin_options)
    if (const auto wrong = set_plugin_option(option, out); !wrong.empty())
      refuse(wrong);
  std::erase_if(out, [&](plugin_entry& plugin) {
    const auto wrong =
      plugin.enabled ? resolve_references(plugin, around.environment) : std::string();
    if (!wrong.empty())
      skipped.push_back(wrong);
    return !wrong.empty();
  });
  return out;
}

run_options read(const std::vector<std::string>& flags, const surroundings& around) {
  layer line = given(read_line(flags, around.working_directory));
  run_options out;
  out.directory = config_directory(around);
  if (out.directory.empty())
    refuse("Neither XDG_CONFIG_HOME nor HOME says where the configuration directory is.");
  layer all;
  out.files = files_to_read(line, around, out.directory);
  for (const auto& file : out.files)
    lay_over(all, given(read_file(file)));
  out.skipped = std::move(all.skipped);

  out.plugins = plugins_to_load(all, line, around, out.skipped);
  settle_credentials(all, line);
  lay_over(all, std::move(line));
  out.host = all.host.value_or(out.host);
  if (out.host.empty())
    refuse("The host to listen on is empty; --host takes an address.");
  check_credentials(all, out.host);
  out.port = static_cast<std::uint16_t>(all.port.value_or(out.port));
  out.delta_window_ms = static_cast<unsigned>(all.delta_window_ms.value_or(out.delta_window_ms));
  out.client_tool_timeout_ms = all.client_tool_timeout_ms.value_or(out.client_tool_timeout_ms);
  out.io_threads = static_cast<unsigned>(all.io_threads.value_or(out.io_threads));
  out.sessions_in_memory = all.sessions == "memory";
  out.wire = all.wire.value_or("");
  out.without_connection_token = all.without_connection_token.value_or(false);
  out.connection_token = all.connection_token.value_or("");
  out.connection_token_file = all.connection_token_file.value_or("");
  out.paths = served_folders(all, around);

  // Last, so that a refused start leaves nothing behind.
  try {
    make_private_directory(out.directory);
    if (!out.connection_token_file.empty())
      out.connection_token = token_of_file(out.connection_token_file);
  } catch (const file_error& e) {
    refuse(e.what(), 1);
  }
  if (!out.connection_token_file.empty() && out.connection_token.empty())
    refuse(out.connection_token_file + " is empty.");
  return out;
}

} // namespace

surroundings real_surroundings() {
  surroundings out;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string::npos)
      out.environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  if (variable(out, "HOME").empty())
    if (const auto* user = ::getpwuid(::getuid()))
      out.environment["HOME"] = user->pw_dir;
  std::error_code ec;
  out.working_directory = fs::current_path(ec).string();
  return out;
}

std::string config_directory(const surroundings& around) {
  const auto named = variable(around, "XDG_CONFIG_HOME");
  if (fs::path(named).is_absolute()) // others are to be ignored, says the XDG specification
    return absolute_path("ahpd", named);
  const auto home = variable(around, "HOME");
  return fs::path(home).is_absolute() ? absolute_path(".config/ahpd", home) : std::string();
}

std::variant<run_options, start_refusal> read_options(const std::vector<std::string>& flags,
                                                      const surroundings& around) {
  try {
    return read(flags, around);
  } catch (start_refusal& refusal) {
    return std::move(refusal);
  }
}

bool is_loopback(const std::string& host) {
  return host == "127.0.0.1" || host == "::1" || host == "localhost";
}

} // namespace ahpd::config
