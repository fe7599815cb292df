#include "runtimes/disk/tree_outflow.hpp"

#include "runtimes/disk/place.hpp"
#include "runtimes/host/file_calls.hpp"

#include <algorithm>
#include <array>
#include <climits>

#include <fcntl.h>

namespace ahpd::disk {

namespace files = runtimes::files;

namespace {

using process::descriptor;

constexpr std::size_t deepest = 1000;

} // namespace

tree_outflow::tree_outflow(std::string path) : path_(std::move(path)) {
  descriptor folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) {
    enter(std::move(folder), {});
    return;
  }
  if (errno != ENOTDIR)
    throw fault(errno, path_);
  auto at = find_place(path_, last_link::follow);
  const auto s = files::stat_of(at.folder.get(), at.name);
  if (!s)
    throw fault(errno, path_);
  if (!S_ISREG(s->st_mode))
    throw fault(fault_kind::bad_target, "not a regular file or a directory", path_);
  levels_.push_back({std::move(at.folder), {at.name}, {}});
}

void tree_outflow::enter(descriptor folder, std::string path) {
  if (levels_.size() == deepest)
    throw fault(ENAMETOOLONG, path_);
  level next{std::move(folder), {}, std::move(path)};
  if (const int why = files::for_each_name(next.folder.get(), [&](const std::string& name) {
        next.names.push_back(name);
        return true;
      }))
    throw fault(why, path_);
  std::sort(next.names.begin(), next.names.end(), std::greater<>());
  levels_.push_back(std::move(next));
}

bool tree_outflow::open_file(int folder, const std::string& name, tree_item& out) {
  file_ = descriptor(
    ::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file_ && errno == ENOENT)
    return false;
  if (!file_ || ::fstat(file_.get(), &out.s) != 0)
    throw fault(errno, path_);
  if (!S_ISREG(out.s.st_mode))
    return false;
  left_ = static_cast<std::uint64_t>(out.s.st_size);
  return true;
}

/// False: it is passed over.
bool tree_outflow::look(const level& in, const std::string& name, tree_item& out) {
  const int folder = in.folder.get();
  const auto s = files::stat_of(folder, name);
  if (!s)
    return errno == ENOENT ? false : throw fault(errno, path_);
  out = {in.path + name, *s, {}};
  if (S_ISREG(s->st_mode))
    return open_file(folder, name, out);
  if (S_ISLNK(s->st_mode)) {
    std::array<char, PATH_MAX> text{};
    const auto size = ::readlinkat(folder, name.c_str(), text.data(), text.size());
    if (size > 0)
      out.target.assign(text.data(), static_cast<std::size_t>(size));
    return size > 0;
  }
  if (!S_ISDIR(s->st_mode))
    return false;
  descriptor inside(
    ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!inside)
    return errno == ENOENT ? false : throw fault(errno, path_);
  enter(std::move(inside), out.path + "/"); // `in` may be gone now
  return true;
}

bool tree_outflow::next(tree_item& out) {
  file_.reset();
  left_ = 0;
  while (!levels_.empty()) {
    if (levels_.back().names.empty()) {
      levels_.pop_back();
      continue;
    }
    const auto name = std::move(levels_.back().names.back());
    levels_.back().names.pop_back();
    if (look(levels_.back(), name, out))
      return true;
  }
  return false;
}

std::string tree_outflow::read(std::size_t most) {
  std::string out(static_cast<std::size_t>(std::min<std::uint64_t>(most, left_)), '\0');
  std::size_t held = 0;
  while (held < out.size()) {
    const auto got = ::read(file_.get(), out.data() + held, out.size() - held);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      throw fault(errno, path_);
    if (got == 0)
      throw fault(fault_kind::changed, "a file has become shorter while it was read", path_);
    held += static_cast<std::size_t>(got);
  }
  left_ -= held;
  return out;
}

} // namespace ahpd::disk
