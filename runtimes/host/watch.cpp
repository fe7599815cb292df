#include "runtimes/host/watch.hpp"

#include "runtimes/host/file_calls.hpp"
#include "runtimes/host/glob.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include <sys/inotify.h>
#include <unistd.h>

namespace ahpd::runtimes {

namespace {

namespace asio = boost::asio;
using process::descriptor;
using kind = file_change::kind;

/// How long changes are gathered before they are told: a save is many of them.
constexpr std::chrono::milliseconds burst{50};

constexpr std::uint32_t events = IN_CREATE | IN_DELETE | IN_MODIFY | IN_CLOSE_WRITE |
                                 IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF |
                                 IN_ONLYDIR;

struct one_watch {
  watch_request what;
  std::string root; ///< of the paths that patterns see; without links
  std::string only; ///< a watched file's name; empty: a folder is watched
  std::function<void(watch_report)> changed;

  std::map<std::string, kind> pending;
  bool lost = false;
  std::size_t folders = 0;

  std::string_view below(std::string_view path) const {
    return path.substr(std::min(path.size(), root.size() + (root == "/" ? 0 : 1)));
  }
  bool excluded(std::string_view relative) const {
    return std::any_of(what.excludes.begin(), what.excludes.end(),
                       [&](const auto& p) { return matches_pattern(p, relative); });
  }
  bool wants(const std::string& path) const {
    const auto relative = below(path);
    if (!only.empty())
      return relative == only;
    return !excluded(relative) &&
           (what.includes.empty() ||
            std::any_of(what.includes.begin(), what.includes.end(),
                        [&](const auto& p) { return matches_pattern(p, relative); }));
  }
  /// Whether a pattern takes a folder with all that can be in it.
  bool enters(const std::string& folder) const {
    const std::string relative(below(folder));
    return !excluded(relative) && !excluded(relative + "/\x01");
  }

  void note(const std::string& path, kind now) {
    const auto [i, is_new] = pending.emplace(path, now);
    if (!is_new && i->second == kind::added && now == kind::deleted)
      pending.erase(i);
    else if (!is_new && i->second == kind::deleted && now != kind::deleted)
      i->second = kind::updated;
    else if (!is_new && now == kind::deleted)
      i->second = now;
    if (pending.size() > file_watcher::most_changes) {
      pending.clear();
      lost = true;
    }
  }
};

using watch_ptr = std::shared_ptr<one_watch>;

class inotify_watcher : public file_watcher, public std::enable_shared_from_this<inotify_watcher> {
public:
  inotify_watcher(asio::io_context& io, asio::thread_pool& blocking,
                  std::shared_ptr<const served_folders> in)
      : io_(io), blocking_(blocking), in_(std::move(in)), queue_(asio::make_strand(io)),
        timer_(queue_.get_executor()) {
    const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd >= 0)
      queue_.assign(fd);
  }

  void watch(watch_request what, std::function<void(watch_report)> changed,
             std::function<void(file_outcome<handle>)> started) override {
    asio::post(blocking_, [me = shared_from_this(), what = std::move(what),
                           changed = std::move(changed), started = std::move(started)]() mutable {
      auto outcome = me->begin(std::move(what), std::move(changed));
      asio::post(me->io_, [started = std::move(started), outcome = std::move(outcome)]() mutable {
        started(std::move(outcome));
      });
    });
  }

private:
  struct folder {
    std::string path;
    std::set<watch_ptr> watches;
  };

  file_outcome<handle> begin(watch_request what, std::function<void(watch_report)> changed) {
    auto found = in_->find(what.path);
    if (const auto* no = std::get_if<file_refusal>(&found))
      return *no;
    auto& at = std::get<spot>(found);
    const auto s = files::stat_of(at.folder.get(), at.name);
    if (!s)
      return refused_by_system(errno, at.path);
    auto watch = std::make_shared<one_watch>();
    watch->what = std::move(what);
    watch->changed = std::move(changed);
    watch->root = at.path;
    if (!S_ISDIR(s->st_mode)) {
      // A file that is replaced is another one then, so its folder is watched.
      watch->only = at.name;
      watch->root = at.path.substr(0, std::max<std::size_t>(at.path.rfind('/'), 1));
    }
    {
      std::lock_guard lock(guard_);
      if (count_ == most_watches)
        return file_refusal{file_fault::wrong, at.path,
                            "would be one more than the " + std::to_string(most_watches) +
                              " watches that this host keeps"};
      ++count_;
    }
    handle out{at.path, std::shared_ptr<void>(watch.get(), [weak = weak_from_this(), watch](void*) {
                 if (const auto me = weak.lock())
                   me->end(watch);
               })};
    const descriptor top(::openat(at.folder.get(), watch->only.empty() ? at.name.c_str() : ".",
                                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!top)
      return refused_by_system(errno, at.path);
    if (const int why = add(watch, top.get(), watch->root, 0, nullptr))
      return why == E2BIG ? file_refusal{file_fault::wrong, at.path,
                                         "has more folders below it than can be watched"}
                          : refused_by_system(why, at.path);
    asio::dispatch(queue_.get_executor(), [me = shared_from_this()] { me->listen(); });
    return out;
  }

  /// Watches an open folder and, for a recursive watch, those in it. `content` gets what is there
  /// already. 0 or errno.
  int add(const watch_ptr& watch, int open, const std::string& path, int depth,
          std::vector<std::string>* content) {
    {
      std::lock_guard lock(guard_);
      const auto by_descriptor = "/proc/self/fd/" + std::to_string(open);
      const int wd = ::inotify_add_watch(queue_.native_handle(), by_descriptor.c_str(), events);
      if (wd < 0)
        return errno;
      auto& f = folders_[wd];
      f.path = path;
      if (f.watches.insert(watch).second && ++watch->folders > most_folders)
        return E2BIG;
    }
    if (!content && !watch->what.recursive)
      return 0;
    constexpr int deepest = 128;
    if (depth == deepest)
      return E2BIG;
    int why = 0;
    const int unread = files::for_each_name(open, [&](const std::string& name) {
      const auto full = (path == "/" ? "" : path) + "/" + name;
      const auto s = files::stat_of(open, name);
      if (!s)
        return true;
      if (content && content->size() <= most_changes)
        content->push_back(full);
      if (!S_ISDIR(s->st_mode) || !watch->what.recursive || !watch->enters(full))
        return true;
      const descriptor inside(
        ::openat(open, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (inside)
        why = add(watch, inside.get(), full, depth + 1, content);
      return why == 0;
    });
    return why != 0 ? why : unread;
  }

  void end(const watch_ptr& watch) {
    std::lock_guard lock(guard_);
    --count_;
    watch->changed = {};
    for (auto i = folders_.begin(); i != folders_.end();) {
      i->second.watches.erase(watch);
      i = i->second.watches.empty() ? forget(i) : std::next(i);
    }
    dirty_.erase(watch);
  }

  std::map<int, folder>::iterator forget(std::map<int, folder>::iterator i) {
    ::inotify_rm_watch(queue_.native_handle(), i->first);
    return folders_.erase(i);
  }

  // ---- on the queue's strand --------------------------------------------------------------------

  void listen() {
    if (std::exchange(listening_, true))
      return;
    queue_.async_wait(asio::posix::stream_descriptor::wait_read,
                      [weak = weak_from_this()](const boost::system::error_code& ec) {
                        const auto me = weak.lock();
                        if (!me || ec)
                          return;
                        me->listening_ = false;
                        me->take();
                        me->listen();
                      });
  }

  void take() {
    alignas(inotify_event) std::array<char, 16u << 10> buffer;
    for (;;) {
      const auto got = ::read(queue_.native_handle(), buffer.data(), buffer.size());
      if (got <= 0)
        break;
      std::lock_guard lock(guard_);
      for (const char* at = buffer.data(); at < buffer.data() + got;) {
        const auto* event = reinterpret_cast<const inotify_event*>(at);
        on_event(*event, event->len > 0 ? std::string(event->name) : std::string());
        at += sizeof(inotify_event) + event->len;
      }
    }
    std::lock_guard lock(guard_);
    if (dirty_.empty() || std::exchange(timed_, true))
      return;
    timer_.expires_after(burst);
    timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& ec) {
      if (const auto me = weak.lock(); me && !ec)
        me->tell();
    });
  }

  void on_event(const inotify_event& event, const std::string& name) {
    if (event.mask & IN_Q_OVERFLOW) {
      for (const auto& [wd, f] : folders_)
        for (const auto& watch : f.watches) {
          watch->lost = true;
          dirty_.insert(watch);
        }
      return;
    }
    const auto i = folders_.find(event.wd);
    if (i == folders_.end())
      return;
    auto& f = i->second;
    if (event.mask & IN_IGNORED) {
      folders_.erase(i);
      return;
    }
    if (event.mask & (IN_DELETE_SELF | IN_MOVE_SELF)) {
      for (const auto& watch : f.watches)
        if (watch->root == f.path && watch->only.empty())
          note(watch, f.path, kind::deleted);
      return;
    }
    if (name.empty() || files::is_scratch_name(name))
      return;
    const auto path = (f.path == "/" ? "" : f.path) + "/" + name;
    const bool is_folder = event.mask & IN_ISDIR;
    const auto what = event.mask & (IN_CREATE | IN_MOVED_TO)     ? kind::added
                      : event.mask & (IN_DELETE | IN_MOVED_FROM) ? kind::deleted
                                                                 : kind::updated;
    const auto watches = f.watches;
    for (const auto& watch : watches) {
      if (watch->wants(path))
        note(watch, path, what);
      if (is_folder && what == kind::added && watch->what.recursive && watch->enters(path))
        enter(watch, path);
    }
    if (is_folder && event.mask & IN_MOVED_FROM)
      leave(path);
  }

  void note(const watch_ptr& watch, const std::string& path, kind what) {
    watch->note(path, what);
    dirty_.insert(watch);
  }

  /// A folder that was moved away is not where its watches think it is.
  void leave(const std::string& path) {
    for (auto i = folders_.begin(); i != folders_.end();)
      i = i->second.path == path || i->second.path.rfind(path + "/", 0) == 0 ? forget(i)
                                                                             : std::next(i);
  }

  /// Watches a folder that appeared, and tells what came into it before that.
  void enter(const watch_ptr& watch, const std::string& path) {
    asio::post(blocking_, [me = shared_from_this(), watch, path] {
      const auto found = me->in_->find(path, served_folders::last_link::keep);
      const auto* at = std::get_if<spot>(&found);
      if (!at || at->path != path)
        return;
      const descriptor open(::openat(at->folder.get(), at->name.c_str(),
                                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!open)
        return;
      std::vector<std::string> content;
      const int why = me->add(watch, open.get(), path, 0, &content);
      asio::post(me->queue_.get_executor(), [me, watch, why, content = std::move(content)] {
        {
          std::lock_guard lock(me->guard_);
          if (!watch->changed)
            return me->drop(watch);
          for (const auto& each : content)
            if (watch->wants(each))
              me->note(watch, each, kind::added);
          if (why == E2BIG || why == ENOSPC) {
            watch->lost = true;
            me->dirty_.insert(watch);
          }
        }
        me->take();
      });
    });
  }

  /// What a walk added to a watch that had ended meanwhile.
  void drop(const watch_ptr& watch) {
    for (auto i = folders_.begin(); i != folders_.end();)
      i =
        i->second.watches.erase(watch) > 0 && i->second.watches.empty() ? forget(i) : std::next(i);
  }

  void tell() {
    std::vector<std::pair<std::function<void(watch_report)>, watch_report>> out;
    {
      std::lock_guard lock(guard_);
      timed_ = false;
      for (const auto& watch : std::exchange(dirty_, {})) {
        watch_report report;
        report.lost = std::exchange(watch->lost, false);
        for (const auto& [path, what] : std::exchange(watch->pending, {}))
          report.changes.push_back({path, what});
        if (watch->changed && (report.lost || !report.changes.empty()))
          out.emplace_back(watch->changed, std::move(report));
      }
    }
    for (auto& [changed, report] : out)
      changed(std::move(report));
  }

  asio::io_context& io_;
  asio::thread_pool& blocking_;
  std::shared_ptr<const served_folders> in_;
  asio::posix::stream_descriptor queue_;
  asio::steady_timer timer_;
  bool listening_ = false;

  std::mutex guard_; ///< of all below, and of what the watches gathered
  bool timed_ = false;
  std::map<int, folder> folders_; ///< by inotify's number
  std::set<watch_ptr> dirty_;     ///< with something to tell
  std::size_t count_ = 0;
};

} // namespace

std::shared_ptr<file_watcher> make_file_watcher(asio::io_context& io, asio::thread_pool& blocking,
                                                std::shared_ptr<const served_folders> in) {
  return std::make_shared<inotify_watcher>(io, blocking, std::move(in));
}

} // namespace ahpd::runtimes
