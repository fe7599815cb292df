#include "config/agents.hpp"

namespace ahpd::config {

namespace {

struct row {
  const char* id;
  const char* name;
  std::vector<std::string> command;
  std::map<std::string, std::string> env;
  std::map<std::string, std::string> machine_env;
  bool state = true; ///< it keeps its files in /ahpd/<id> of a machine
  const char* sign_in = "";
  std::vector<std::string> variables = {};
};

/// XDG folders below an agent's own.
std::map<std::string, std::string> xdg(const std::string& id) {
  return {{"XDG_CONFIG_HOME", "/ahpd/" + id + "/config"},
          {"XDG_DATA_HOME", "/ahpd/" + id + "/data"}};
}

std::vector<row> rows() {
  return {
    {"codex",
     "Codex",
     {"codex-acp"},
     {},
     {{"CODEX_HOME", "/ahpd/codex"}},
     true,
     "api-key",
     {"CODEX_API_KEY", "OPENAI_API_KEY"}},
    {"gemini", "Gemini CLI", {"gemini", "--acp"}, {}, {{"GEMINI_CLI_HOME", "/ahpd/gemini"}}},
    {"copilot",
     "GitHub Copilot",
     {"copilot", "--acp"},
     {{"COPILOT_AUTO_UPDATE", "false"}},
     {{"COPILOT_HOME", "/ahpd/copilot"}}},
    {"opencode",
     "OpenCode",
     {"opencode", "acp"},
     {{"OPENCODE_DISABLE_AUTOUPDATE", "1"}},
     xdg("opencode")},
    {"kilo", "Kilo", {"kilo", "acp"}, {{"OPENCODE_DISABLE_AUTOUPDATE", "1"}}, xdg("kilo")},
    {"goose",
     "Goose",
     {"goose", "acp"},
     {{"GOOSE_DISABLE_KEYRING", "1"}},
     {{"GOOSE_PATH_ROOT", "/ahpd/goose"}}},
    {"pi", "pi", {"pi-acp"}, {}, {{"PI_CODING_AGENT_DIR", "/ahpd/pi"}}},
    {"dsh", "dsh", {"dsh", "--profile", "acp"}, {}, {{"DSH_HOME", "/ahpd/dsh"}}},
    {"devin", "Devin", {"devin", "acp"}, {}, xdg("devin")},
    {"cursor",
     "Cursor",
     {"cursor-agent", "acp"},
     {},
     {{"CURSOR_CONFIG_DIR", "/ahpd/cursor"}},
     true,
     "cursor_login",
     {"CURSOR_API_KEY"}},
    {"amp", "Amp", {"amp-acp"}, {}, {{"AMP_CLI_PATH", "amp"}}, false},
    {"qwen", "Qwen Code", {"qwen", "--acp"}, {}, {{"QWEN_HOME", "/ahpd/qwen"}}},
  };
}

acp_agent made_of(const row& from) {
  acp_agent out;
  out.id = from.id;
  out.name = from.name;
  out.command = from.command.front();
  out.args.assign(from.command.begin() + 1, from.command.end());
  out.env = from.env;
  out.machine_env = from.machine_env;
  if (from.state)
    out.machine_state = std::string("/ahpd/") + from.id;
  out.template_sign_in = from.sign_in;
  out.sign_in_variables = from.variables;
  return out;
}

} // namespace

const std::vector<acp_agent>& agent_templates() {
  static const auto all = [] {
    std::vector<acp_agent> out;
    for (const auto& one : rows())
      out.push_back(made_of(one));
    return out;
  }();
  return all;
}

} // namespace ahpd::config
