#pragma once

#include "actors/hub/services.hpp"

#include <string>
#include <variant>
#include <vector>

namespace ahpd::hub {

/// What `createSession` asked for, checked as far as it can be without asking a machine.
struct session_plan {
  std::string id;
  std::string uri;
  std::string provider;
  std::vector<std::string> folders; ///< `workingDirectories`, file URIs
  json::object config;              ///< values of the published keys
  std::string machine;              ///< id, from `config.computer`; empty: this host
  json::value active_client;        ///< SessionActiveClient or null
};

/// A refusal with its wire code.
struct plan_refusal {
  int code;
  std::string sentence;
};

/// Reads the params of `createSession`. `client_id` is the sender, whom alone `activeClient` may
/// name.
std::variant<session_plan, plan_refusal>
plan_session(const services& host, const json::object& params, const std::string& client_id);

/// SessionConfigSchema of a provider's sessions: the key `computer` when machines are made here,
/// and the settings of its engine.
json::object session_config_schema(const services& host, const std::string& provider);

} // namespace ahpd::hub
