#include "runtimes/disk/tree_intake.hpp"

#include "runtimes/disk/staged.hpp"
#include "runtimes/host/file_calls.hpp"

#include <algorithm>
#include <limits>

#include <fcntl.h>
#include <sys/stat.h>

namespace ahpd::disk {

namespace files = runtimes::files;

namespace {

using process::descriptor;

constexpr int as_folder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr auto deepest = 150; ///< folders; less than a removal goes

} // namespace

tree_intake::tree_intake(const std::string& path, const maybe_owner& whose, const tree_bounds& most)
    : path_(path), whose_(whose), most_(most), at_(make_place(path, last_link::follow, whose)) {
  const auto there = files::stat_of(at_.folder.get(), at_.name);
  if (!there && errno != ENOENT)
    throw fault(errno, path_);
  if (there) {
    over_ = descriptor(::openat(at_.folder.get(), at_.name.c_str(), as_folder));
    if (!over_)
      throw fault(errno, path_);
  }
  const int where = over_ ? over_.get() : at_.folder.get();
  scratch_ = staged_name("write");
  if (::mkdirat(where, scratch_.c_str(), 0777) != 0) {
    const int why = errno;
    scratch_.clear();
    throw fault(why, path_);
  }
  root_ = descriptor(::openat(where, scratch_.c_str(), as_folder));
  if (root_ && (!whose_ || ::fchown(root_.get(), whose_->uid, whose_->gid) == 0))
    return;
  const int why = errno;
  ::unlinkat(where, scratch_.c_str(), AT_REMOVEDIR);
  throw fault(why, path_);
}

tree_intake::~tree_intake() {
  if (scratch_.empty())
    return;
  auto left = std::numeric_limits<std::size_t>::max();
  files::remove_all(over_ ? over_.get() : at_.folder.get(), scratch_, left);
}

void tree_intake::refuse(const char* why, const std::string& path) const {
  throw fault(fault_kind::bad_request, std::string(why) + ": " + path, path_);
}

void tree_intake::count() {
  if (++entries_ > most_.entries)
    throw fault(fault_kind::too_large,
                "the archive has more than " + std::to_string(most_.entries) + " entries", path_);
}

/// A folder inside of the tree.
descriptor tree_intake::enter(int folder, const std::string& name, const std::string& path,
                              bool makes) {
  descriptor out(::openat(folder, name.c_str(), as_folder));
  if (!out && errno == ENOENT && makes) {
    count();
    if (::mkdirat(folder, name.c_str(), 0777) != 0)
      throw fault(errno, path_);
    out = descriptor(::openat(folder, name.c_str(), as_folder));
    if (out)
      give(out.get(), whose_, path_);
  }
  if (!out && (errno == ENOTDIR || errno == ELOOP))
    refuse("a member of the archive goes through what is no directory", path);
  if (!out && errno == ENOENT)
    refuse("a member of the archive refers to what is not in it", path);
  return out ? std::move(out) : throw fault(errno, path_);
}

tree_intake::spot tree_intake::spot_of(const std::string& path, bool makes) {
  if (std::count(path.begin(), path.end(), '/') > deepest)
    refuse("a member of the archive is too deep", path.substr(0, 100));
  descriptor at(::openat(root_.get(), ".", as_folder));
  std::size_t from = 0;
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', from)) {
    at = enter(at.get(), path.substr(from, slash - from), path, makes);
    from = slash + 1;
  }
  return {std::move(at), path.substr(from)};
}

/// A spot where nothing is any more.
tree_intake::spot tree_intake::free_spot(const std::string& path) {
  auto at = spot_of(path, true);
  count();
  if (::unlinkat(at.folder.get(), at.name.c_str(), 0) != 0 && errno != ENOENT) {
    if (errno == EISDIR || errno == EPERM)
      refuse("the archive has a directory and something else of the same name", path);
    throw fault(errno, path_);
  }
  return at;
}

void tree_intake::add_folder(const std::string& path) {
  auto at = spot_of(path, true);
  if (const auto there = files::stat_of(at.folder.get(), at.name);
      there && !S_ISDIR(there->st_mode) && ::unlinkat(at.folder.get(), at.name.c_str(), 0) != 0)
    throw fault(errno, path_);
  enter(at.folder.get(), at.name, path, true);
}

void tree_intake::begin_file(const std::string& path) {
  const auto at = free_spot(path);
  file_ = descriptor(::openat(at.folder.get(), at.name.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file_)
    throw fault(errno, path_);
  give(file_.get(), whose_, path_);
}

void tree_intake::write(std::string_view bytes) {
  bytes_ += bytes.size();
  if (bytes_ > most_.bytes)
    throw fault(fault_kind::too_large,
                "the archive holds more than " + std::to_string(most_.bytes) + " bytes", path_);
  if (const int why = files::write_all(file_.get(), bytes))
    throw fault(why, path_);
}

void tree_intake::add_link(const std::string& path, const std::string& target) {
  const auto at = free_spot(path);
  if (::symlinkat(target.c_str(), at.folder.get(), at.name.c_str()) != 0 ||
      (whose_ && ::fchownat(at.folder.get(), at.name.c_str(), whose_->uid, whose_->gid,
                            AT_SYMLINK_NOFOLLOW) != 0))
    throw fault(errno, path_);
}

void tree_intake::add_name(const std::string& path, const std::string& of) {
  const auto source = spot_of(of, false);
  const auto there = files::stat_of(source.folder.get(), source.name);
  if (!there || !S_ISREG(there->st_mode))
    refuse("a hard link of the archive is to no file that is in it", path);
  if (path == of)
    return;
  const auto at = free_spot(path);
  if (::linkat(source.folder.get(), source.name.c_str(), at.folder.get(), at.name.c_str(), 0) != 0)
    throw fault(errno, path_);
}

/// Looks for what stands in the way, or moves all that is in one folder into another.
void tree_intake::merge(int from, int to, bool applies) {
  int why = 0;
  const int unread = files::for_each_name(from, [&](const std::string& name) {
    const auto s = files::stat_of(from, name), d = files::stat_of(to, name);
    const bool is_folder = s && S_ISDIR(s->st_mode), over_folder = d && S_ISDIR(d->st_mode);
    if (is_folder && over_folder) {
      const descriptor inner(::openat(from, name.c_str(), as_folder));
      const descriptor outer(::openat(to, name.c_str(), as_folder));
      if (!inner || !outer)
        why = errno;
      else
        merge(inner.get(), outer.get(), applies);
    } else if (over_folder) {
      why = EISDIR;
    } else if (is_folder && d && !S_ISLNK(d->st_mode)) {
      why = ENOTDIR;
    } else if (applies) { // a folder takes the place of a link, and never goes through it
      const bool in_the_way = is_folder && d;
      if ((in_the_way && ::unlinkat(to, name.c_str(), 0) != 0) ||
          ::renameat(from, name.c_str(), to, name.c_str()) != 0)
        why = errno;
    }
    return why == 0;
  });
  if (why != 0 || unread != 0)
    throw fault(why != 0 ? why : unread, path_);
}

tree_intake::mode tree_intake::put() {
  file_.reset();
  if (over_) {
    merge(root_.get(), over_.get(), false);
    merge(root_.get(), over_.get(), true);
    return mode::merge;
  }
  if (const int why =
        files::put_in_place(at_.folder.get(), scratch_, at_.folder.get(), at_.name, true))
    throw fault(why, path_);
  scratch_.clear();
  return mode::rename;
}

} // namespace ahpd::disk
