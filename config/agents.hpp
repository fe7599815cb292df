#pragma once

#include <map>
#include <string>
#include <vector>

/// Agents that the operator adds: one record a file, `agents/<id>.json`.
namespace ahpd::config {

/// A program that speaks the Agent Client Protocol on its standard streams, and how it is started
/// (spec "Agent records and the ACP engine").
struct acp_agent {
  std::string id; ///< the provider that clients name
  std::string name;
  std::string description;
  std::string command; ///< found on the PATH of where the session runs
  std::vector<std::string> args;
  std::map<std::string, std::string> env; ///< laid over the environment of where it runs
  std::string cwd;                        ///< absolute, on this host; empty: the session's folder
  std::string model;                      ///< empty: the agent's own choice
  std::string sign_in;                    ///< id of the method to sign in with; empty: none is sent
  bool host_tools = true;                 ///< whether it is offered the session's tools

  std::map<std::string, std::string> machine_env; ///< over `env`, in a machine
  std::string machine_state; ///< a folder in the machine that must be there; empty: none

  /// A sign-in that is sent without being asked for when one of the variables is set.
  std::string template_sign_in;
  std::vector<std::string> sign_in_variables;

  /// Sentences: what keeps a session from starting, anywhere and in a machine.
  std::vector<std::string> lacks;
  std::vector<std::string> machine_lacks;
};

/// The agents that are known without a record; one whose id a record has is what that record lays
/// itself over.
const std::vector<acp_agent>& agent_templates();

/// Reads every record in `<directory>/agents`, by name; the folder may be absent. What is wrong
/// with a record is one sentence in `skipped`, which names the file, the key and what was expected;
/// the others are read. `{"fromEnv": NAME}` is taken from `environment`.
std::vector<acp_agent> read_agents(const std::string& directory,
                                   const std::map<std::string, std::string>& environment,
                                   std::vector<std::string>& skipped);

} // namespace ahpd::config
