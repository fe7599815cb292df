#include "config/plugin_options.hpp"

namespace ahpd::config {

namespace {

constexpr std::size_t most_levels = 32;

/// The name in an object whose only key is `kind`, or null.
const json::string* reference(const json::value& v, std::string_view kind) {
  const auto* o = v.if_object();
  if (!o || o->size() != 1 || o->begin()->key() != kind)
    return nullptr;
  return o->begin()->value().if_string();
}

plugin_entry* longest_prefix(const std::string& name, std::vector<plugin_entry>& plugins) {
  plugin_entry* best = nullptr;
  for (auto& plugin : plugins)
    if (name.rfind(plugin.name + '.', 0) == 0 && (!best || best->name.size() < plugin.name.size()))
      best = &plugin;
  return best;
}

std::string resolve(json::value& v, const std::string& place,
                    const std::map<std::string, std::string>& environment) {
  if (reference(v, "$secret"))
    return place + " names a secret of the vault, which is not served by this version";
  if (const auto* name = reference(v, "fromEnv")) {
    const auto found = environment.find(std::string(*name));
    if (found == environment.end())
      return place + " reads " + std::string(*name) +
             ", which the daemon's environment does not have";
    v = json::value(found->second);
    return {};
  }
  if (auto* o = v.if_object()) {
    for (auto& item : *o)
      if (auto wrong = resolve(item.value(), place + '.' + std::string(item.key()), environment);
          !wrong.empty())
        return wrong;
  } else if (auto* a = v.if_array()) {
    for (std::size_t i = 0; i < a->size(); ++i)
      if (auto wrong = resolve((*a)[i], place + '[' + std::to_string(i) + ']', environment);
          !wrong.empty())
        return wrong;
  }
  return {};
}

} // namespace

std::string set_plugin_option(const std::string& text, std::vector<plugin_entry>& plugins) {
  const auto equals = text.find('=');
  if (equals == std::string::npos)
    return "--plugin-option takes PLUGIN.KEY=VALUE";
  const std::string name = text.substr(0, equals);
  const std::string said = "--plugin-option " + name;
  plugin_entry* plugin = longest_prefix(name, plugins);
  if (!plugin)
    return said + " names no plugin that is loaded";

  json::object* into = &plugin->options;
  std::string path = name.substr(plugin->name.size() + 1);
  for (std::size_t level = 0;; ++level) {
    const auto dot = path.find('.');
    const std::string key = path.substr(0, dot);
    if (key.empty() || level == most_levels)
      return said + " must be a plugin and at most " + std::to_string(most_levels) +
             " keys with a dot between them";
    if (dot == std::string::npos)
      break;
    auto& inner = (*into)[key];
    if (reference(inner, "$secret"))
      return said + " sets a key inside a $secret reference";
    if (inner.is_null())
      inner.emplace_object();
    if (!inner.is_object())
      return said + ": " + key + " is not an object";
    into = &inner.get_object();
    path.erase(0, dot + 1);
  }
  const std::string value = text.substr(equals + 1);
  std::string error;
  const auto parsed = json::parse_text(value, most_levels, error);
  (*into)[path] = parsed ? *parsed : json::value(value);
  return {};
}

std::string resolve_references(plugin_entry& plugin,
                               const std::map<std::string, std::string>& environment) {
  for (auto& item : plugin.options)
    if (auto wrong = resolve(item.value(), std::string(item.key()), environment); !wrong.empty())
      return "plugin " + plugin.name + ": " + wrong;
  return {};
}

} // namespace ahpd::config
