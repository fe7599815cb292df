#pragma once

#include "runtimes/process/descriptor.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ahpd::runtimes {

/// Why something was not done with a file. The kinds are what a caller can act on.
enum class file_fault : std::uint8_t {
  outside,   ///< of every served folder, by its path or through a link
  denied,    ///< the system says no, or it is a served folder itself
  not_there, ///< nothing of that kind has the path
  taken,     ///< something has the path already
  stale,     ///< it is not what the caller knew any more
  wrong,     ///< the request itself cannot be done
  failed,    ///< the system failed
};

struct file_refusal {
  file_fault what = file_fault::failed;
  std::string path; ///< of what `why` is about; any bytes
  std::string why;  ///< to be read behind the path: "is not there"
};

template <class T> using file_outcome = std::variant<T, file_refusal>;

/// What an errno of a call on `path` means.
file_refusal refused_by_system(int error, std::string path);

/// Where something is or can be: the folder that holds it, by descriptor, and its name in there.
/// The name may be given to calls that follow no link, so it never leads out of the folder.
struct spot {
  process::descriptor folder; ///< O_PATH
  std::string name;           ///< "." for a served folder itself
  std::string path;           ///< absolute and without links
  bool is_served_folder = false;
};

/// The folders of this host that clients may reach, and the way from a path to what is there. Every
/// step of that way is one call on a descriptor that follows no link: links are followed here, as
/// far as they stay within the folders, so one that is put in meanwhile leads nowhere else.
/// Callable from any thread; calls block.
class served_folders {
public:
  /// Absolute folders. One that is not there now is not served.
  explicit served_folders(const std::vector<std::string>& folders);

  enum class last_link : std::uint8_t { follow, keep };
  enum class parents : std::uint8_t { needed, made };

  /// The spot of an absolute path, whose `.` and `..` are taken out first (RFC 3986, 5.2.4). Its
  /// last name may be absent; the folders on the way must be there, or are made.
  file_outcome<spot> find(std::string_view path, last_link last = last_link::follow,
                          parents missing = parents::needed) const;

  /// Held while a file is changed: who changes the same path waits.
  std::unique_lock<std::mutex> changing(const std::string& path) const;

private:
  struct walk;

  struct spelling {
    std::string written; ///< by the operator
    std::string real;
  };

  std::vector<std::string> roots_;  ///< without links; none is in another
  std::vector<spelling> spellings_; ///< longest first
  mutable std::array<std::mutex, 64> changes_;
};

} // namespace ahpd::runtimes
