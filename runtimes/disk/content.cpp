#include "runtimes/disk/content.hpp"

#include "protocol/utf8.hpp"
#include "runtimes/disk/staged.hpp"
#include "runtimes/host/file_calls.hpp"

#include <algorithm>

#include <fcntl.h>

namespace ahpd::disk {

namespace files = runtimes::files;

namespace {

using process::descriptor;

void check_regular(const struct stat& s, const std::string& path) {
  if (S_ISDIR(s.st_mode))
    throw fault(EISDIR, path);
  if (!S_ISREG(s.st_mode))
    throw fault(fault_kind::bad_target, "not a regular file", path);
}

/// Opens what is at a place, which is a regular file; none when nothing is there.
open_file open_there(const place& at, int how, const std::string& path) {
  open_file out;
  if (::fstatat(at.folder.get(), at.name.c_str(), &out.s, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? std::move(out) : throw fault(errno, path);
  if (S_ISLNK(out.s.st_mode)) // put there since its place was found
    throw fault(ELOOP, path);
  check_regular(out.s, path);
  out.file = descriptor(::openat(at.folder.get(), at.name.c_str(),
                                 how | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!out.file || ::fstat(out.file.get(), &out.s) != 0)
    throw fault(errno, path);
  check_regular(out.s, path);
  return out;
}

/// Writes where the file is.
void write_plain(const place& at, std::string_view bytes, writing how, const std::string& path) {
  auto there = open_there(at, O_WRONLY | (how == writing::append ? O_APPEND : 0), path);
  const bool is_new = !there.file;
  if (is_new)
    there.file = descriptor(::openat(at.folder.get(), at.name.c_str(),
                                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!there.file)
    throw fault(errno, path);
  const int file = there.file.get();
  const int why =
    how == writing::append ? files::append_bytes(file, bytes) : files::overwrite_bytes(file, bytes);
  if (why == 0)
    return;
  if (is_new)
    ::unlinkat(at.folder.get(), at.name.c_str(), 0);
  throw fault(why, path);
}

void write_staged(const place& at, std::string_view bytes, writing how, const maybe_owner& whose,
                  const std::string& path) {
  const auto there = open_there(at, O_RDONLY, path);
  staged_file next(at, "write", path);
  if (how == writing::append && there.file)
    if (const int why = files::copy_bytes(there.file.get(), next.descriptor()))
      throw fault(why, path);
  next.write(bytes);
  next.put(at, whose);
}

} // namespace

open_file open_regular(const std::string& path) {
  open_file out;
  if (::stat(path.c_str(), &out.s) != 0)
    throw fault(errno, path);
  check_regular(out.s, path);
  out.file = descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!out.file || ::fstat(out.file.get(), &out.s) != 0)
    throw fault(errno, path);
  check_regular(out.s, path);
  return out;
}

std::string read_whole(const std::string& path) {
  const auto open = open_regular(path);
  const auto too_large = [&] {
    return fault(fault_kind::bad_request, "file exceeds the 16 MiB buffered text limit", path);
  };
  if (static_cast<std::uint64_t>(open.s.st_size) > most_text)
    throw too_large();
  std::string bytes;
  // The size is a hint: files of /proc have none, and one may grow meanwhile.
  auto room = static_cast<std::size_t>(open.s.st_size) + 1;
  for (std::size_t held = 0;;) {
    bytes.resize(held + room);
    const auto got = ::read(open.file.get(), bytes.data() + held, room);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      throw fault(errno, path);
    held += static_cast<std::size_t>(got);
    if (held > most_text)
      throw too_large();
    if (got == 0) {
      bytes.resize(held);
      return bytes;
    }
    room = 64u << 10;
  }
}

std::string read_text(const std::string& path) {
  auto bytes = read_whole(path);
  if (!utf8::valid(bytes))
    throw fault(fault_kind::not_text, "stream did not contain valid UTF-8", path);
  return bytes;
}

void write_file(const std::string& path, std::string_view bytes, writing how,
                const maybe_owner& whose) {
  if (!path.empty() && path.back() == '/')
    throw fault(EISDIR, path);
  const auto at = make_place(path, last_link::follow, whose);
  if (whose)
    write_staged(at, bytes, how, whose, path);
  else
    write_plain(at, bytes, how, path);
}

} // namespace ahpd::disk
