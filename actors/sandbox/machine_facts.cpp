#include "actors/sandbox/machine_facts.hpp"

#include "actors/sandbox/runner.hpp"
#include "actors/sandbox/version.hpp"
#include "protocol/aio/envelope.hpp"
#include "runtimes/process/executable.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <sys/utsname.h>
#include <unistd.h>

namespace ahpd::sandbox {

namespace {

using json::array;
using json::object;

/// A value of /etc/os-release; empty when there is none.
std::string os_release(const std::string& key) {
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key + "="))
      continue;
    auto value = line.substr(key.size() + 1);
    std::erase(value, '"');
    return value;
  }
  return {};
}

std::string timezone() {
  if (const char* set = std::getenv("TZ"); set && *set)
    return set;
  std::error_code none;
  const auto zone = std::filesystem::read_symlink("/etc/localtime", none).string();
  const auto at = zone.find("zoneinfo/");
  if (at != std::string::npos)
    return zone.substr(at + 9);
  std::ifstream file("/etc/timezone");
  std::string line;
  return std::getline(file, line) && !line.empty() ? line : "UTC";
}

/// Ports of listening TCP sockets, as /proc/net tells them.
std::set<std::int64_t> occupied_ports() {
  std::set<std::int64_t> out;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string number, local, remote, state;
      words >> number >> local >> remote >> state;
      if (state == "0A" && local.rfind(':') != std::string::npos)
        out.insert(std::strtol(local.c_str() + local.rfind(':') + 1, nullptr, 16));
    }
  }
  return out;
}

array runtimes_of(const services& host, const char* command) {
  array out;
  if (const auto found = process::find_executable(command, host.environment); found.error == 0)
    out.push_back(object{{"ver", ""}, {"bin", found.path}, {"alias", array{command}}});
  return out;
}

std::string text(const json::object& of, const char* key) {
  return std::string(of.at(key).as_string());
}

} // namespace

json::object machine_facts(const services& host, const json::object& capabilities) {
  utsname system{};
  ::uname(&system);
  const auto own = host.accounts.find(::geteuid());
  array ports;
  for (const auto each : occupied_ports())
    ports.emplace_back(each);
  const auto name = own ? own->name : std::to_string(::geteuid());
  return {
    {"version", AHPD_VERSION},
    {"commit", commit},
    {"hostname", system.nodename},
    {"os", os_release("NAME").empty() ? system.sysname : os_release("NAME")},
    {"os_version", os_release("VERSION_ID")},
    {"arch", system.machine},
    {"kernel", system.release},
    {"user", name},
    {"uid", ::geteuid()},
    {"default_user", host.options.default_user.empty() ? name : host.options.default_user},
    {"home_dir", host.home},
    {"workspace_dir", host.home},
    {"runtime_dir", host.runtime_dir},
    {"timezone", timezone()},
    {"api_surface", host.options.only_v2 ? "v2" : "full"},
    {"ports",
     {{"aiod", host.port},
      {"cdp", host.options.browser_port},
      {"computer_use", host.options.computer_url}}},
    {"occupied_ports", std::move(ports)},
    {"runtimes", {{"python", runtimes_of(host, "python3")}, {"nodejs", runtimes_of(host, "node")}}},
    {"capabilities", capabilities}};
}

json::object machine_facts_v1(const services& host, const json::object& facts) {
  array ports;
  for (const auto& each : facts.at("occupied_ports").as_array())
    ports.emplace_back(std::to_string(each.to_number<std::int64_t>()));
  array tools;
  for (const char* each : {"bash", "git", "curl", "tmux", "rg"})
    if (process::find_executable(each, host.environment).error == 0)
      tools.push_back(object{{"name", each}, {"description", ""}});
  const object system{{"os", facts.at("os")},
                      {"os_version", facts.at("os_version")},
                      {"arch", facts.at("arch")},
                      {"user", facts.at("user")},
                      {"home_dir", facts.at("home_dir")},
                      {"workspace", facts.at("workspace_dir")},
                      {"timezone", facts.at("timezone")},
                      {"occupied_ports", std::move(ports)}};
  auto out = aio::success(json::string(text(facts, "os") + " " + text(facts, "os_version") + ", " +
                                       text(facts, "arch") + ", user " + text(facts, "user") +
                                       ", home " + text(facts, "home_dir")));
  out["home_dir"] = facts.at("home_dir");
  out["workspace"] = facts.at("workspace_dir");
  out["version"] = AHPD_VERSION;
  out["detail"] =
    object{{"system", system},
           {"runtime", facts.at("runtimes")},
           {"utils", array{object{{"category", "shell"}, {"tools", std::move(tools)}}}}};
  return out;
}

} // namespace ahpd::sandbox
