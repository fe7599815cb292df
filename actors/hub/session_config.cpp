#include "actors/hub/session_config.hpp"

#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/file_uri.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/jsonrpc/message.hpp"
#include "protocol/jsonrpc/params.hpp"

namespace ahpd::hub {

namespace {

constexpr std::size_t most_folders = 16;

/// `config.computer`: empty is this host, `computer://<id>` a machine; anything else would be a
/// source to make one from.
std::optional<plan_refusal> read_computer(const services& host, session_plan& plan,
                                          const json::value& setting) {
  if (!setting.is_string())
    return plan_refusal{jsonrpc::invalid_params, "config.computer must be a string"};
  const std::string text(setting.get_string());
  if (text.empty())
    return std::nullopt;
  const auto scheme = ahp::scheme_of(text);
  if (scheme != "computer") {
    if (scheme != "disposable" && scheme != "devcontainer")
      return plan_refusal{jsonrpc::invalid_params,
                          text + " is not a computer URI; a session runs in computer://<id>"};
    if (!host.computers)
      return plan_refusal{jsonrpc::invalid_params,
                          "This session asked to run in " + text +
                            ", and this host has no computer plugin that makes a machine from it"};
    return plan_refusal{jsonrpc::invalid_params, "Nothing here makes a computer from " + text};
  }
  const auto uri = ahp::parse_computer_uri(text);
  if (!uri || uri->name.empty() || !uri->leaf.empty())
    return plan_refusal{jsonrpc::invalid_params,
                        text + " is not a computer URI; a session runs in computer://<id>"};
  plan.machine = uri->name;
  plan.config["computer"] = text;
  return std::nullopt;
}

std::optional<plan_refusal> read_folders(session_plan& plan, const json::array& list) {
  if (list.size() > most_folders)
    return plan_refusal{jsonrpc::invalid_params, "workingDirectories holds at most " +
                                                   std::to_string(most_folders) + " folders"};
  for (const auto& item : list) {
    const auto* text = item.if_string();
    if (!text || !ahp::file_path(std::string_view(*text)))
      return plan_refusal{jsonrpc::invalid_params,
                          "workingDirectories must hold file:/// URIs of absolute paths"};
    plan.folders.emplace_back(*text);
  }
  return std::nullopt;
}

} // namespace

std::variant<session_plan, plan_refusal>
plan_session(const services& host, const json::object& params, const std::string& client_id) {
  jsonrpc::params in(params);
  session_plan plan;
  plan.uri = in.text("channel");
  plan.provider = in.text_if("provider").value_or(host.engines.front().provider);
  const auto* config = in.object_if("config");
  const auto* folders = in.array_if("workingDirectories");
  const auto* active = in.object_if("activeClient");
  const auto* fork = in.object_if("fork");
  if (!in.problem().empty())
    return plan_refusal{jsonrpc::invalid_params, in.problem()};
  if (fork) // AHP took it out in 0.9; a session without what was asked to be in it would be worse
    return plan_refusal{jsonrpc::invalid_params, "fork is not taken: this host forks no sessions"};
  const auto id = ahp::session_id(plan.uri);
  if (!id)
    return plan_refusal{jsonrpc::invalid_params, plan.uri + " is not a session URI"};
  plan.id = *id;
  const auto* engine = host.find_engine(plan.provider);
  if (!engine)
    return plan_refusal{ahp::provider_not_found, "No provider called " + plan.provider};
  if (folders)
    if (auto why = read_folders(plan, *folders))
      return *why;
  if (const auto* computer = config ? config->if_contains("computer") : nullptr)
    if (auto why = read_computer(host, plan, *computer))
      return *why;
  if (const auto& no = plan.machine.empty() ? engine->refused_here : engine->refused_in_machine;
      !no.empty())
    return plan_refusal{jsonrpc::invalid_params, no};
  for (const auto& item : engine->settings)
    if (const auto* value = config ? config->if_contains(item.key()) : nullptr) {
      if (!value->is_string())
        return plan_refusal{jsonrpc::invalid_params,
                            "config." + std::string(item.key()) + " must be a string"};
      plan.config[item.key()] = *value;
    }
  if (active) {
    jsonrpc::params client(*active);
    const auto named = client.text("clientId");
    const auto* tools = client.array_if("tools");
    if (!client.problem().empty() || !tools)
      return plan_refusal{jsonrpc::invalid_params,
                          "activeClient needs a clientId and an array of tools"};
    if (named != client_id)
      return plan_refusal{jsonrpc::invalid_params,
                          "activeClient.clientId must be the client that asks, " + client_id};
    plan.active_client = *active;
  }
  return plan;
}

json::object session_config_schema(const services& host, const std::string& provider) {
  json::object properties;
  const auto* engine = host.find_engine(provider);
  if (host.computers)
    properties["computer"] = json::object{
      {"type", "string"}, {"title", "Computer"}, {"description", "Where the session runs."},
      {"default", ""},    {"enumDynamic", true}, {"sessionMutable", false}};
  for (const auto& item : engine ? engine->settings : json::object{})
    properties[item.key()] = item.value();
  return {{"type", "object"}, {"properties", std::move(properties)}};
}

} // namespace ahpd::hub
