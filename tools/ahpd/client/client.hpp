#pragma once

#include <string>
#include <vector>

/// The verbs of `ahpd` that talk to a hub: `run`, `session` and `computer`.
namespace ahpd::client {

/// Whether `verb` is one of this client's.
bool is_client_verb(const std::string& verb);

/// What `--help` prints for a verb of this client.
std::string help_text(const std::string& verb);

/// Runs a verb with the words behind it; the program's exit code. Results go to standard output,
/// everything else to standard error.
int client_main(const std::string& verb, const std::vector<std::string>& args);

} // namespace ahpd::client
