#include "runtimes/disk/entries.hpp"

#include "runtimes/host/file_calls.hpp"

#include <algorithm>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

namespace ahpd::disk {

namespace files = runtimes::files;

namespace {

using process::descriptor;

constexpr std::size_t deepest = 200; ///< each folder on the way down is two descriptors

entry entry_of(const struct stat& s) {
  entry out;
  out.is_folder = S_ISDIR(s.st_mode);
  out.is_file = S_ISREG(s.st_mode);
  out.size = static_cast<std::uint64_t>(s.st_size);
  out.modified = s.st_mtim.tv_sec;
  out.mode = s.st_mode & 07777;
  return out;
}

struct walker {
  const walk_rules& rules;
  const std::function<then(const entry&)>& each;

  /// False: `each` has had enough.
  bool visit(int folder, const std::string& name, const std::string& below, std::size_t depth) {
    if (!rules.hidden && name.front() == '.')
      return true;
    struct stat s {};
    if (::fstatat(folder, name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0)
      return true; // gone meanwhile
    const bool is_link = S_ISLNK(s.st_mode);
    struct stat target {};
    if (is_link && ::fstatat(folder, name.c_str(), &target, 0) == 0)
      s = target;
    auto found = entry_of(s);
    found.is_link = is_link;
    found.name = name;
    found.path = below + name;
    const auto next = each(found);
    if (next == then::stop)
      return false;
    if (next == then::skip || !found.is_folder || is_link ||
        depth >= std::min(rules.depth, deepest))
      return true;
    const descriptor inside(
      ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    bool goes_on = true;
    if (inside)
      go(inside.get(), found.path + "/", depth + 1, goes_on);
    return goes_on;
  }

  /// 0 or errno.
  int go(int folder, const std::string& below, std::size_t depth, bool& goes_on) {
    std::vector<std::string> names;
    const int why = files::for_each_name(folder, [&](const std::string& name) {
      if (rules.sorted)
        names.push_back(name);
      else
        goes_on = visit(folder, name, below, depth);
      return goes_on;
    });
    std::sort(names.begin(), names.end());
    for (auto i = names.begin(); goes_on && i != names.end(); ++i)
      goes_on = visit(folder, *i, below, depth);
    return why;
  }
};

} // namespace

entry look_at(const std::string& path, bool follow) {
  struct stat s {};
  if (::fstatat(AT_FDCWD, path.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0)
    throw fault(errno, path);
  const bool is_link = S_ISLNK(s.st_mode);
  if (is_link && follow && ::stat(path.c_str(), &s) != 0)
    throw fault(errno, path);
  auto out = entry_of(s);
  out.is_link = is_link;
  const auto end = path.find_last_not_of('/');
  out.name = end == std::string::npos ? "/" : path.substr(0, end + 1);
  out.name.erase(0, out.name.size() > 1 ? out.name.rfind('/') + 1 : 0);
  out.path = path;
  return out;
}

void walk(const std::string& path, const walk_rules& rules,
          const std::function<then(const entry&)>& each) {
  const descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder)
    throw fault(errno, path);
  bool goes_on = true;
  if (const int why = walker{rules, each}.go(folder.get(), {}, 1, goes_on))
    throw fault(why, path);
}

} // namespace ahpd::disk
