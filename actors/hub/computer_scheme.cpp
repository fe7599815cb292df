#include "actors/hub/computer_scheme.hpp"

#include "actors/core/errors.hpp"
#include "protocol/ahp/codes.hpp"

#include <algorithm>
#include <array>

namespace ahpd::hub {

namespace {

constexpr std::array<std::string_view, 4> leaves{"status", "capabilities", "stats", "state"};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string state_word(const std::string& body) {
  const auto first = body.find_first_not_of(" \t\r\n");
  if (first == std::string::npos)
    return {};
  const auto last = body.find_last_not_of(" \t\r\n");
  return lower(body.substr(first, last - first + 1));
}

bool covers(std::string_view folder, std::string_view path) {
  return path.substr(0, folder.size()) == folder &&
         (path.size() == folder.size() || folder == "/" || path[folder.size()] == '/');
}

} // namespace

bool is_leaf(std::string_view leaf) {
  return std::find(leaves.begin(), leaves.end(), leaf) != leaves.end();
}

caf::error no_resource(const std::string& uri) {
  return core::refusal(ahp::not_found, "No computer resource at " + uri);
}

caf::error no_computer_uri(const std::string& uri) {
  return core::refusal(ahp::permission_denied, uri + " is not a computer: URI");
}

std::optional<caf::error> other_runtime(const std::string& id) {
  const auto dot = id.find('.');
  if (dot == 0 || dot == std::string::npos)
    return std::nullopt;
  return core::refusal(jsonrpc::invalid_params, id + " names a machine on the " +
                                                  id.substr(0, dot) +
                                                  " runtime, and this host serves docker");
}

std::variant<ahp::computer_uri, caf::error> write_target(const std::string& uri) {
  const auto target = ahp::parse_computer_uri(uri);
  if (!target)
    return no_computer_uri(uri);
  if (target->name.empty())
    return core::refusal(jsonrpc::invalid_params,
                         uri + " is not a name for a new computer; write to computer://<name>");
  if (!target->leaf.empty() && target->leaf != "state")
    return core::refusal(
      jsonrpc::invalid_params,
      uri + " is not something to write; write to computer://<name> or computer://<name>/state");
  return *target;
}

std::variant<ahp::computer_uri, caf::error> read_target(const std::string& uri) {
  const auto target = ahp::parse_computer_uri(uri);
  if (!target)
    return no_computer_uri(uri);
  if (target->name.empty())
    return no_resource(uri);
  if (target->leaf.empty())
    return core::refusal(ahp::not_found, uri + " is a directory; read " + uri + "/status");
  if (!is_leaf(target->leaf))
    return no_resource(uri);
  return *target;
}

std::optional<machine_verb> state_verb(const std::string& body) {
  const auto word = state_word(body);
  if (word == "running")
    return machine_verb::start;
  if (word == "stopped")
    return machine_verb::stop;
  if (word == "restarted")
    return machine_verb::restart;
  if (word == "suspended")
    return machine_verb::suspend;
  return std::nullopt;
}

caf::error bad_state_word(const std::string& body) {
  auto word = state_word(body);
  constexpr std::size_t longest = 100;
  if (word.size() > longest)
    word = word.substr(0, longest) + "...";
  return core::refusal(
    jsonrpc::invalid_params,
    "A computer's state is one of running, stopped, restarted, and that body says " +
      (word.empty() ? std::string("nothing") : word));
}

json::value text_resource(const std::string& text, std::string_view content_type) {
  return {{"data", text}, {"encoding", "utf-8"}, {"contentType", content_type}};
}

json::value json_resource(const json::value& document) {
  return text_resource(json::pretty(document) + "\n", "application/json");
}

json::value root_entries(const json::array& records) {
  json::array entries;
  for (const auto& record : records)
    entries.push_back({{"name", record.at("id")}, {"type", "directory"}});
  return {{"entries", std::move(entries)}};
}

json::value machine_entries() {
  json::array entries;
  for (const auto leaf : leaves)
    entries.push_back({{"name", leaf}, {"type", "file"}});
  return {{"entries", std::move(entries)}};
}

json::value resolved(const std::string& uri, std::string_view type, const std::string& created,
                     std::optional<std::size_t> size) {
  json::object o{{"uri", uri}, {"type", type}, {"mtime", created}, {"ctime", created}};
  if (size)
    o["size"] = *size;
  return o;
}

namespace {

/// Where a machine's programs start by themselves.
std::string own_directory(const json::value& status) {
  const auto* config = json::member(status, "Config");
  const auto named = config ? json::string_member(*config, "WorkingDir").value_or("") : "";
  return named.empty() ? "/" : std::string(named);
}

} // namespace

std::string mapped_directory(const json::value& status, const std::string& directory,
                             const std::string& otherwise) {
  const auto* mounts = json::member(status, "Mounts");
  const auto uncovered = otherwise.empty() ? own_directory(status) : otherwise;
  if (directory.empty() || !mounts || !mounts->is_array())
    return uncovered;
  std::string_view best_source;
  std::string_view best_target;
  for (const auto& mount : mounts->get_array()) {
    const auto source = json::string_member(mount, "Source").value_or("");
    const auto target = json::string_member(mount, "Destination").value_or("");
    if (!source.empty() && source.size() > best_source.size() && covers(source, directory)) {
      best_source = source;
      best_target = target;
    }
  }
  if (best_source.empty())
    return uncovered;
  return std::string(best_target) + directory.substr(best_source.size());
}

std::string prepared_for(const json::value& status) {
  const auto* config = json::member(status, "Config");
  const auto* labels = config ? json::member(*config, "Labels") : nullptr;
  return std::string(labels ? json::string_member(*labels, "ahpd.agents").value_or("") : "");
}

bool takes_agent(const json::value& status, std::string_view provider) {
  const auto all = prepared_for(status);
  return all.empty() || provider.empty() ||
         ("," + all + ",").find("," + std::string(provider) + ",") != std::string::npos;
}

json::value picker_rows(const json::array& records, const std::string& query,
                        const std::string& provider) {
  json::array rows;
  const auto wanted = lower(query);
  const auto add = [&](const std::string& value, const std::string& label,
                       std::string description) {
    if (lower(value).find(wanted) == std::string::npos &&
        lower(label).find(wanted) == std::string::npos)
      return;
    json::object row{{"value", value}, {"label", label}};
    if (!description.empty())
      row["description"] = std::move(description);
    rows.push_back(std::move(row));
  };
  if (query.empty())
    add("", "This host", {});
  for (const auto& record : records) {
    const auto& shown = record.at("record");
    if (json::string_member(shown, "state") != "running" ||
        !takes_agent(shown.at("status"), provider))
      continue;
    const std::string id(record.at("id").get_string());
    std::string image;
    if (const auto* config = json::member(shown.at("status"), "Config"))
      image = json::string_member(*config, "Image").value_or("");
    add("computer://" + id, id, image + " · running");
  }
  return rows;
}

} // namespace ahpd::hub
