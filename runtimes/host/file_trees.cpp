#include "runtimes/host/file_calls.hpp"
#include "runtimes/host/files.hpp"

#include <array>
#include <cerrno>
#include <climits>

#include <unistd.h>

namespace ahpd::runtimes::files {

namespace {

using process::descriptor;
using last_link = served_folders::last_link;

constexpr int deepest_tree = 200; ///< each folder on the way down is two descriptors

file_refusal too_much(const std::string& path) {
  return {file_fault::wrong, path,
          "holds more than " + std::to_string(most_in_tree) + " entries, or is deeper than " +
            std::to_string(deepest_tree) + " folders"};
}

/// E2BIG stands for the bounds of a tree.
file_outcome<done> answer(int why, const std::string& path) {
  if (why == 0)
    return done{};
  return why == E2BIG ? too_much(path) : refused_by_system(why, path);
}

/// What the copy of a link, file or folder is to have besides its content. 0 or errno.
int finish(int to, const std::string& as, const struct stat& s, const tree_copy& how) {
  constexpr int itself = AT_SYMLINK_NOFOLLOW;
  if (how.owner && ::fchownat(to, as.c_str(), how.owner->first, how.owner->second, itself) != 0)
    return errno;
  if (how.keeps_owner && ::fchownat(to, as.c_str(), s.st_uid, s.st_gid, itself) != 0 &&
      errno != EPERM)
    return errno;
  const timespec times[] = {s.st_atim, s.st_mtim};
  if (how.keeps_owner && ::utimensat(to, as.c_str(), times, itself) != 0 && errno != EPERM)
    return errno;
  return 0;
}

int copy_link(int from, const std::string& name, int to, const std::string& as,
              const struct stat& s, const tree_copy& how) {
  std::array<char, PATH_MAX> text{};
  const auto size = ::readlinkat(from, name.c_str(), text.data(), text.size() - 1);
  if (size < 0 || ::symlinkat(text.data(), to, as.c_str()) != 0)
    return errno;
  return finish(to, as, s, how);
}

int copy_file(int from, const std::string& name, int to, const std::string& as, tree_copy& how) {
  const descriptor source(
    ::openat(from, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat s {};
  if (!source || ::fstat(source.get(), &s) != 0)
    return errno;
  const descriptor copy(
    ::openat(to, as.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!copy)
    return errno;
  if (const int why = copy_bytes(source.get(), copy.get()))
    return why;
  const auto size = ::lseek(copy.get(), 0, SEEK_CUR);
  ++how.files;
  how.bytes += size > 0 ? static_cast<std::uint64_t>(size) : 0;
  if (const int why = finish(to, as, s, how))
    return why;
  if (::fchmod(copy.get(), s.st_mode & 0777) != 0)
    return errno;
  return !how.flushes || ::fsync(copy.get()) == 0 ? 0 : errno;
}

int copy_folder(int from, const std::string& name, int to, const std::string& as, tree_copy& how,
                int depth) {
  constexpr int mode = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const descriptor source(::openat(from, name.c_str(), mode));
  struct stat s {};
  if (!source || ::fstat(source.get(), &s) != 0)
    return errno;
  if (depth == deepest_tree)
    return E2BIG;
  // Its rights may forbid to fill it, so they come last.
  if (::mkdirat(to, as.c_str(), 0700) != 0)
    return errno;
  const descriptor copy(::openat(to, as.c_str(), mode));
  if (!copy)
    return errno;
  int why = 0;
  const int unread = for_each_name(source.get(), [&](const std::string& inside) {
    why = copy_tree(source.get(), inside, copy.get(), inside, how, depth + 1);
    return why == 0;
  });
  if (why == 0)
    why = unread;
  if (why == 0)
    why = finish(to, as, s, how);
  if (why == 0 &&
      (::fchmod(copy.get(), s.st_mode & 07777) != 0 || (how.flushes && ::fsync(copy.get()) != 0)))
    why = errno;
  return why;
}

struct two_spots {
  spot from;
  spot to;
  struct stat source;
};

/// Both ends, and what no copy or move may do with them.
file_outcome<two_spots> find_both(const served_folders& in, const std::string& from,
                                  const std::string& to, last_link source, bool only_new) {
  auto a = in.find(from, source);
  if (const auto* no = std::get_if<file_refusal>(&a))
    return *no;
  auto b = in.find(to, last_link::keep);
  if (const auto* no = std::get_if<file_refusal>(&b))
    return *no;
  two_spots both{std::get<spot>(std::move(a)), std::get<spot>(std::move(b)), {}};
  const auto s = stat_of(both.from.folder.get(), both.from.name);
  if (!s)
    return refused_by_system(errno, both.from.path);
  both.source = *s;
  if (!S_ISDIR(s->st_mode) && !S_ISREG(s->st_mode) && !S_ISLNK(s->st_mode))
    return file_refusal{file_fault::wrong, both.from.path, "is no file, folder or link"};
  if (both.to.is_served_folder)
    return file_refusal{file_fault::taken, both.to.path, "is a served folder"};
  if (S_ISDIR(s->st_mode) && both.to.path.rfind(both.from.path + "/", 0) == 0)
    return file_refusal{file_fault::wrong, both.to.path, "is inside " + both.from.path};
  const auto there = stat_of(both.to.folder.get(), both.to.name);
  if (there && only_new)
    return file_refusal{file_fault::taken, both.to.path, "is there already"};
  if (there && S_ISDIR(there->st_mode) && !S_ISDIR(s->st_mode))
    return file_refusal{file_fault::taken, both.to.path, "is a folder, and is not replaced"};
  if (there && !S_ISDIR(there->st_mode) && S_ISDIR(s->st_mode))
    return file_refusal{file_fault::taken, both.to.path,
                        "is a file, and a folder would replace it"};
  return both;
}

bool same_place(const two_spots& both) {
  return both.from.path == both.to.path;
}

int copy_between(const two_spots& both, bool only_new) {
  const int folder = both.to.folder.get();
  const auto scratch = scratch_name();
  tree_copy how;
  undo drop([&] {
    auto all = most_in_tree;
    remove_all(folder, scratch, all);
  });
  int why = copy_tree(both.from.folder.get(), both.from.name, folder, scratch, how);
  if (why == 0)
    why = put_in_place(folder, scratch, folder, both.to.name, only_new);
  if (why != 0)
    return why;
  drop.drop();
  flush_folder(folder);
  return 0;
}

} // namespace

int copy_tree(int from, const std::string& name, int to, const std::string& as, tree_copy& how,
              int depth) {
  if (how.left == 0)
    return E2BIG;
  --how.left;
  const auto s = stat_of(from, name);
  if (!s)
    return errno;
  if (S_ISDIR(s->st_mode))
    return copy_folder(from, name, to, as, how, depth);
  if (S_ISLNK(s->st_mode))
    return copy_link(from, name, to, as, *s, how);
  return S_ISREG(s->st_mode) ? copy_file(from, name, to, as, how) : 0;
}

int copy_bytes(int from, int to) {
  constexpr std::size_t at_once = 64u << 20;
  for (;;) {
    const auto got = ::copy_file_range(from, nullptr, to, nullptr, at_once, 0);
    if (got > 0 || (got < 0 && errno == EINTR))
      continue;
    if (got < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO))
      return errno;
    break; // at the end, or not between these two
  }
  constexpr std::size_t piece = 128u << 10;
  std::string buffer(piece, '\0');
  for (;;) {
    const auto got = ::read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return got == 0 ? 0 : errno;
    if (const int why =
          write_all(to, std::string_view(buffer).substr(0, static_cast<std::size_t>(got))))
      return why;
  }
}

int remove_all(int folder, const std::string& name, std::size_t& left, int depth) {
  if (left-- == 0)
    return ++left, E2BIG;
  if (::unlinkat(folder, name.c_str(), 0) == 0)
    return 0;
  if (errno != EISDIR && errno != EPERM)
    return errno;
  const descriptor inside(
    ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!inside)
    return errno;
  if (depth == deepest_tree)
    return E2BIG;
  int why = 0;
  const int unread = for_each_name(inside.get(), [&](const std::string& below) {
    why = remove_all(inside.get(), below, left, depth + 1);
    if (why == ENOENT) // somebody else removed it
      why = 0;
    return why == 0;
  });
  if (why == 0)
    why = unread;
  if (why == 0 && ::unlinkat(folder, name.c_str(), AT_REMOVEDIR) != 0)
    why = errno;
  return why;
}

file_outcome<done> copy(const served_folders& in, const std::string& from, const std::string& to,
                        bool only_new) {
  const auto found = find_both(in, from, to, last_link::follow, only_new);
  if (const auto* no = std::get_if<file_refusal>(&found))
    return *no;
  const auto& both = std::get<two_spots>(found);
  if (same_place(both))
    return done{};
  const auto alone = in.changing(both.to.path);
  return answer(copy_between(both, only_new), both.to.path);
}

file_outcome<done> move(const served_folders& in, const std::string& from, const std::string& to,
                        bool only_new) {
  const auto found = find_both(in, from, to, last_link::keep, only_new);
  if (const auto* no = std::get_if<file_refusal>(&found))
    return *no;
  const auto& both = std::get<two_spots>(found);
  if (both.from.is_served_folder)
    return file_refusal{file_fault::denied, both.from.path, "is a served folder, and stays"};
  if (same_place(both))
    return done{};
  const auto alone = in.changing(both.to.path);
  const int source = both.from.folder.get();
  int why = put_in_place(source, both.from.name, both.to.folder.get(), both.to.name, only_new);
  if (why == EXDEV) {
    why = copy_between(both, only_new);
    auto left = most_in_tree;
    if (why == 0)
      why = remove_all(source, both.from.name, left);
  }
  flush_folder(source);
  flush_folder(both.to.folder.get());
  return answer(why, why == ENOENT ? both.from.path : both.to.path);
}

file_outcome<done> remove(const served_folders& in, const std::string& path, bool with_content) {
  const auto found = in.find(path, last_link::keep);
  if (const auto* no = std::get_if<file_refusal>(&found))
    return *no;
  const auto& at = std::get<spot>(found);
  if (at.is_served_folder)
    return file_refusal{file_fault::denied, at.path, "is a served folder, and stays"};
  const int folder = at.folder.get();
  const auto s = stat_of(folder, at.name);
  if (!s)
    return refused_by_system(errno, at.path);
  const auto alone = in.changing(at.path);
  int why = 0;
  std::size_t left = most_in_tree;
  if (S_ISDIR(s->st_mode) && !with_content)
    why = ::unlinkat(folder, at.name.c_str(), AT_REMOVEDIR) == 0 ? 0 : errno;
  else
    why = remove_all(folder, at.name, left);
  flush_folder(folder);
  if (why == ENOTEMPTY || why == EEXIST)
    return file_refusal{file_fault::wrong, at.path,
                        with_content ? "was filled while it was being removed"
                                     : "is not empty, and recursive was not asked for"};
  return answer(why, at.path);
}

} // namespace ahpd::runtimes::files
