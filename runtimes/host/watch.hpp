#pragma once

#include "runtimes/host/served_folders.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace boost::asio {
class io_context;
class thread_pool;
} // namespace boost::asio

namespace ahpd::runtimes {

struct file_change {
  enum class kind : std::uint8_t { added, updated, deleted };
  std::string path; ///< absolute
  kind what = kind::updated;
};

/// What is to be watched: a file, or a folder's entries, or all below it. Patterns are of paths
/// relative to the folder (see glob.hpp).
struct watch_request {
  std::string path;
  bool recursive = false;
  std::vector<std::string> includes; ///< empty: everything
  std::vector<std::string> excludes; ///< a folder that one takes with all in it is not entered
};

/// Changes of one burst, each path once. `lost`: more happened than was kept; look again.
struct watch_report {
  std::vector<file_change> changes;
  bool lost = false;
};

/// Watches files of served folders with one inotify instance. Callable from any thread; callbacks
/// come on an io thread, never inside the call.
class file_watcher {
public:
  static constexpr std::size_t most_watches = 256;
  static constexpr std::size_t most_folders = 20'000; ///< of one watch
  static constexpr std::size_t most_changes = 1'000;  ///< in one report

  /// Ends the watch when it is destroyed.
  struct handle {
    std::string path; ///< without links
    std::shared_ptr<void> watch;
  };

  virtual ~file_watcher() = default;

  /// `started` is called once; `changed` for every burst from then on.
  virtual void watch(watch_request what, std::function<void(watch_report)> changed,
                     std::function<void(file_outcome<handle>)> started) = 0;
};

/// Folders are walked on `blocking`, which must be joined before `io` is destroyed.
std::shared_ptr<file_watcher> make_file_watcher(boost::asio::io_context& io,
                                                boost::asio::thread_pool& blocking,
                                                std::shared_ptr<const served_folders> in);

} // namespace ahpd::runtimes
