#pragma once

#include "runtimes/host/files.hpp"

#include <functional>
#include <optional>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>

/// What the files of this folder share; not for callers.
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

/// Copies all bytes. 0 or errno.
int copy_bytes(int from, int to);

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
