#pragma once

#include "runtimes/disk/place.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace ahpd::disk {

struct tree_bounds {
  std::uint64_t bytes = std::uint64_t{4} << 30;
  std::size_t entries = 100'000;
};

/// A tree that is made beside its place, or in the folder that it is to go over, and put there at
/// the end. Dropped before, nothing is left of it. Paths are relative and clean; no link is gone
/// through, so nothing outside is touched. What comes later under a name takes the earlier one's
/// place.
class tree_intake {
public:
  enum class mode : std::uint8_t { rename, merge };

  tree_intake(const std::string& path, const maybe_owner& whose, const tree_bounds& most = {});
  ~tree_intake();
  tree_intake(const tree_intake&) = delete;
  tree_intake& operator=(const tree_intake&) = delete;

  void add_folder(const std::string& path);
  void begin_file(const std::string& path);
  void write(std::string_view bytes); ///< of the file that began
  void add_link(const std::string& path, const std::string& target);
  /// Another name of a file that is in the tree already.
  void add_name(const std::string& path, const std::string& of);

  /// Puts all in place; how. What stands in the way is found before anything is changed.
  mode put();

  std::size_t entries() const { return entries_; }
  std::uint64_t bytes() const { return bytes_; }

private:
  struct spot {
    process::descriptor folder;
    std::string name;
  };

  void count();
  spot spot_of(const std::string& path, bool makes);
  spot free_spot(const std::string& path);
  process::descriptor enter(int folder, const std::string& name, const std::string& path,
                            bool makes);
  void merge(int from, int to, bool applies);
  [[noreturn]] void refuse(const char* why, const std::string& path) const;

  const std::string path_; ///< of the place, for faults
  const maybe_owner whose_;
  const tree_bounds most_;
  place at_;
  process::descriptor over_; ///< the folder that is there; none: there is none
  std::string scratch_;
  process::descriptor root_;
  process::descriptor file_;
  std::size_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

} // namespace ahpd::disk
