#include "runtimes/host/file_calls.hpp"
#include "runtimes/host/files.hpp"

#include <cerrno>

#include <unistd.h>

namespace ahpd::runtimes::files {

namespace {

using process::descriptor;

constexpr mode_t rights = 07777;

/// What the file is to hold afterwards, or why that cannot be said.
file_outcome<std::string> content_after(const write& what, const spot& at, std::string before) {
  const auto size = before.size();
  if (what.position > size)
    return file_refusal{file_fault::wrong, at.path,
                        "has " + std::to_string(size) + " bytes, and position is " +
                          std::to_string(what.position)};
  const auto position = static_cast<std::size_t>(what.position);
  if (size + what.data.size() > most_written)
    return file_refusal{file_fault::wrong, at.path,
                        "would have more than " + std::to_string(most_written) + " bytes"};
  switch (what.mode) {
  case write_mode::truncate:
    before.resize(position);
    before += what.data;
    break;
  case write_mode::append:
    before.insert(size - position, what.data);
    break;
  case write_mode::insert:
    before.insert(position, what.data);
    break;
  }
  return before;
}

file_outcome<std::string> read_all(int file, const spot& at, const struct stat& s) {
  if (static_cast<std::uint64_t>(s.st_size) > most_written)
    return file_refusal{file_fault::wrong, at.path,
                        "has more than " + std::to_string(most_written) + " bytes"};
  std::string bytes(static_cast<std::size_t>(s.st_size), '\0');
  std::size_t held = 0;
  while (held < bytes.size()) {
    const auto got =
      ::pread(file, bytes.data() + held, bytes.size() - held, static_cast<off_t>(held));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return refused_by_system(errno, at.path);
    if (got == 0)
      break;
    held += static_cast<std::size_t>(got);
  }
  bytes.resize(held);
  return bytes;
}

/// A file beside others that has no name yet, so that nothing is left of it when this host is
/// killed while it writes. Where the file system has no such files it has the name `scratch` from
/// the first.
descriptor make_scratch(int folder, const std::string& scratch, mode_t mode, bool& named) {
  descriptor file(::openat(folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode));
  named = !file && (errno == EOPNOTSUPP || errno == EISDIR);
  if (named)
    file = descriptor(::openat(folder, scratch.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  return file;
}

/// Gives an open file without a name one. 0 or errno.
int give_name(const descriptor& file, int folder, const std::string& name) {
  const auto self = "/proc/self/fd/" + std::to_string(file.get());
  return ::linkat(AT_FDCWD, self.c_str(), folder, name.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

/// Writes `content` beside the file and puts it in its place. `before`: whose mode and owner it
/// gets; null: there is no such file yet. Gives errno; EPERM when the owner cannot be kept.
int replace(const spot& at, const std::string& content, const struct stat* before, bool only_new) {
  const int folder = at.folder.get();
  const auto scratch = scratch_name();
  bool named = false;
  const auto file = make_scratch(folder, scratch, before ? 0600 : 0666, named);
  if (!file)
    return errno;
  undo drop([&] { ::unlinkat(folder, scratch.c_str(), 0); });
  struct stat made {};
  if (before && ::fstat(file.get(), &made) == 0 &&
      (made.st_uid != before->st_uid || made.st_gid != before->st_gid) &&
      ::fchown(file.get(), before->st_uid, before->st_gid) != 0)
    return EPERM;
  if (before && ::fchmod(file.get(), before->st_mode & rights) != 0)
    return errno;
  if (const int why = write_all(file.get(), content))
    return why;
  if (::fsync(file.get()) != 0)
    return errno;
  if (const int why = named ? 0 : give_name(file, folder, scratch))
    return why;
  if (const int why = put_in_place(folder, scratch, folder, at.name, only_new))
    return why;
  drop.drop();
  flush_folder(folder);
  return 0;
}

/// Writes where the file is.
int overwrite(const spot& at, const std::string& content, const struct stat& before) {
  const descriptor file(
    ::openat(at.folder.get(), at.name.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat now {};
  if (!file || ::fstat(file.get(), &now) != 0)
    return errno;
  if (now.st_ino != before.st_ino || now.st_dev != before.st_dev)
    return ESTALE;
  if (const int why = overwrite_bytes(file.get(), content))
    return why;
  return ::fsync(file.get()) == 0 ? 0 : errno;
}

int append(const spot& at, const std::string& data) {
  const descriptor file(::openat(at.folder.get(), at.name.c_str(),
                                 O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file)
    return errno;
  if (const int why = append_bytes(file.get(), data))
    return why;
  return ::fsync(file.get()) == 0 ? 0 : errno;
}

file_refusal stale(const spot& at) {
  return {file_fault::stale, at.path, "was changed meanwhile"};
}

file_outcome<done> answer(const spot& at, int why) {
  if (why == 0)
    return done{};
  return why == ESTALE ? stale(at) : refused_by_system(why, at.path);
}

file_outcome<done> make(const spot& at, const write& what) {
  if (what.if_version)
    return stale(at);
  auto content = content_after(what, at, {});
  if (const auto* no = std::get_if<file_refusal>(&content))
    return *no;
  return answer(at, replace(at, std::get<std::string>(content), nullptr, what.create_only));
}

file_outcome<done> change(const spot& at, const write& what, const struct stat& seen) {
  if (what.if_version && *what.if_version != version_of(seen))
    return stale(at);
  if (what.mode == write_mode::append && what.position == 0)
    return answer(at, append(at, what.data));
  std::string before;
  struct stat s = seen;
  if (what.mode != write_mode::truncate || what.position > 0) {
    const auto opened = open_file(at, s);
    if (const auto* no = std::get_if<file_refusal>(&opened))
      return *no;
    auto bytes = read_all(std::get<descriptor>(opened).get(), at, s);
    if (const auto* no = std::get_if<file_refusal>(&bytes))
      return *no;
    before = std::get<std::string>(std::move(bytes));
  }
  const auto content = content_after(what, at, std::move(before));
  if (const auto* no = std::get_if<file_refusal>(&content))
    return *no;
  const auto now = stat_of(at.folder.get(), at.name);
  if (!now || ((what.if_version || what.mode != write_mode::truncate || what.position > 0) &&
               version_of(*now) != version_of(s)))
    return stale(at);
  const auto& bytes = std::get<std::string>(content);
  if (::faccessat(at.folder.get(), at.name.c_str(), W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) != 0)
    return refused_by_system(errno, at.path);
  int why = now->st_nlink > 1 ? EPERM : replace(at, bytes, &*now, false);
  if (why == EPERM || why == EACCES)
    why = overwrite(at, bytes, *now);
  return answer(at, why);
}

} // namespace

int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::write(file, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote < 0)
      return errno;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return 0;
}

int overwrite_bytes(int file, std::string_view content) {
  struct stat now {};
  if (::fstat(file, &now) != 0)
    return errno;
  const auto size = static_cast<off_t>(content.size());
  // The old bytes may be fewer than its size says: a hole needs room too.
  if (size > 0 && ::fallocate(file, 0, 0, size) != 0 && errno != EOPNOTSUPP) {
    const int why = errno;
    return size <= now.st_size || ::ftruncate(file, now.st_size) == 0 ? why : errno;
  }
  if (const int why = write_all(file, content))
    return why;
  return ::ftruncate(file, size) == 0 ? 0 : errno;
}

int append_bytes(int file, std::string_view bytes) {
  const auto wrote = bytes.empty() ? 0 : ::write(file, bytes.data(), bytes.size());
  if (wrote == static_cast<ssize_t>(bytes.size()))
    return 0;
  const int why = wrote < 0 ? errno : ENOSPC;
  struct stat now {};
  const auto end = ::lseek(file, 0, SEEK_CUR);
  if (wrote > 0 && ::fstat(file, &now) == 0 && end == now.st_size &&
      ::ftruncate(file, end - wrote) != 0)
    return errno;
  return why;
}

file_outcome<done> put(const served_folders& in, const write& what) {
  using link = served_folders::last_link;
  const auto found = in.find(what.path, what.create_only ? link::keep : link::follow);
  if (const auto* no = std::get_if<file_refusal>(&found))
    return *no;
  const auto& at = std::get<spot>(found);
  const auto alone = in.changing(at.path);
  const auto s = stat_of(at.folder.get(), at.name);
  if (!s)
    return errno == ENOENT ? make(at, what) : refused_by_system(errno, at.path);
  if (what.create_only)
    return file_refusal{file_fault::taken, at.path, "is there already"};
  if (!S_ISREG(s->st_mode))
    return file_refusal{file_fault::wrong, at.path,
                        S_ISDIR(s->st_mode) ? "is a folder, not a file" : "is no regular file"};
  return change(at, what, *s);
}

} // namespace ahpd::runtimes::files
