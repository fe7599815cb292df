#pragma once

#include "protocol/acp/peer.hpp"
#include "protocol/json.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ahpd::acp {

/// What an agent says of its session, as session actions (AHP "Session channel"): its mode, its
/// options, its commands and its title.
///
/// An agent's mode is the setting `permissionMode`, its model `model`, any other option `acp.<id>`.
class settings {
public:
  explicit settings(std::string provider) : provider_(std::move(provider)) {}

  /// Takes the result of `session/new` or `session/load`.
  void take_opened(const json::value& result);

  /// Takes the member `update` of a `session/update`; true when it was about the session. What
  /// follows within one `drain` replaces what came before.
  bool take(const json::value& update);

  /// The session actions that came about since the last time.
  std::vector<json::value> drain();

  /// The request that sets a setting, its params without `sessionId`.
  struct request {
    std::string method;
    json::object params;
  };

  /// What must be asked of the agent so that `key` becomes `value`; nothing when it is that, or
  /// when the agent has no such setting or no such choice.
  std::optional<request> change(const std::string& key, const json::value& value) const;

  /// Takes the answer to a change. One that was refused leaves the setting as it is, and says so in
  /// the next `drain`.
  void answered(const std::string& key, const json::value& value, const outcome& what);

private:
  struct option {
    std::string id;    ///< of the config option; empty: the session's mode
    json::value value; ///< now
    std::vector<std::string> choices;
    bool flag = false; ///< a boolean, without choices
  };

  void take_options(const json::value* options);
  void take_modes(const json::value* modes);
  void set(const std::string& key, json::value value);
  json::value commands(const json::value* list) const;

  const std::string provider_;
  std::map<std::string, option> known_; ///< by setting
  json::object config_;                 ///< settings that changed
  json::value customizations_;
  json::value title_;
};

} // namespace ahpd::acp
