#include "protocol/acp/settings.hpp"

#include "protocol/ahp/builders.hpp"

#include <algorithm>
#include <utility>

namespace ahpd::acp {

namespace {

using json::text;

constexpr std::size_t most_options = 100;
constexpr std::size_t most_commands = 500;

/// Of an option; the draft calls it otherwise.
std::string id_of(const json::value& option) {
  const auto id = text(option, "id");
  return id.empty() ? text(option, "configId") : id;
}

std::string setting_of(const json::value& option) {
  const auto category = text(option, "category");
  if (category == "mode")
    return "permissionMode";
  return category == "model" ? "model" : "acp." + id_of(option);
}

/// Values of a select, which may come in groups.
void add_choices(std::vector<std::string>& out, const json::value* options) {
  if (!options || !options->is_array())
    return;
  for (const auto& one : options->get_array()) {
    if (const auto value = json::string_member(one, "value"))
      out.emplace_back(*value);
    else
      add_choices(out, json::member(one, "options"));
  }
}

} // namespace

void settings::set(const std::string& key, json::value value) {
  known_[key].value = value;
  config_[key] = std::move(value);
}

void settings::take_modes(const json::value* modes) {
  if (!modes || known_.count("permissionMode")) // an option says more than the older modes
    return;
  const auto now = text(*modes, "currentModeId");
  const auto* all = json::member(*modes, "availableModes");
  if (now.empty() || !all || !all->is_array())
    return;
  option mode;
  for (const auto& one : all->get_array())
    mode.choices.push_back(text(one, "id"));
  known_["permissionMode"] = std::move(mode);
  set("permissionMode", json::value(now));
}

void settings::take_options(const json::value* options) {
  if (!options || !options->is_array())
    return;
  std::size_t taken = 0;
  for (const auto& one : options->get_array()) {
    const auto* now = json::member(one, "currentValue");
    const auto id = id_of(one);
    if (!now || id.empty() || !(now->is_string() || now->is_bool()) || ++taken > most_options)
      continue;
    option made{id, *now, {}, now->is_bool()};
    add_choices(made.choices, json::member(one, "options"));
    const auto key = setting_of(one);
    known_[key] = std::move(made);
    set(key, *now);
  }
}

void settings::take_opened(const json::value& result) {
  take_options(json::member(result, "configOptions"));
  take_modes(json::member(result, "modes"));
  if (const auto* all = json::member(result, "availableCommands"))
    customizations_ = commands(all);
}

bool settings::take(const json::value& update) {
  const auto what = json::string_member(update, "sessionUpdate").value_or("");
  if (what == "current_mode_update") {
    if (const auto mode = json::string_member(update, "currentModeId"))
      set("permissionMode", json::value(*mode));
  } else if (what == "config_option_update") {
    take_options(json::member(update, "configOptions"));
  } else if (what == "available_commands_update") {
    customizations_ = commands(json::member(update, "availableCommands"));
  } else if (what == "session_info_update") {
    if (const auto title = json::string_member(update, "title"); title && !title->empty())
      title_ = *title;
  } else {
    return false;
  }
  return true;
}

json::value settings::commands(const json::value* list) const {
  const auto uri = "acp-command:" + provider_;
  json::array leaves;
  if (list && list->is_array())
    for (const auto& one : list->get_array()) {
      const auto name = text(one, "name");
      if (name.empty() || leaves.size() == most_commands)
        continue;
      json::object leaf{
        {"type", "prompt"}, {"id", uri + "/" + name}, {"uri", uri + "/" + name}, {"name", name}};
      if (const auto about = text(one, "description"); !about.empty())
        leaf["description"] = about;
      leaves.push_back(std::move(leaf));
    }
  // Prompts stand inside a container (AHP "Customizations").
  json::object container{{"type", "plugin"},
                         {"id", uri},
                         {"uri", uri},
                         {"name", "Commands"},
                         {"children", std::move(leaves)}};
  return json::array{std::move(container)};
}

std::vector<json::value> settings::drain() {
  std::vector<json::value> out;
  if (!config_.empty())
    out.push_back(json::object{{"type", "session/configChanged"},
                               {"config", std::exchange(config_, json::object{})}});
  if (!customizations_.is_null())
    out.push_back(json::object{{"type", "session/customizationsChanged"},
                               {"customizations", std::exchange(customizations_, nullptr)}});
  if (!title_.is_null())
    out.push_back(ahp::build::title_changed(std::exchange(title_, nullptr).get_string()));
  return out;
}

std::optional<settings::request> settings::change(const std::string& key,
                                                  const json::value& value) const {
  const auto found = known_.find(key);
  if (found == known_.end() || found->second.value == value)
    return std::nullopt;
  const auto& [id, now, choices, flag] = found->second;
  if (flag) {
    if (!value.is_bool())
      return std::nullopt;
    return request{"session/set_config_option",
                   {{"configId", id}, {"type", "boolean"}, {"value", value}}};
  }
  const auto* word = value.if_string();
  if (!word || std::find(choices.begin(), choices.end(), std::string_view(*word)) == choices.end())
    return std::nullopt;
  if (id.empty())
    return request{"session/set_mode", {{"modeId", value}}};
  return request{"session/set_config_option", {{"configId", id}, {"value", value}}};
}

void settings::answered(const std::string& key, const json::value& value, const outcome& what) {
  const auto* result = std::get_if<json::value>(&what);
  set(key, result ? value : known_[key].value);
  if (result)
    take_opened(*result);
}

} // namespace ahpd::acp
