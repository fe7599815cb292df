#pragma once

#include "runtimes/disk/place.hpp"

#include <string>
#include <string_view>

namespace ahpd::disk {

/// A file that is written beside its place and then put there in one step. It has the name
/// `.aiod-<purpose>-<uuid>.part` until then; dropped before, nothing is left of it.
class staged_file {
public:
  /// `path` is for faults.
  staged_file(const place& beside, std::string_view purpose, std::string path);
  ~staged_file();
  staged_file(const staged_file&) = delete;
  staged_file& operator=(const staged_file&) = delete;

  int descriptor() const { return file_.get(); }
  void write(std::string_view bytes);

  /// Takes the place of a regular file or of nothing. It gets the owner and keeps the mode of what
  /// was there, without what gives rights of another account. Across file systems it is copied.
  void put(const place& at, const maybe_owner& whose);

private:
  void drop();

  process::descriptor folder_;
  std::string name_;
  std::string path_;
  process::descriptor file_;
};

/// The name of what is staged.
std::string staged_name(std::string_view purpose);

} // namespace ahpd::disk
