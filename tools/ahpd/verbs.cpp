#include "tools/ahpd/verbs.hpp"

#include "config/settings.hpp"

#include <algorithm>
#include <array>

namespace ahpd::cli {

namespace {

constexpr flag json_flag{"--json", "", "Print one JSON document."};
constexpr flag quiet_flag{"--quiet", "", "Print only what identifies the result."};
constexpr flag help_flag{"--help", "", "Show this."};
constexpr flag version_flag{"--version", "", "Show the version."};
constexpr flag remote_flag{"--remote", "URL", "Another hub than the one that runs here."};
constexpr flag token_flag{"--token", "SECRET", "Its token; a file is safer."};
constexpr flag token_file_flag{"--token-file", "FILE", "File with its token; else AHPD_TOKEN."};

const std::vector<verb> table{
  {"",
   "[options]",
   "Serves agent sessions in the foreground.",
   "Listens on 127.0.0.1:9187 and serves the current folder unless told otherwise. What is set "
   "here\n"
   "can also be set in config.json of the configuration directory ($XDG_CONFIG_HOME/ahpd, else\n"
   "~/.config/ahpd), then in the file that AHPD_CONFIG names; an option wins.",
   true,
   {help_flag, version_flag},
   {},
   "  ahpd                                      serve the current folder on this machine\n"
   "  ahpd --path ~/src --path ~/notes          serve two folders\n"
   "  ahpd --host 0.0.0.0 --connection-token-file ~/.ahpd-token\n"
   "                                            let other machines in, with a token\n"
   "  ahpd --plugin computer                    make machines for sessions\n"},
  {"start",
   "[options]",
   "Does the same in the background.",
   "Takes every option that ahpd takes without a verb, and refuses a wrong one here. Its output "
   "goes\n"
   "to daemon.log in the configuration directory. Waits until the hub takes connections.",
   true,
   {json_flag, quiet_flag, help_flag},
   {},
   "  ahpd start\n"
   "  ahpd start --port 0 --path ~/src          let the system choose the port; status tells it\n"
   "  ahpd start --connection-token-file ~/.ahpd-token\n"},
  {"stop",
   "",
   "Ends the hub in the background and waits until it has ended.",
   "",
   false,
   {help_flag},
   {},
   "  ahpd stop\n"},
  {"restart",
   "",
   "Ends the hub in the background and starts it with the same options.",
   "A token that was typed is kept. Options that are not accepted any more are refused before\n"
   "anything is stopped.",
   false,
   {json_flag, quiet_flag, help_flag},
   {},
   "  ahpd restart\n"},
  {"status",
   "",
   "Says where the hub in the background is; exit status 1 when there is none.",
   "",
   false,
   {json_flag, quiet_flag, help_flag},
   {},
   "  ahpd status\n"
   "  ahpd status --json\n"},
  {"run",
   "[options] PROMPT",
   "Sends one turn to a session and streams its answer.",
   "",
   false,
   {{"--computer", "NAME", "Run in this machine."},
    {"--agent", "ID", "Agent of a new session."},
    {"--folder", "DIR", "Working directory of a new session."},
    {"--session", "URI", "Go on in this session."},
    json_flag,
    remote_flag,
    token_flag,
    token_file_flag,
    help_flag},
   {},
   ""},
  {"session",
   "list|show|rm",
   "Lists, shows and removes sessions.",
   "",
   false,
   {json_flag, quiet_flag, remote_flag, token_flag, token_file_flag, help_flag},
   {"list", "show", "rm"},
   ""},
  {"computer",
   "list|create|show|stats|start|stop|restart|rm",
   "Makes, shows and removes the machines that sessions run in.",
   "",
   false,
   {{"--image", "IMAGE", "What it is made from."},
    {"--cpus", "N", "At most so many processors."},
    {"--memory", "SIZE", "At most so much memory."},
    {"--workdir", "DIR", "Where commands start in it."},
    {"--folder", "DIR", "Folder of the hub's host to mount."},
    {"--manifest", "FILE", "JSON manifest to start from."},
    json_flag,
    quiet_flag,
    remote_flag,
    token_flag,
    token_file_flag,
    help_flag},
   {"list", "create", "show", "stats", "start", "stop", "restart", "rm"},
   ""},
  {"completion",
   "bash|zsh|fish",
   "Prints a shell's completions for ahpd.",
   "",
   false,
   {help_flag},
   {"bash", "zsh", "fish"},
   "  source <(ahpd completion bash)            for this shell; put it into ~/.bashrc to keep it\n"
   "  ahpd completion zsh > \"${fpath[1]}/_ahpd\"\n"
   "  ahpd completion fish > ~/.config/fish/completions/ahpd.fish\n"},
  {"help",
   "[VERB]",
   "Shows what the program or a verb of it does.",
   "",
   false,
   {help_flag},
   {},
   ""},
};

} // namespace

std::span<const verb> verbs() {
  return table;
}

const verb* find_verb(std::string_view name) {
  const auto found =
    std::find_if(table.begin(), table.end(), [&](const verb& v) { return v.name == name; });
  return found == table.end() ? nullptr : &*found;
}

std::vector<flag> flags_of(const verb& which) {
  std::vector<flag> out;
  if (which.run_flags)
    for (const auto& s : config::settings())
      if (s.served() && !s.flag.empty())
        out.push_back({s.flag, s.value, s.help});
  out.insert(out.end(), which.flags.begin(), which.flags.end());
  return out;
}

bool is_unserved_verb(std::string_view name) {
  constexpr std::array<std::string_view, 12> known{"config", "configure", "plugin", "user",
                                                   "team",   "project",   "vault",  "usage",
                                                   "node",   "join",      "proxy",  "agent"};
  return std::find(known.begin(), known.end(), name) != known.end();
}

} // namespace ahpd::cli
