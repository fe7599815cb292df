#include "runtimes/disk/staged.hpp"

#include "protocol/random.hpp"
#include "runtimes/host/file_calls.hpp"

#include <fcntl.h>
#include <sys/stat.h>

namespace ahpd::disk {

namespace files = runtimes::files;

namespace {

constexpr mode_t kept_rights = 01777; ///< set-id bits stay with the content that had them

} // namespace

std::string staged_name(std::string_view purpose) {
  return ".aiod-" + std::string(purpose) + "-" + new_uuid() + ".part";
}

staged_file::staged_file(const place& beside, std::string_view purpose, std::string path)
    : folder_(::fcntl(beside.folder.get(), F_DUPFD_CLOEXEC, 0)), name_(staged_name(purpose)),
      path_(std::move(path)) {
  // What is to be replaced may be closed to others, and its content is not shown to them here.
  const bool replaces = files::stat_of(beside.folder.get(), beside.name).has_value();
  if (folder_)
    file_ = process::descriptor(::openat(folder_.get(), name_.c_str(),
                                         O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                         replaces ? 0600 : 0666));
  if (!file_)
    throw fault(errno, path_);
}

staged_file::~staged_file() {
  drop();
}

void staged_file::drop() {
  if (!name_.empty())
    ::unlinkat(folder_.get(), name_.c_str(), 0);
  name_.clear();
}

void staged_file::write(std::string_view bytes) {
  if (const int why = files::write_all(file_.get(), bytes))
    throw fault(why, path_);
}

void staged_file::put(const place& at, const maybe_owner& whose) {
  const auto there = files::stat_of(at.folder.get(), at.name);
  if (!there && errno != ENOENT)
    throw fault(errno, path_);
  if (there && S_ISDIR(there->st_mode))
    throw fault(EISDIR, path_);
  if (there && !S_ISREG(there->st_mode) && !S_ISLNK(there->st_mode))
    throw fault(fault_kind::bad_target, "not a regular file", path_);
  give(file_.get(), whose, path_);
  if (there && S_ISREG(there->st_mode) && ::fchmod(file_.get(), there->st_mode & kept_rights) != 0)
    throw fault(errno, path_);
  if (::renameat(folder_.get(), name_.c_str(), at.folder.get(), at.name.c_str()) == 0) {
    name_.clear();
    return;
  }
  if (errno != EXDEV)
    throw fault(errno, path_);
  staged_file nearer(at, "upload", path_);
  if (::lseek(file_.get(), 0, SEEK_SET) != 0)
    throw fault(errno, path_);
  if (const int why = files::copy_bytes(file_.get(), nearer.descriptor()))
    throw fault(why, path_);
  nearer.put(at, whose);
  drop();
}

} // namespace ahpd::disk
