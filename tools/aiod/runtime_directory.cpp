#include "tools/aiod/runtime_directory.hpp"

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace ahpd::aiod {

namespace {

/// 0, or why this is not a directory of ours alone that can be written to.
int make_own(const std::string& path) {
  std::error_code ec;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ec);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return errno;
  struct stat s {};
  if (::lstat(path.c_str(), &s) != 0)
    return errno;
  if (!S_ISDIR(s.st_mode))
    return ENOTDIR;
  if (s.st_uid != ::geteuid())
    return EPERM; // in a directory that all may write to, somebody else may have been first
  if ((s.st_mode & 0777) != 0700 && ::chmod(path.c_str(), 0700) != 0)
    return errno;
  return ::access(path.c_str(), W_OK) == 0 ? 0 : errno;
}

std::string variable(const std::map<std::string, std::string>& environment, const char* name) {
  const auto i = environment.find(name);
  return i == environment.end() ? std::string() : i->second;
}

} // namespace

std::string make_runtime_directory(const std::string& wanted,
                                   const std::map<std::string, std::string>& environment) {
  std::vector<std::string> candidates;
  if (!wanted.empty()) {
    candidates.push_back(wanted.front() == '/' ? wanted
                                               : std::filesystem::absolute(wanted).string());
  } else {
    candidates.push_back("/run/aiod");
    if (const auto own = variable(environment, "XDG_RUNTIME_DIR"); own.starts_with('/'))
      candidates.push_back(own + "/aiod");
    auto temporary = variable(environment, "TMPDIR");
    if (!temporary.starts_with('/'))
      temporary = "/tmp";
    candidates.push_back(temporary + "/aiod-" + std::to_string(::geteuid()));
  }
  std::string tried;
  for (const auto& each : candidates) {
    const int error = make_own(each);
    if (error == 0)
      return each;
    tried += (tried.empty() ? "" : "; ") + each + ": " + std::generic_category().message(error);
  }
  throw std::runtime_error("There is no runtime directory (" + tried +
                           "); name one with --runtime-dir.");
}

} // namespace ahpd::aiod
