#pragma once

#include "runtimes/disk/fault.hpp"
#include "runtimes/process/descriptor.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace ahpd::disk {

/// Something of a tree that is read: a file, a folder or a link.
struct tree_item {
  std::string path; ///< relative to the tree
  struct stat s {};
  std::string target; ///< of a link
};

/// Reads a tree in pieces: each item, a folder before what is in it, and behind each file its
/// bytes. Links are told and not followed; what is no file, folder or link is passed over.
class tree_outflow {
public:
  /// A folder, or a single file.
  explicit tree_outflow(std::string path);

  /// The next item; false: there is none. The bytes of a file before are read by then.
  bool next(tree_item& out);

  /// Up to that many bytes of the file; nothing: all are read. A file that has become shorter is a
  /// fault.
  std::string read(std::size_t most);

private:
  struct level {
    process::descriptor folder;
    std::vector<std::string> names; ///< the last one is next
    std::string path;               ///< with a slash at its end; empty: the top
  };

  void enter(process::descriptor folder, std::string path);
  bool look(const level& in, const std::string& name, tree_item& out);
  bool open_file(int folder, const std::string& name, tree_item& out);

  const std::string path_; ///< for faults
  std::vector<level> levels_;
  process::descriptor file_;
  std::uint64_t left_ = 0;
};

} // namespace ahpd::disk
