#include "config/settings.hpp"

#include "config/files.hpp"

#include <charconv>

namespace ahpd::config {

namespace {

/// A year: more is for ever, which 0 says, and would leave the range of a clock.
constexpr std::int64_t longest_wait_ms = 366LL * 24 * 60 * 60 * 1000;

const setting table[] = {
  {"--host", "host", "ADDR", "Address to listen on (127.0.0.1).", text_setting{&layer::host}},
  {"--port", "port", "N", "Port to listen on (9187); 0 lets the system choose.",
   integer_setting{&layer::port, 0, 65535}},
  {"--path", "paths", "DIR", "Folder to serve (the current one); repeatable, the first is default.",
   paths_setting{}},
  {"--no-cwd", "", "", "Do not fall back to the current folder when no folder is named.",
   switch_setting{&layer::no_cwd}},
  {"--connection-token", "connectionToken", "SECRET",
   "Secret that clients must present; a file is safer.", text_setting{&layer::connection_token}},
  {"--connection-token-file", "connectionTokenFile", "PATH",
   "File with that secret; made with a fresh one when absent.",
   text_setting{&layer::connection_token_file, true}},
  {"--without-connection-token", "withoutConnectionToken", "",
   "Let anyone connect who reaches the port.", truth_setting{&layer::without_connection_token}},
  {"--delta-window-ms", "deltaWindowMs", "MS",
   "How long pieces of an answer are gathered before sending (75).",
   integer_setting{&layer::delta_window_ms, 0, 1000}},
  {"--client-tool-timeout-ms", "clientToolTimeoutMs", "MS",
   "How long a client may run a tool for an agent (600000); 0: for ever.",
   integer_setting{&layer::client_tool_timeout_ms, 0, longest_wait_ms}},
  {"--sessions", "sessions", "file|memory", "Where sessions are kept (file).",
   choice_setting{&layer::sessions, {"file", "memory"}}},
  {"--io-threads", "ioThreads", "N", "Threads that serve connections and sessions (1).",
   integer_setting{&layer::io_threads, 1, 64}},
  {"--wire", "wire", "FILE", "Append every frame to a file, to see what clients say.",
   text_setting{&layer::wire, true}},
  {"--plugin", "plugins", "SPEC", "Plugin to load instead of the file's; repeat for more.",
   plugins_setting{}},
  {"--no-plugins", "", "", "Ignore the plugins that the files name.",
   switch_setting{&layer::no_plugins}},
  {"--plugin-option", "", "P.KEY=VALUE",
   "Set an option of a loaded plugin; JSON when it parses, else text.", plugin_option_setting{}},
  {"--config-file", "", "PATH", "Read this configuration file alone.",
   text_setting{&layer::config_file, true}},
  {"--update-check", "updateCheck", "", "Taken and without effect: this version never looks.",
   truth_setting{&layer::update_check}},
  {"--no-update-check", "", "", "The same.", truth_setting{&layer::update_check, false}},

  {"--stdio", "", "", "", unserved_setting{}},
  {"--users", "users", "FILE", "", unserved_setting{true}},
  {"--worktrees-root", "worktreesRoot", "DIR", "", unserved_setting{}},
  {"--resource", "resource", "URL", "", unserved_setting{}},
  {"--issuer", "issuer", "github|URL", "", unserved_setting{}},
  {"--trust-token", "trustToken", "", "", unserved_setting{}},
  {"--advanced-tools", "advancedTools", "", "", unserved_setting{}},
  {"--closed-chats", "closedChats", "hidden|delete", "", unserved_setting{}},
  {"--automations", "automations", "file|memory", "", unserved_setting{}},
  {"--unowned-automations", "unownedAutomations", "every|none", "", unserved_setting{}},
  {"", "http", "", "", unserved_setting{}},
  {"", "usage", "", "", unserved_setting{}},
  {"", "policies", "", "", unserved_setting{}},
  {"", "mcpServers", "", "", unserved_setting{}},
  {"", "proxy", "", "", unserved_setting{}},
  {"", "nodeRestart", "", "", unserved_setting{}},
  {"", "managedSettingsSandbox", "", "", unserved_setting{}},
};

std::string between(const integer_setting& s) {
  return "must be an integer between " + std::to_string(s.least) + " and " + std::to_string(s.most);
}

std::string one_of(const choice_setting& s) {
  return "must be " + std::string(s.words[0]) + " or " + std::string(s.words[1]);
}

/// A value from the line.
struct from_text {
  const std::string& text;
  const std::string& base;
  layer& to;

  std::string operator()(const integer_setting& s) const {
    std::int64_t n = 0;
    const char* end = text.data() + text.size();
    const auto [rest, ec] = std::from_chars(text.data(), end, n);
    if (ec != std::errc{} || rest != end || n < s.least || n > s.most)
      return between(s);
    to.*s.to = n;
    return {};
  }
  std::string operator()(const text_setting& s) const {
    if (s.is_path && text.empty())
      return "must name a file";
    to.*s.to = s.is_path ? absolute_path(text, base) : text;
    return {};
  }
  std::string operator()(const choice_setting& s) const {
    if (text != s.words[0] && text != s.words[1])
      return one_of(s);
    to.*s.to = text;
    return {};
  }
  std::string operator()(const truth_setting& s) const {
    to.*s.to = s.typed;
    return {};
  }
  std::string operator()(const switch_setting& s) const {
    to.*s.to = true;
    return {};
  }
  std::string operator()(const paths_setting&) const {
    if (text.empty())
      return "must name a folder";
    if (!to.paths)
      to.paths.emplace();
    to.paths->push_back(absolute_path(text, base));
    return {};
  }
  std::string operator()(const plugins_setting&) const {
    if (text.empty())
      return "must name a plugin";
    if (!to.plugins)
      to.plugins.emplace();
    to.plugins->push_back({text, {}, true});
    return {};
  }
  std::string operator()(const plugin_option_setting&) const {
    to.plugin_options.push_back(text);
    return {};
  }
  std::string operator()(const unserved_setting&) const { return "is not served by this version"; }
};

/// Reads one entry of `plugins`; gives what is wrong.
std::string read_plugin(const json::value& entry, const std::string& place, layer& to) {
  plugin_entry out;
  if (const auto* name = entry.if_string()) {
    out.name = *name;
  } else if (const auto* o = entry.if_object()) {
    for (const auto& [key, value] : *o) {
      if (key == "name" && value.is_string())
        out.name = value.get_string();
      else if (key == "name")
        return place + ".name must be a string";
      else if (key == "options" && value.is_object())
        out.options = value.get_object();
      else if (key == "options")
        return place + ".options must be an object";
      else if (key == "enabled" && value.is_bool())
        out.enabled = value.get_bool();
      else if (key == "enabled")
        return place + ".enabled must be true or false";
      else
        return place + " takes name, options and enabled, not " + std::string(key);
    }
  } else {
    return place + " must be a name or an object with a name";
  }
  if (out.name.empty())
    return place + " must have a name";
  to.plugins->push_back(std::move(out));
  return {};
}

/// A value from a file.
struct from_json {
  const json::value& value;
  const std::string& base;
  layer& to;
  std::string key;

  std::string says(const std::string& what) const { return key + ' ' + what; }

  std::string operator()(const integer_setting& s) const {
    if (!value.is_int64() && !value.is_uint64())
      return says("must be an integer");
    // What only an unsigned number can hold is above every bound.
    const auto* n = value.if_int64();
    if (!n || *n < s.least || *n > s.most)
      return says(between(s));
    to.*s.to = *n;
    return {};
  }
  std::string operator()(const text_setting& s) const {
    if (!value.is_string())
      return says("must be a string");
    const std::string text(value.get_string());
    if (s.is_path && text.empty())
      return says("must name a file");
    to.*s.to = s.is_path ? absolute_path(text, base) : text;
    return {};
  }
  std::string operator()(const choice_setting& s) const {
    const auto* text = value.if_string();
    if (!text || (*text != s.words[0] && *text != s.words[1]))
      return says(one_of(s));
    to.*s.to = std::string(*text);
    return {};
  }
  std::string operator()(const truth_setting& s) const {
    if (!value.is_bool())
      return says("must be true or false");
    to.*s.to = value.get_bool();
    return {};
  }
  std::string operator()(const paths_setting&) const {
    to.paths.emplace();
    const auto* list = value.if_array();
    if (!list)
      return says("must be a list of strings");
    for (const auto& item : *list) {
      if (!item.is_string() || item.get_string().empty())
        return says("must be a list of strings");
      to.paths->push_back(absolute_path(std::string(item.get_string()), base));
    }
    return {};
  }
  std::string operator()(const plugins_setting&) const {
    to.plugins.emplace();
    const auto* list = value.if_array();
    if (!list)
      return says("must be a list of names and of objects with a name");
    for (std::size_t i = 0; i < list->size(); ++i) {
      auto wrong = read_plugin((*list)[i], key + '[' + std::to_string(i) + ']', to);
      if (!wrong.empty())
        return wrong;
    }
    return {};
  }
  std::string operator()(const unserved_setting& s) const {
    if (s.guards)
      return says("is not served by this version, and without it everyone who connects may do "
                  "everything; take it out to serve them all the same");
    to.skipped.push_back(says("is not served by this version; ignored"));
    return {};
  }
  // These have no key.
  std::string operator()(const switch_setting&) const { return {}; }
  std::string operator()(const plugin_option_setting&) const { return {}; }
};

template <class T> void replace(std::optional<T>& under, std::optional<T>& over) {
  if (over)
    under = std::move(over);
}

} // namespace

std::span<const setting> settings() {
  return table;
}

std::string set_from_flag(const setting& which, const std::string& text, const std::string& base,
                          layer& to) {
  return std::visit(from_text{text, base, to}, which.meaning);
}

std::string set_from_key(const setting& which, const json::value& value, const std::string& base,
                         layer& to) {
  return std::visit(from_json{value, base, to, std::string(which.key)}, which.meaning);
}

void lay_over(layer& under, layer&& over) {
  replace(under.port, over.port);
  replace(under.delta_window_ms, over.delta_window_ms);
  replace(under.io_threads, over.io_threads);
  replace(under.client_tool_timeout_ms, over.client_tool_timeout_ms);
  replace(under.host, over.host);
  replace(under.connection_token, over.connection_token);
  replace(under.connection_token_file, over.connection_token_file);
  replace(under.sessions, over.sessions);
  replace(under.wire, over.wire);
  replace(under.without_connection_token, over.without_connection_token);
  replace(under.update_check, over.update_check);
  replace(under.paths, over.paths);
  replace(under.plugins, over.plugins);
  replace(under.config_file, over.config_file);
  under.no_cwd |= over.no_cwd;
  under.no_plugins |= over.no_plugins;
  for (auto& option : over.plugin_options)
    under.plugin_options.push_back(std::move(option));
  for (auto& sentence : over.skipped)
    under.skipped.push_back(std::move(sentence));
}

} // namespace ahpd::config
