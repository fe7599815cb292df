#include "runtimes/host/files.hpp"

#include "protocol/random.hpp"
#include "runtimes/host/file_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>

#include <dirent.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ahpd::runtimes::files {

namespace {

using process::descriptor;

std::int64_t milliseconds(const timespec& t) {
  return std::int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1'000'000;
}

/// Whether a link in a listed folder leads to a folder that is served.
bool leads_to_folder(const served_folders& in, const std::string& path) {
  const auto found = in.find(path);
  const auto* at = std::get_if<spot>(&found);
  const auto s = at ? stat_of(at->folder.get(), at->name) : std::nullopt;
  return s && S_ISDIR(s->st_mode);
}

std::string in_hex(std::uint64_t number) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  do
    out.insert(out.begin(), digits[number % 16]);
  while (number /= 16);
  return out;
}

} // namespace

std::optional<struct stat> stat_of(int folder, const std::string& name) {
  struct stat s {};
  if (::fstatat(folder, name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0)
    return std::nullopt;
  return s;
}

std::string version_of(const struct stat& s) {
  const auto ns = [](const timespec& t) {
    return in_hex(static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
                  static_cast<std::uint64_t>(t.tv_nsec));
  };
  return in_hex(s.st_ino) + "-" + in_hex(static_cast<std::uint64_t>(s.st_size)) + "-" +
         ns(s.st_mtim) + "-" + ns(s.st_ctim);
}

std::string scratch_name() {
  return ".ahpd-" + random_hex(8) + ".tmp";
}

bool is_scratch_name(std::string_view name) {
  return name.size() > 10 && name.substr(0, 6) == ".ahpd-" &&
         name.substr(name.size() - 4) == ".tmp";
}

file_outcome<descriptor> open_file(const spot& at, struct stat& s) {
  descriptor file(::openat(at.folder.get(), at.name.c_str(),
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  // A socket cannot be opened at all.
  if (!file)
    return errno == ENXIO ? file_refusal{file_fault::wrong, at.path, "is no regular file"}
                          : refused_by_system(errno, at.path);
  if (::fstat(file.get(), &s) != 0)
    return refused_by_system(errno, at.path);
  if (S_ISDIR(s.st_mode))
    return file_refusal{file_fault::not_there, at.path, "is a folder, not a file"};
  if (!S_ISREG(s.st_mode))
    return file_refusal{file_fault::wrong, at.path, "is no regular file"};
  return file;
}

void flush_folder(int folder) {
  const descriptor readable(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (readable)
    ::fsync(readable.get());
}

int put_in_place(int from, const std::string& scratch, int to, const std::string& name,
                 bool only_new) {
  if (!only_new)
    return ::renameat(from, scratch.c_str(), to, name.c_str()) == 0 ? 0 : errno;
  if (::syscall(SYS_renameat2, from, scratch.c_str(), to, name.c_str(), RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return errno;
  // A file system without that call: a second name is never put over another one either.
  if (::linkat(from, scratch.c_str(), to, name.c_str(), 0) != 0)
    return errno;
  return ::unlinkat(from, scratch.c_str(), 0) == 0 ? 0 : errno;
}

int for_each_name(int folder, const std::function<bool(const std::string&)>& each) {
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0)
    return errno;
  const auto close = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> dir(::fdopendir(copy), close);
  if (!dir) {
    const int why = errno;
    ::close(copy);
    return why;
  }
  for (;;) {
    errno = 0;
    const auto* found = ::readdir(dir.get());
    if (!found)
      return errno;
    const std::string name(found->d_name);
    if (name != "." && name != ".." && !each(name))
      return 0;
  }
}

file_outcome<std::string> read(const served_folders& in, const std::string& path) {
  const auto found = in.find(path);
  if (const auto* no = std::get_if<file_refusal>(&found))
    return *no;
  const auto& at = std::get<spot>(found);
  struct stat s {};
  const auto opened = open_file(at, s);
  if (const auto* no = std::get_if<file_refusal>(&opened))
    return *no;
  const int file = std::get<descriptor>(opened).get();
  std::string bytes;
  // The size is a hint: files of /proc have none, and one may grow meanwhile.
  auto room = std::min<std::uint64_t>(static_cast<std::uint64_t>(s.st_size), most_read) + 1;
  for (std::size_t held = 0;;) {
    bytes.resize(held + static_cast<std::size_t>(room));
    const auto got = ::read(file, bytes.data() + held, bytes.size() - held);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return refused_by_system(errno, at.path);
    held += static_cast<std::size_t>(got);
    if (held > most_read)
      return file_refusal{file_fault::wrong, at.path,
                          "has more than " + std::to_string(most_read) + " bytes"};
    if (got == 0) {
      bytes.resize(held);
      return bytes;
    }
    room = 64u << 10;
  }
}

file_outcome<std::vector<entry>> list(const served_folders& in, const std::string& path) {
  const auto found = in.find(path);
  if (const auto* no = std::get_if<file_refusal>(&found))
    return *no;
  const auto& at = std::get<spot>(found);
  const descriptor folder(
    ::openat(at.folder.get(), at.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder)
    return errno == ENOTDIR ? file_refusal{file_fault::not_there, at.path, "is not a folder"}
                            : refused_by_system(errno, at.path);
  std::vector<entry> out;
  const int why = for_each_name(folder.get(), [&](const std::string& name) {
    const auto s = stat_of(folder.get(), name);
    if (s)
      out.push_back({name, S_ISDIR(s->st_mode) ||
                             (S_ISLNK(s->st_mode) && leads_to_folder(in, at.path + "/" + name))});
    return out.size() <= most_listed;
  });
  if (why != 0)
    return refused_by_system(why, at.path);
  if (out.size() > most_listed)
    return file_refusal{file_fault::wrong, at.path,
                        "has more than " + std::to_string(most_listed) + " entries"};
  std::sort(out.begin(), out.end(), [](const entry& a, const entry& b) {
    return a.is_folder != b.is_folder ? a.is_folder : a.name < b.name;
  });
  return out;
}

file_outcome<info> look(const served_folders& in, const std::string& path, bool follow_last_link) {
  using link = served_folders::last_link;
  const auto found = in.find(path, follow_last_link ? link::follow : link::keep);
  if (const auto* no = std::get_if<file_refusal>(&found))
    return *no;
  const auto& at = std::get<spot>(found);
  const auto s = stat_of(at.folder.get(), at.name);
  if (!s)
    return refused_by_system(errno, at.path);
  info out{at.path,
           kind::file,
           static_cast<std::uint64_t>(s->st_size),
           milliseconds(s->st_mtim),
           milliseconds(s->st_ctim),
           {}};
  if (S_ISDIR(s->st_mode))
    out.what = kind::folder;
  else if (S_ISLNK(s->st_mode))
    out.what = kind::link;
  else
    out.version = version_of(*s);
  return out;
}

file_outcome<done> make_folder(const served_folders& in, const std::string& path) {
  const auto found =
    in.find(path, served_folders::last_link::follow, served_folders::parents::made);
  if (const auto* no = std::get_if<file_refusal>(&found))
    return *no;
  const auto& at = std::get<spot>(found);
  if (at.is_served_folder || ::mkdirat(at.folder.get(), at.name.c_str(), 0777) == 0) {
    flush_folder(at.folder.get());
    return done{};
  }
  if (errno != EEXIST)
    return refused_by_system(errno, at.path);
  const auto s = stat_of(at.folder.get(), at.name);
  if (s && S_ISDIR(s->st_mode))
    return done{};
  return file_refusal{file_fault::taken, at.path, "is there already, and no folder"};
}

} // namespace ahpd::runtimes::files
