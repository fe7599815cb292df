#pragma once

#include "tests/programs/hub_support.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

/// What the tests of agents on the Agent Client Protocol share.
namespace ahpd::tests {

/// Where the fixtures of the agents are.
std::string fixture(const std::string& name);

/// A folder whose node_modules hold a package; nothing when npm cannot install it.
std::optional<std::string> npm_package(const std::string& name, const std::string& version);

/// The same for the protocol's own library.
std::optional<std::string> acp_sdk();

bool has_node();

/// The record of an agent that runs node with these arguments.
std::string node_record(const std::string& id, std::vector<std::string> args,
                        std::map<std::string, std::string> env = {}, json::object more = {});

/// A hub with the plugin and these records, by id.
hub_options acp_options(const std::map<std::string, std::string>& records);

/// A hub whose agent `acp` is one of the fixtures on the library, and keeps its sessions in
/// `state`.
struct acp_hub {
  explicit acp_hub(const std::string& sdk, std::map<std::string, std::string> env = {},
                   json::object more = {}, const std::string& agent = "acp-agent.mjs");

  scratch state;
  marked_hub marked;
};

/// A peer that waits long enough for a node that starts on a busy machine.
struct acp_peer : ahp_peer {
  explicit acp_peer(const hub_process& hub, const std::string& client = "peer");
};

/// The text that turn `id` answered: of its markdown parts, as the chat has it now.
std::string answer_of(ahp_peer& peer, const std::string& chat, const std::string& id);

/// A turn that must be complete: what it answered.
std::string say(ahp_peer& peer, const shell_session& in, const std::string& id,
                const std::string& prompt);

/// "<errorType>: <message>" of a turn that must fail.
std::string failure(ahp_peer& peer, const shell_session& in, const std::string& id,
                    const std::string& prompt);
std::string failure_of(const json::value& envelope);

} // namespace ahpd::tests
