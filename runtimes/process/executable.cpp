#include "runtimes/process/executable.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace ahpd::process {

namespace {

constexpr std::string_view usual_path =
  "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

bool regular(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

bool allowed(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
}

} // namespace

bool can_execute(const std::string& path) {
  return regular(path) && allowed(path);
}

found_executable find_executable(const std::string& command,
                                 const std::map<std::string, std::string>& environment) {
  if (command.empty())
    return {{}, ENOENT};
  if (command.find('/') != std::string::npos)
    return {command, 0};
  const auto set = environment.find("PATH");
  std::string_view rest = set == environment.end() ? usual_path : std::string_view(set->second);
  int error = ENOENT;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (folder.empty() || folder.front() != '/')
      continue;
    std::string path = std::string(folder) + '/' + command;
    if (!regular(path))
      continue;
    if (allowed(path))
      return {std::move(path), 0};
    error = EACCES; // a later folder may still hold one that can be run
  }
  return {{}, error};
}

} // namespace ahpd::process
