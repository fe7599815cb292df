#pragma once

#include "config/options.hpp"

#include <map>
#include <string>
#include <vector>

namespace ahpd::config {

/// Lays one `--plugin-option P.KEY[.KEY]=VALUE` over the plugin whose name is the longest that
/// fits. Gives the refusal's sentence, which never holds the value, or an empty text.
std::string set_plugin_option(const std::string& text, std::vector<plugin_entry>& plugins);

/// Puts the environment's values in the place of `{"fromEnv": NAME}` in a plugin's options. Gives
/// why the plugin cannot be loaded, or an empty text.
std::string resolve_references(plugin_entry& plugin,
                               const std::map<std::string, std::string>& environment);

} // namespace ahpd::config
