#include "actors/sandbox/runner.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace ahpd::sandbox {

namespace {

constexpr const char* usual_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

runner own(const services& host) {
  const auto id = ::geteuid();
  if (const auto known = host.accounts.find(id))
    return {known->name, known->home, known->shell, std::nullopt};
  return {{}, host.home, {}, std::nullopt};
}

} // namespace

std::variant<runner, refusal> find_runner(const services& host,
                                          const std::optional<std::string>& name) {
  const auto& fallback = host.options.default_user;
  const bool is_default = !name || name->empty();
  if (is_default && fallback.empty())
    return own(host);
  const auto& wanted = is_default ? fallback : *name;
  const unsigned status = is_default ? 503 : 400;
  const auto found = host.accounts.find(wanted);
  if (!found)
    return refusal{status, "no such user: " + wanted};
  runner out{found->name, found->home, found->shell, std::nullopt};
  if (found->who.uid == ::geteuid())
    return out;
  if (::geteuid() != 0)
    return refusal{status, "cannot run as " + wanted + ": aiod is running as uid " +
                             std::to_string(::geteuid()) + " and only root can change identity"};
  out.as = found->who;
  return out;
}

std::map<std::string, std::string> environment_of(const services& host, const runner& as) {
  auto out = host.environment;
  out.emplace("PATH", usual_path);
  if (!as.home.empty())
    out["HOME"] = as.home;
  if (!as.shell.empty())
    out["SHELL"] = as.shell;
  if (!as.name.empty())
    out["USER"] = out["LOGNAME"] = as.name;
  return out;
}

std::string directory_of(const services& host, const std::string& path) {
  return path.empty() || path.front() == '/' ? path : host.home + '/' + path;
}

std::optional<refusal> check_directory(const std::string& path) {
  struct stat s {};
  if (path.find('\0') != std::string::npos || ::stat(path.c_str(), &s) != 0 || !S_ISDIR(s.st_mode))
    return refusal{400, "Working directory does not exist: " + path};
  return std::nullopt;
}

} // namespace ahpd::sandbox
