#include "actors/hub/methods.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace ahpd::hub {

namespace {

constexpr auto root = channel_rule::root;
constexpr auto any = channel_rule::any;
constexpr auto hub = service::hub;
constexpr auto always = service::always;
constexpr auto not_yet = service::not_yet;

constexpr std::string_view no_automations = "This host keeps no automations yet";
constexpr std::string_view no_containers = "This host relays to no dev containers yet";

constexpr std::array methods{
  method_rule{"ping", root, always, "", ""},
  method_rule{"initialize", root, always, "", ""},
  method_rule{"reconnect", root, always, "", ""},
  method_rule{"unsubscribe", any, hub, "", ""},
  method_rule{"dispatchAction", any, hub, "", ""},
  method_rule{"subscribe", any, hub, "<channel>", ""},
  method_rule{"authenticate", root, hub, "", ""},
  method_rule{"listSessions", root, hub, "session:list", ""},
  method_rule{"createSession", any, hub, "session:create", ""},
  method_rule{"disposeSession", any, hub, "session:dispose", ""},
  method_rule{"resolveSessionConfig", root, hub, "session:state", ""},
  method_rule{"sessionConfigCompletions", root, hub, "session:state", ""},
  method_rule{"createChat", any, hub, "chat:create", ""},
  method_rule{"disposeChat", any, hub, "chat:dispose", ""},
  method_rule{"moveChat", any, not_yet, "chat:move", "This host moves no chats yet"},
  method_rule{"fetchTurns", any, hub, "chat:turns", ""},
  method_rule{"completions", any, hub, "file:list", ""},
  method_rule{"createTerminal", any, hub, "terminal:create", ""},
  method_rule{"disposeTerminal", any, hub, "terminal:dispose", ""},
  method_rule{"invokeChangesetOperation", any, hub, "file:write", ""},
  method_rule{"listAutomationTriggerDefinitions", root, not_yet, "automation:list", no_automations},
  method_rule{"runAutomation", any, not_yet, "automation:run", no_automations},
  method_rule{"fetchAutomationRuns", any, not_yet, "automation:list", no_automations},
  method_rule{"resourceRead", root, hub, "<scheme>:get", ""},
  method_rule{"resourceWrite", root, hub, "<scheme>:put", ""},
  method_rule{"resourceList", root, hub, "<scheme>:list", ""},
  method_rule{"resourceDelete", root, hub, "<scheme>:delete", ""},
  method_rule{"resourceResolve", root, hub, "<scheme>:resolve", ""},
  method_rule{"resourceCopy", root, hub, "<scheme>:copy", ""},
  method_rule{"resourceMove", root, hub, "<scheme>:move", ""},
  method_rule{"resourceMkdir", root, hub, "<scheme>:mkdir", ""},
  method_rule{"resourceRequest", root, hub, "<scheme>:request", ""},
  method_rule{"createResourceWatch", root, hub, "<scheme>:watch", ""},
  method_rule{"x-ahpd/computers/create", any, hub, "computer:put", ""},
  method_rule{"x-ahpd/computers/start", any, hub, "computer:put", ""},
  method_rule{"x-ahpd/computers/stop", any, hub, "computer:put", ""},
  method_rule{"x-ahpd/computers/restart", any, hub, "computer:put", ""},
  method_rule{"x-ahpd/computers/remove", any, hub, "computer:delete", ""},
  method_rule{"vscode/devContainers/isDockerAvailable", root, not_yet, "", no_containers},
  method_rule{"vscode/devContainers/connect", root, not_yet, "container:connect", no_containers},
  method_rule{"vscode/devContainers/disconnect", root, not_yet, "container:disconnect",
              no_containers},
  method_rule{"vscode/devContainers/relaySend", root, not_yet, "container:relay", no_containers},
};

struct subject {
  std::string_view name;
  std::string_view title;
  std::string_view description;
  std::vector<std::string_view> read;
  std::vector<std::string_view> write;
};

const std::vector<subject>& subjects() {
  static const std::vector<subject> all{
    {"session",
     "Session",
     "An agent session.",
     {"list", "state"},
     {"create", "dispose", "rename", "configure", "folders", "attach", "mark", "review", "changes",
      "worktree", "artifacts"}},
    {"chat",
     "Chat",
     "A chat of a session.",
     {"turns"},
     {"create", "fork", "dispose", "move", "send", "cancel", "answer", "tool", "draft", "folders",
      "mark", "truncate"}},
    {"terminal",
     "Terminal",
     "A terminal.",
     {"output"},
     {"create", "dispose", "input", "resize", "claim", "rename", "clear"}},
    {"automation",
     "Automation",
     "A session that starts by itself.",
     {"list"},
     {"create", "update", "remove", "run", "cancel"}},
    {"file",
     "File",
     "A file of a served folder.",
     {"get", "list", "resolve", "watch"},
     {"put", "delete", "mkdir", "move", "copy", "request"}},
    {"diagnostics", "Diagnostics", "What this host logs, does and counts.", {"logs"}, {}},
    {"config", "Configuration", "The settings of this host.", {"settings"}, {"change"}},
    {"container",
     "Container",
     "A dev container of an editor.",
     {},
     {"connect", "disconnect", "relay"}},
  };
  return all;
}

json::array words(const std::vector<std::string_view>& list) {
  json::array out;
  for (const auto word : list)
    out.emplace_back(word);
  return out;
}

json::object described(const subject& s) {
  auto operations = words(s.read);
  for (const auto word : s.write)
    operations.emplace_back(word);
  return {{"title", s.title},
          {"description", s.description},
          {"operations", std::move(operations)},
          {"read", words(s.read)},
          {"write", words(s.write)}};
}

} // namespace

const method_rule* find_method(std::string_view name) {
  const auto i =
    std::find_if(methods.begin(), methods.end(), [&](const auto& m) { return m.name == name; });
  return i == methods.end() ? nullptr : &*i;
}

json::object grants_document(bool computers) {
  json::object out;
  for (const auto& s : subjects())
    out[s.name] = described(s);
  if (computers)
    out["computer"] = described({"computer",
                                 "Computer",
                                 "A machine a session can run in.",
                                 {"get", "list", "resolve"},
                                 {"put", "delete"}});
  return out;
}

} // namespace ahpd::hub
