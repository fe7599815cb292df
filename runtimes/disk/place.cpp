#include "runtimes/disk/place.hpp"

#include <array>
#include <climits>

#include <fcntl.h>
#include <sys/stat.h>

namespace ahpd::disk {

namespace {

using process::descriptor;

constexpr int most_links = 40; ///< as the kernel has it
constexpr int as_folder = O_PATH | O_DIRECTORY | O_CLOEXEC;

struct halves {
  std::string folder;
  std::string name;
};

halves split(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  const auto slash = path.rfind('/');
  if (slash == std::string::npos)
    return {".", std::move(path)};
  return {path.substr(0, slash == 0 ? 1 : slash), path.substr(slash + 1)};
}

bool is_no_name(const std::string& name) {
  return name.empty() || name == "." || name == "..";
}

/// A folder by descriptor, made where it is not there.
descriptor folder_at(const std::string& path, const maybe_owner& whose, bool& made) {
  made = false;
  descriptor there(::open(path.c_str(), as_folder));
  if (there || errno != ENOENT)
    return there ? std::move(there) : throw fault(errno, path);
  const auto [up, name] = split(path);
  if (is_no_name(name))
    throw fault(ENOENT, path);
  const auto above = folder_at(up, whose, made);
  made = ::mkdirat(above.get(), name.c_str(), 0777) == 0;
  if (!made && errno != EEXIST)
    throw fault(errno, path);
  // One that somebody else made meanwhile may be a link; what is ours is none.
  descriptor out(::openat(above.get(), name.c_str(), as_folder | (made ? O_NOFOLLOW : 0)));
  if (!out)
    throw fault(errno, path);
  if (made)
    give(out.get(), whose, path);
  return out;
}

/// The text of a link; nothing when there is none.
std::optional<std::string> link_text(const place& at, const std::string& path) {
  std::array<char, PATH_MAX> text{};
  const auto size = ::readlinkat(at.folder.get(), at.name.c_str(), text.data(), text.size());
  if (size < 0 && errno != EINVAL && errno != ENOENT)
    throw fault(errno, path);
  return size < 0 ? std::nullopt
                  : std::optional(std::string(text.data(), static_cast<std::size_t>(size)));
}

place go_on(place at, last_link last, const std::string& path) {
  for (int left = most_links; last == last_link::follow; --left) {
    const auto target = link_text(at, path);
    if (!target)
      break;
    if (left == 0)
      throw fault(ELOOP, path);
    auto [folder, name] = split(*target);
    descriptor next(::openat(at.folder.get(), folder.c_str(), as_folder));
    if (!next)
      throw fault(errno, path);
    if (is_no_name(name))
      throw fault(EISDIR, path);
    at = {std::move(next), std::move(name)};
  }
  return at;
}

} // namespace

place find_place(const std::string& path, last_link last) {
  auto [folder, name] = split(path);
  if (is_no_name(name))
    throw fault(EINVAL, path);
  descriptor above(::open(folder.c_str(), as_folder));
  if (!above)
    throw fault(errno, path);
  return go_on({std::move(above), std::move(name)}, last, path);
}

place make_place(const std::string& path, last_link last, const maybe_owner& whose) {
  auto [folder, name] = split(path);
  if (is_no_name(name))
    throw fault(EINVAL, path);
  bool made = false;
  return go_on({folder_at(folder, whose, made), std::move(name)}, last, path);
}

bool make_folders(const std::string& path, const maybe_owner& whose) {
  bool made = false;
  folder_at(path, whose, made);
  return made;
}

void give(int file, const maybe_owner& whose, const std::string& path) {
  if (whose && ::fchownat(file, "", whose->uid, whose->gid, AT_EMPTY_PATH) != 0)
    throw fault(errno, path);
}

std::string key_of(const place& at) {
  struct stat s {};
  if (::fstat(at.folder.get(), &s) != 0)
    throw fault(errno, at.name);
  return std::to_string(s.st_dev) + ":" + std::to_string(s.st_ino) + "/" + at.name;
}

} // namespace ahpd::disk
