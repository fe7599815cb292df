#include "actors/sandbox/probes.hpp"

#include "protocol/aio/routes.hpp"
#include "runtimes/process/executable.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace ahpd::sandbox {

namespace {

namespace fs = std::filesystem;
using json::array;
using json::object;

std::string path_of(const services& host, const std::string& command) {
  const auto found = process::find_executable(command, host.environment);
  return found.error == 0 ? found.path : std::string();
}

bool serves(std::string_view path) {
  const auto& all = aio::routes();
  return std::any_of(all.begin(), all.end(), [&](const auto& r) { return r.path == path; });
}

object files() {
  object out{{"status", "absent"}};
  for (const std::string each :
       {"read", "write", "edit", "list", "search", "grep", "upload", "download", "tree", "watch"}) {
    const bool there = serves(each == "watch" ? "/v2/watch" : "/v2/fs/" + each);
    out[each] = there;
    if (there)
      out["status"] = "ready";
  }
  out["missing"] = array{};
  out["warnings"] = array{};
  return out;
}

object exec(const services& host) {
  auto bash = host.options.bash;
  if (bash.empty() || !process::can_execute(bash))
    bash = path_of(host, "bash");
  array shells, missing;
  for (const char* each : {"bash", "sh"})
    if (!path_of(host, each).empty() || (std::string_view(each) == "bash" && !bash.empty()))
      shells.emplace_back(each);
  if (bash.empty())
    missing.emplace_back("bash");
  return {{"status", bash.empty() ? "absent" : "ready"},
          {"shell", bash.empty() ? json::value(nullptr) : json::value(bash)},
          {"shells", std::move(shells)},
          {"commands", !bash.empty()},
          {"pty", !bash.empty() && serves("/v2/pty/sessions")},
          {"pty_backend", nullptr},
          {"user_switch", ::geteuid() == 0},
          {"missing", std::move(missing)},
          {"warnings", array{}}};
}

object code(const services& host) {
  const auto interpreter = [&](const char* name) -> json::value {
    const auto path = path_of(host, name);
    return path.empty() ? json::value(nullptr) : json::value{{"path", path}};
  };
  return {{"status", "absent"},
          {"backend", nullptr},
          {"jupyter_backend", nullptr},
          {"python", interpreter("python3")},
          {"node", interpreter("node")},
          {"python_kernels", array{}},
          {"languages", array{}},
          {"missing", array{}},
          {"warnings", array{"this version of aiod does not run code"}}};
}

} // namespace

json::object probe_here(const services& host) {
  return {{"files", files()}, {"exec", exec(host)}, {"code_interpreter", code(host)}};
}

json::object browser_answer(const config::sandbox_options& options,
                            const transport::http_result& got) {
  const bool answers = got.response && got.response->status == 200;
  std::string ignored;
  const auto told = answers ? json::parse_text(got.response->body, 16, ignored) : std::nullopt;
  const auto version = told ? json::text(*told, "Browser") : std::string();
  array missing, warnings;
  if (!answers) {
    missing.emplace_back("chromium");
    warnings.emplace_back("the debugging port does not answer: " + failure_of(got));
  }
  warnings.emplace_back("this version of aiod does not drive a browser");
  return {
    {"status", "absent"},
    {"process", has_browser_process()},
    {"cdp", answers},
    {"endpoint", "http://" + options.browser_host + ":" + std::to_string(options.browser_port)},
    {"version", version.empty() ? json::value(nullptr) : json::value(version)},
    {"missing", std::move(missing)},
    {"warnings", std::move(warnings)}};
}

json::object computer_answer(const std::string& why) {
  return {{"status", "absent"},
          {"provider", nullptr},
          {"display", nullptr},
          {"screenshot", false},
          {"actions", false},
          {"clipboard", false},
          {"recording", false},
          {"accessibility", false},
          {"accessibility_backend", nullptr},
          {"resolution", {{"width", nullptr}, {"height", nullptr}}},
          {"missing", array{"computer-use"}},
          {"warnings", array{"computer-use worker probe failed: " + why}}};
}

std::string failure_of(const transport::http_result& got) {
  if (!got.response)
    return got.failed.text;
  if (got.response->status != 200)
    return "status " + std::to_string(got.response->status);
  return "this version of aiod does not forward to it";
}

std::optional<transport::target> plain_target(std::string_view url) {
  constexpr std::string_view scheme = "http://";
  if (!url.starts_with(scheme))
    return std::nullopt;
  auto authority = url.substr(scheme.size());
  authority = authority.substr(0, authority.find('/'));
  transport::target out;
  const auto bracket = authority.rfind(']');
  const auto colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  out.host = authority.substr(0, colon);
  if (out.host.size() > 2 && out.host.front() == '[')
    out.host = out.host.substr(1, out.host.size() - 2);
  if (colon != std::string_view::npos) {
    const auto digits = authority.substr(colon + 1);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), out.port);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size())
      return std::nullopt;
  }
  return out.host.empty() ? std::nullopt : std::optional(out);
}

bool has_browser_process() {
  constexpr std::array<std::string_view, 5> names{"chrome", "chromium", "chromium-browse",
                                                  "headless_shell", "google-chrome"};
  std::error_code gone;
  for (const auto& each : fs::directory_iterator("/proc", gone)) {
    const auto pid = each.path().filename().string();
    if (!std::all_of(pid.begin(), pid.end(), [](char c) { return c >= '0' && c <= '9'; }))
      continue;
    std::ifstream file(each.path() / "comm");
    std::string name;
    if (std::getline(file, name) && std::find(names.begin(), names.end(), name) != names.end())
      return true;
  }
  return false;
}

} // namespace ahpd::sandbox
