#pragma once

#include "runtimes/host/files.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

/// What work on files is made of, by descriptor and name. No call follows a link but where it says.
namespace ahpd::runtimes::files {

/// `stat` of a spot's name, or of one in a folder, without following a link.
std::optional<struct stat> stat_of(int folder, const std::string& name);

/// ino, size and times of a file as one word.
std::string version_of(const struct stat& s);

/// A name that nothing has, for what is made beside its destination and then put there.
std::string scratch_name();
bool is_scratch_name(std::string_view name);

/// Opens a regular file for reading; never waits, and never a link.
file_outcome<process::descriptor> open_file(const spot& at, struct stat& s);

/// Makes the names in a folder durable.
void flush_folder(int folder);

/// Puts `scratch` under a name of another folder, which is replaced unless `only_new`. 0 or errno.
int put_in_place(int from, const std::string& scratch, int to, const std::string& name,
                 bool only_new);

/// Calls `each` with the name of everything in an open folder until it gives false. 0 or errno.
int for_each_name(int folder, const std::function<bool(const std::string&)>& each);

/// Copies all bytes from where both are, in the kernel where it can. 0 or errno.
int copy_bytes(int from, int to);

/// Writes all bytes where the file is. 0 or errno.
int write_all(int file, std::string_view bytes);

/// Makes `content` all that an open regular file holds; it stays the same file. Room for all of it
/// is taken first, so that a full disk changes nothing. 0 or errno.
int overwrite_bytes(int file, std::string_view content);

/// Writes behind the end of a file that is open with O_APPEND, wherever that is by then. What did
/// not fit whole is taken back, unless another program appended behind it. 0 or errno.
int append_bytes(int file, std::string_view bytes);

/// Copying a tree: its bound, what the copies are to be, and what was done so far.
struct tree_copy {
  std::size_t left = most_in_tree; ///< how many entries it may still make; more: E2BIG
  std::optional<std::pair<uid_t, gid_t>> owner = std::nullopt; ///< of every copy
  bool keeps_owner = false; ///< and times, as far as this process may
  bool flushes = true;      ///< whether all is on disk at the end
  std::uint64_t files = 0;  ///< regular ones
  std::uint64_t bytes = 0;  ///< of them
};

/// Copies whatever has a name under another one, with its mode; what is no file, folder or link is
/// left out. 0 or errno.
int copy_tree(int from, const std::string& name, int to, const std::string& as, tree_copy& how,
              int depth = 0);

/// Removes what has a name in a folder, with all in it. `left` is how many entries it may still
/// remove. 0 or errno.
int remove_all(int folder, const std::string& name, std::size_t& left, int depth = 0);

/// Runs when its scope ends, unless it was dropped.
class undo {
public:
  explicit undo(std::function<void()> what) : what_(std::move(what)) {}
  ~undo() {
    if (what_)
      what_();
  }
  undo(const undo&) = delete;
  undo& operator=(const undo&) = delete;
  void drop() { what_ = {}; }

private:
  std::function<void()> what_;
};

} // namespace ahpd::runtimes::files
