#include "tools/ahpd/client/client.hpp"

namespace ahpd::client {

namespace {

constexpr const char* run_help = R"(Usage: ahpd run [flags] PROMPT

Sends one turn to a session and streams its answer: standard output and standard error of what the
agent runs go to the same places here, byte for byte. PROMPT is all words that are no flags; a single
`-` reads it from standard input.

  --computer NAME    run in this machine (a name or computer://name); else on the hub's own host
  --agent ID         the agent of a new session; else the hub's first
  --folder DIR       the working directory of a new session
  --session URI      go on in this session instead of making one
  --json             one JSON object a line: every event, then the result

Exit status: 0 the turn is complete and nothing in it failed; the command's own when a command
failed; 1 a refusal or a failed turn; 2 wrong words; 130 after Ctrl-C, which cancels the turn (a
second Ctrl-C leaves at once).
)";

constexpr const char* session_help = R"(Usage: ahpd session list [flags]
       ahpd session show URI [flags]
       ahpd session rm URI... [flags]

  list    sessions, newest first
  show    one session and its chats
  rm      ends and removes sessions

  --json     one JSON document
  --quiet    (list) only the URIs
)";

constexpr const char* computer_help = R"(Usage: ahpd computer list [flags]
       ahpd computer create NAME [flags]
       ahpd computer show|stats NAME [flags]
       ahpd computer start|stop|restart|rm NAME... [flags]

  list       the machines that this hub made
  create     makes and starts a machine; prints its URI
  show       its state, image, limits and mounts
  stats      its processor, memory, processes, network and disk right now
  rm         destroys it and everything in it

For create:
  --image IMAGE      what it is made from; else the hub's default
  --cpus N           at most so many processors
  --memory SIZE      at most so much memory: 512m, 2g
  --workdir DIR      where commands start in it
  --folder DIR       a folder of the hub's host, mounted at the same path
  --manifest FILE    a JSON manifest to start from (`-`: standard input); flags are laid over it

  --json     one JSON document
  --quiet    (list) only the names
)";

constexpr const char* common_help = R"(
  --remote URL         another hub, as ws://host:port or https://host; else the one that runs here
  --token-file FILE    the file with its token; also AHPD_TOKEN, or --token SECRET
)";

} // namespace

std::string help_text(const std::string& verb) {
  const char* own = verb == "run" ? run_help : verb == "session" ? session_help : computer_help;
  return std::string(own) + common_help;
}

} // namespace ahpd::client
