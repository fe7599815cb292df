// What an operator writes: a configuration file, flags, a plugin's options.

#include "tests/fuzz/fuzz.hpp"

#include "config/nearest.hpp"
#include "config/plugin_options.hpp"
#include "config/settings.hpp"
#include "protocol/json.hpp"

#include <string>

namespace ahpd::fuzz {

using namespace ahpd::config;

namespace {

void read_document(std::string_view text, layer& to) {
  std::string error;
  const auto document = json::parse_text(text, 32, error);
  must(document || !error.empty(), "what is no JSON is refused in words");
  if (!document || !document->is_object())
    return;
  for (const auto& [key, value] : document->get_object())
    for (const auto& which : settings())
      if (!which.key.empty() && which.key == key && which.served())
        set_from_key(which, value, "/srv", to);
}

} // namespace

void take(std::string_view bytes) {
  layer over;
  read_document(bytes, over);
  if (over.port)
    must(*over.port >= 0 && *over.port <= 65535, "a port is one");
  for (auto& plugin : over.plugins.value_or(std::vector<plugin_entry>{})) {
    must(!plugin.name.empty(), "a plugin has a name");
    resolve_references(plugin, {{"HOME", "/root"}});
  }

  layer under;
  auto rest = bytes;
  const auto line = std::string(cut(rest, '\n'));
  for (const auto& which : settings())
    if (!which.flag.empty() && which.served())
      set_from_flag(which, line, "/srv", under);
  lay_over(under, std::move(over));

  std::vector<plugin_entry> plugins{{"@ahpd/computer", {}, true},
                                    {"@ahpd/computer.more", {}, true}};
  set_plugin_option(line, plugins);
  std::vector<std::string> flags{line};
  while (!rest.empty() && flags.size() < 16)
    flags.emplace_back(cut(rest, '\n'));
  const auto read = read_line(flags, "/srv");
  if (const auto* no = std::get_if<start_refusal>(&read))
    must(!no->sentence.empty() && no->exit_code != 0, "a line is refused in words");
  nearest(line, {"port", "host", "paths", "plugins"});
}

} // namespace ahpd::fuzz
