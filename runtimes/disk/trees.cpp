#include "runtimes/disk/trees.hpp"

#include "runtimes/disk/staged.hpp"
#include "runtimes/host/file_calls.hpp"

#include <limits>

#include <fcntl.h>
#include <sys/stat.h>

namespace ahpd::disk {

namespace files = runtimes::files;

namespace {

using process::descriptor;

constexpr auto all = std::numeric_limits<std::size_t>::max();

struct stat must_stat(const place& at, const std::string& path) {
  const auto s = files::stat_of(at.folder.get(), at.name);
  return s ? *s : throw fault(errno, path);
}

/// Whether a folder is another one or in it, whatever their paths say.
bool is_within(int folder, const struct stat& outer) {
  descriptor at(::openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (struct stat last{}, s{}; at && ::fstat(at.get(), &s) == 0; last = s) {
    if (s.st_ino == outer.st_ino && s.st_dev == outer.st_dev)
      return true;
    if (s.st_ino == last.st_ino && s.st_dev == last.st_dev)
      return false; // the top
    at = descriptor(::openat(at.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  return false;
}

/// Puts something in its place. A folder that is there goes aside first, for the system replaces
/// none that has something in it. 0 or errno.
int put(int from, const std::string& name, const place& at, bool overwrite) {
  const int to = at.folder.get();
  const int why = files::put_in_place(from, name, to, at.name, !overwrite);
  if (!overwrite || (why != ENOTEMPTY && why != EEXIST))
    return why;
  const auto aside = staged_name("write");
  if (::renameat(to, at.name.c_str(), to, aside.c_str()) != 0)
    return errno;
  if (::renameat(from, name.c_str(), to, at.name.c_str()) != 0) {
    const int failed = errno;
    return ::renameat(to, aside.c_str(), to, at.name.c_str()) == 0 ? failed : errno;
  }
  auto left = all;
  return files::remove_all(to, aside, left);
}

/// Refuses what `put` would find out only when all is copied.
void check_destination(const place& at, const struct stat& source, bool overwrite,
                       const std::string& path) {
  if (S_ISDIR(source.st_mode) && is_within(at.folder.get(), source))
    throw fault(fault_kind::bad_request, "a directory cannot be put into itself", path);
  const auto there = files::stat_of(at.folder.get(), at.name);
  if (!there)
    return;
  if (!overwrite)
    throw fault(EEXIST, path);
  if (S_ISDIR(there->st_mode) != S_ISDIR(source.st_mode))
    throw fault(S_ISDIR(there->st_mode) ? EISDIR : ENOTDIR, path);
}

copied copy_to(const place& from, const place& to, const struct stat& source, bool overwrite,
               files::tree_copy how, const std::string& path) {
  check_destination(to, source, overwrite, path);
  const int folder = to.folder.get();
  const auto scratch = staged_name("write");
  files::undo drop([&] {
    auto left = all;
    files::remove_all(folder, scratch, left);
  });
  how.left = all;
  if (const int why = files::copy_tree(from.folder.get(), from.name, folder, scratch, how))
    throw fault(why, path);
  if (const int why = put(folder, scratch, to, overwrite))
    throw fault(why, path);
  drop.drop();
  return {how.files, how.bytes};
}

} // namespace

bool make_folder(const std::string& path, bool parents, const maybe_owner& whose) {
  if (parents)
    return make_folders(path, whose);
  const auto at = find_place(path, last_link::keep);
  if (::mkdirat(at.folder.get(), at.name.c_str(), 0777) != 0)
    throw fault(errno, path);
  const descriptor made(
    ::openat(at.folder.get(), at.name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made)
    throw fault(errno, path);
  give(made.get(), whose, path);
  return true;
}

copied copy(const std::string& from, const std::string& to, bool overwrite,
            const maybe_owner& whose) {
  const auto source = find_place(from, last_link::keep);
  const auto destination = find_place(to, last_link::keep);
  const auto s = must_stat(source, from);
  if (!S_ISDIR(s.st_mode) && !S_ISREG(s.st_mode) && !S_ISLNK(s.st_mode))
    throw fault(fault_kind::bad_target, "not a file, a directory or a link", from);
  files::tree_copy how;
  how.flushes = false;
  if (whose)
    how.owner = {whose->uid, whose->gid};
  return copy_to(source, destination, s, overwrite, how, to);
}

void move(const std::string& from, const std::string& to, bool overwrite) {
  const auto source = find_place(from, last_link::keep);
  const auto destination = find_place(to, last_link::keep);
  const auto s = must_stat(source, from);
  check_destination(destination, s, overwrite, to);
  const int why = put(source.folder.get(), source.name, destination, overwrite);
  if (why == 0)
    return;
  if (why != EXDEV)
    throw fault(why, to);
  files::tree_copy how;
  how.flushes = false;
  how.keeps_owner = true;
  copy_to(source, destination, s, overwrite, how, to);
  auto left = all;
  if (const int unremoved = files::remove_all(source.folder.get(), source.name, left))
    throw fault(unremoved, from);
}

bool remove(const std::string& path, bool recursive) {
  const auto at = find_place(path, last_link::keep);
  const auto s = must_stat(at, path);
  const bool is_folder = S_ISDIR(s.st_mode);
  auto left = all;
  int why = 0;
  if (is_folder && recursive)
    why = files::remove_all(at.folder.get(), at.name, left);
  else if (::unlinkat(at.folder.get(), at.name.c_str(), is_folder ? AT_REMOVEDIR : 0) != 0)
    why = errno;
  if (why != 0)
    throw fault(why == EEXIST ? ENOTEMPTY : why, path);
  return is_folder;
}

} // namespace ahpd::disk
