#include "config/agents.hpp"

#include "config/files.hpp"
#include "protocol/json.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

namespace ahpd::config {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_bytes = 1u << 20;
constexpr std::size_t most_levels = 32;
constexpr std::size_t longest_id = 64;

/// What is wrong with a record; the sentence goes on behind the name of its file.
struct wrong {
  std::string sentence;
};

bool is_id(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  return !text.empty() && text.size() <= longest_id && text[0] != '.' && text[0] != '-' &&
         std::all_of(text.begin(), text.end(), plain);
}

/// Reads the members of one object by name, and knows which it read.
class reader {
public:
  reader(const json::object& from, std::string place) : from_(from), place_(std::move(place)) {}

  std::string name_of(std::string_view key) const { return place_ + std::string(key); }

  const json::value* find(std::string_view key) {
    known_.emplace_back(key);
    const auto* found = from_.if_contains(key);
    return found && !found->is_null() ? found : nullptr;
  }
  std::optional<std::string> text(std::string_view key) {
    const auto* found = find(key);
    if (!found)
      return std::nullopt;
    if (!found->is_string() || found->get_string().empty())
      throw wrong{name_of(key) + " must be a string that is not empty"};
    return std::string(found->get_string());
  }
  const json::object* object(std::string_view key) {
    const auto* found = find(key);
    if (found && !found->is_object())
      throw wrong{name_of(key) + " must be an object"};
    return found ? &found->get_object() : nullptr;
  }
  std::optional<std::vector<std::string>> texts(std::string_view key) {
    const auto* found = find(key);
    if (!found)
      return std::nullopt;
    const auto* list = found->if_array();
    if (!list || !std::all_of(list->begin(), list->end(), [](auto& v) { return v.is_string(); }))
      throw wrong{name_of(key) + " must be an array of strings"};
    std::vector<std::string> out;
    for (const auto& item : *list)
      out.emplace_back(item.get_string());
    return out;
  }

  /// A key that nobody asked for is one sentence and no fault.
  void name_unknown(std::vector<std::string>& skipped) const {
    for (const auto& item : from_)
      if (std::find(known_.begin(), known_.end(), item.key()) == known_.end())
        skipped.push_back(name_of(item.key()) + " is not a key ahpd knows here; ignored");
  }

private:
  const json::object& from_;
  const std::string place_;
  std::vector<std::string> known_;
};

using environment_map = std::map<std::string, std::string>;

/// Lays variables over `to`. One that names a secret is a sentence in `lacks`: there is no vault.
void read_variables(const json::object& from, const std::string& place,
                    const environment_map& environment, environment_map& to,
                    std::vector<std::string>& lacks) {
  for (const auto& item : from) {
    const std::string key(item.key());
    const auto name = place + "." + key;
    if (key.empty() || key.find('=') != std::string::npos || key.find('\0') != std::string::npos)
      throw wrong{place + " holds a name that no variable can have"};
    const auto& value = item.value();
    const auto secret = json::string_member(value, "$secret");
    const auto named = json::string_member(value, "fromEnv");
    if (value.is_string()) {
      to[key] = value.get_string();
    } else if (secret) {
      lacks.push_back(name + " names the secret " + std::string(*secret) +
                      ", and this version has no vault to read it from");
    } else if (named) {
      const auto found = environment.find(std::string(*named));
      if (found == environment.end())
        throw wrong{name + " reads " + std::string(*named) +
                    ", which the daemon's environment does not have"};
      to[key] = found->second;
    } else {
      throw wrong{name + " must be a string, {\"$secret\": …} or {\"fromEnv\": …}"};
    }
  }
}

void read_config(const json::object& from, const environment_map& environment, acp_agent& to,
                 std::vector<std::string>& skipped) {
  reader in(from, "config.");
  if (auto command = in.text("command"))
    to.command = std::move(*command);
  if (auto args = in.texts("args"))
    to.args = std::move(*args);
  if (const auto* env = in.object("env"))
    read_variables(*env, "config.env", environment, to.env, to.lacks);
  if (auto cwd = in.text("cwd")) {
    if (!fs::path(*cwd).is_absolute())
      throw wrong{"config.cwd must be an absolute path"};
    to.cwd = std::move(*cwd);
  }
  if (auto about = in.text("description"))
    to.description = std::move(*about);
  if (auto model = in.text("model"))
    to.model = std::move(*model);
  if (const auto* sign_in = in.object("authenticate")) {
    reader method(*sign_in, "config.authenticate.");
    const auto id = method.text("methodId");
    if (!id)
      throw wrong{"config.authenticate.methodId must be a string that is not empty"};
    to.sign_in = *id;
    method.name_unknown(skipped);
  }
  if (const auto* tools = in.find("hostTools")) {
    if (!tools->is_bool())
      throw wrong{"config.hostTools must be true or false"};
    to.host_tools = tools->get_bool();
  }
  if (const auto* machine = in.object("machine")) {
    reader inside(*machine, "config.machine.");
    if (const auto* env = inside.object("env"))
      read_variables(*env, "config.machine.env", environment, to.machine_env, to.machine_lacks);
    inside.name_unknown(skipped);
  }
  in.name_unknown(skipped);
}

/// One record; nothing when it is of an engine that is not served, which is a sentence.
std::optional<acp_agent> read_record(const json::object& from, const std::string& file_id,
                                     const environment_map& environment,
                                     std::vector<std::string>& skipped) {
  reader in(from, "");
  const auto id = in.text("id").value_or(file_id);
  if (id != file_id)
    throw wrong{"id must be " + file_id + ", as its file is called"};
  const auto engine = in.text("engine");
  if (!engine)
    throw wrong{"engine must be the name of an engine, such as \"acp\""};
  if (*engine != "acp") {
    skipped.push_back("engine " + *engine + " is not served by this version; the agent " + id +
                      " is left out");
    return std::nullopt;
  }
  acp_agent out;
  for (const auto& known : agent_templates())
    if (known.id == id)
      out = known;
  out.id = id;
  if (auto name = in.text("name"))
    out.name = std::move(*name);
  if (out.name.empty())
    out.name = id;
  in.text("owner");
  if (const auto* config = in.object("config"))
    read_config(*config, environment, out, skipped);
  if (out.command.empty())
    throw wrong{"config.command must name the program to run: there is no template called " + id};
  in.name_unknown(skipped);
  return out;
}

std::optional<acp_agent> read_file(const fs::path& file, const environment_map& environment,
                                   std::vector<std::string>& skipped) {
  const auto id = file.stem().string();
  std::vector<std::string> said;
  std::optional<acp_agent> out;
  try {
    if (!is_id(id))
      throw wrong{"the name of an agent has 1 to " + std::to_string(longest_id) +
                  " of a-z, 0-9, '-', '_' and '.'"};
    std::string error;
    const auto document =
      json::parse_text(read_whole(file.string(), most_bytes), most_levels, error);
    if (!document)
      throw wrong{error};
    if (!document->is_object())
      throw wrong{"it must hold a JSON object"};
    out = read_record(document->get_object(), id, environment, said);
  } catch (const wrong& why) {
    said = {why.sentence + "; the agent is left out"};
  } catch (const file_error& why) {
    skipped.emplace_back(why.what());
  }
  for (const auto& sentence : said)
    skipped.push_back(file.string() + ": " + sentence);
  return out;
}

} // namespace

std::vector<acp_agent> read_agents(const std::string& directory, const environment_map& environment,
                                   std::vector<std::string>& skipped) {
  std::vector<fs::path> files;
  std::error_code ec;
  for (fs::directory_iterator i(directory + "/agents", ec), end; !ec && i != end; i.increment(ec))
    if (i->path().extension() == ".json")
      files.push_back(i->path());
  if (ec && ec != std::errc::no_such_file_or_directory)
    skipped.push_back(directory + "/agents could not be read: " + ec.message());
  std::sort(files.begin(), files.end());
  std::vector<acp_agent> out;
  for (const auto& file : files)
    if (auto agent = read_file(file, environment, skipped)) {
      for (auto* lacks : {&agent->lacks, &agent->machine_lacks})
        for (auto& sentence : *lacks)
          sentence = agent->id + ": " + sentence;
      out.push_back(std::move(*agent));
    }
  return out;
}

} // namespace ahpd::config
