#include "runtimes/process/program.hpp"

#include "runtimes/process/children.hpp"
#include "runtimes/process/input_queue.hpp"
#include "runtimes/process/outputs.hpp"
#include "runtimes/process/streams.hpp"
#include "runtimes/process/sweep.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace ahpd::process {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using runtimes::exit_status;
using runtimes::output;
using strand = asio::strand<asio::io_context::executor_type>;

constexpr std::size_t read_size = 64 * 1024;
constexpr int reads_a_turn = 8; ///< so that a flood leaves its io thread to others
constexpr std::size_t terminal_holds = 1u
                                       << 20; ///< far above what the kernel buffers of a terminal

/// How a child ended, without collecting it; nothing when it has not.
std::optional<exit_status> status_of(pid_t pid) {
  siginfo_t info{};
  exit_status out;
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
    out.lost = "its exit status could not be read: " + std::generic_category().message(errno);
  else if (info.si_pid == 0)
    return std::nullopt;
  else if (info.si_code == CLD_EXITED)
    out.code = info.si_status;
  else
    out.signal = info.si_status;
  return out;
}

/// One output stream of a program.
struct reader {
  asio::posix::stream_descriptor fd;
  output which;
};

/// A running program. Every member is used on its strand; what is pending keeps it alive.
class program : public std::enable_shared_from_this<program> {
public:
  program(strand on, asio::thread_pool& blocking, spawned child, const run_options& options,
          bool terminal, runtimes::exec_events events)
      : strand_(on), blocking_(blocking), pid_(child.pid), terminal_(terminal), exit_(on),
        input_(on), out_{asio::posix::stream_descriptor(on), output::out},
        err_{asio::posix::stream_descriptor(on), output::err}, grace_(on),
        kept_(std::make_shared<outputs>(options.keep_bytes, options.wait_for_reader)),
        events_(std::move(events)), read_on_(options.read_on) {
    tree_.session = pid_;
    if (!options.marker.empty())
      tree_.markers.insert(options.marker);
    adopt(exit_, child.pidfd);
    adopt(input_, child.input);
    adopt(out_.fd, child.output);
    adopt(err_.fd, child.error);
    input_open_ = terminal_ || input_.is_open();
  }

  const strand& on() const { return strand_; }
  const std::shared_ptr<outputs>& kept() const { return kept_; }

  void begin() {
    watch_exit();
    watch(out_);
    if (err_.fd.is_open())
      watch(err_);
  }

  void write(std::string bytes) {
    if (!input_open_)
      return;
    if (!queue_.push(std::move(bytes)))
      input_open_ = false;
    flush();
  }

  void close_input() {
    if (input_open_ && terminal_)
      queue_.push("\x04");
    input_open_ = false;
    flush();
  }

  /// Its reader has made room.
  void go_on(output which) {
    auto& from = which == output::out ? out_ : err_;
    if (from.fd.is_open())
      watch(from);
  }

  void resize(runtimes::window_size size) {
    if (terminal_ && !ended_)
      resize_terminal(out_.fd.native_handle(), size);
  }

  void signal(int number) {
    if (ended_)
      return;
    ::kill(-pid_, number);
    in_background([tree = tree_, number, group = pid_] { signal_tree(tree, number, group); });
  }

  void kill(std::chrono::milliseconds grace) {
    if (ended_ && !killing_)
      return;
    if (grace.count() <= 0)
      return finish_tree();
    const auto until = std::chrono::steady_clock::now() + grace;
    if (killing_ && grace_.expiry() <= until)
      return;
    signal(SIGTERM);
    ::kill(-pid_, SIGCONT); // a stopped one would not hear it
    killing_ = true;
    ++pins_;
    grace_.expires_at(until);
    grace_.async_wait([me = shared_from_this()](error_code ec) {
      if (!ec) {
        me->killing_ = false;
        if (me->ended_)
          close(me->exit_);
        me->finish_tree();
      }
      me->unpin();
    });
  }

private:
  enum class state { more, nothing_there, closed };

  static void adopt(asio::posix::stream_descriptor& into, descriptor& from) {
    if (from) {
      into.assign(from.get());
      from.release();
    }
  }

  void watch_exit() {
    exit_.async_wait(asio::posix::descriptor_base::wait_read,
                     [me = shared_from_this()](error_code ec) {
                       if (ec)
                         return;
                       if (auto how = status_of(me->pid_))
                         me->end(std::move(*how));
                       else
                         me->watch_exit();
                     });
  }

  void watch(reader& from) {
    from.fd.async_wait(asio::posix::descriptor_base::wait_read,
                       [me = shared_from_this(), &from](error_code ec) {
                         if (ec)
                           return;
                         auto left = state::more;
                         for (int turn = 0; turn < reads_a_turn && left == state::more; ++turn)
                           left = me->pull(from).first;
                         // `go_on` watches again what waits for its reader.
                         if (left != state::closed) {
                           if (!me->kept_->full(from.which))
                             me->watch(from);
                         } else if (!me->terminal_) {
                           close(from.fd);
                         }
                       });
  }

  /// Reads once and tells the owner. Gives what is left there, and how much it read.
  std::pair<state, std::size_t> pull(reader& from) {
    char buffer[read_size];
    const ssize_t got = ::read(from.fd.native_handle(), buffer, sizeof buffer);
    if (got > 0) {
      const auto count = static_cast<std::size_t>(got);
      if (kept_->append(from.which, {buffer, count}) && events_.on_output)
        events_.on_output();
      return {state::more, count};
    }
    if (got < 0 && errno == EINTR)
      return {state::more, 0};
    return {got < 0 && errno == EAGAIN ? state::nothing_there : state::closed, 0};
  }

  /// Reads what the program wrote before it ended: no more than its pipe can hold, so that a child
  /// which goes on writing cannot keep the end from being told.
  void drain(reader& from) {
    if (!from.fd.is_open())
      return;
    const int pipe = ::fcntl(from.fd.native_handle(), F_GETPIPE_SZ);
    const std::size_t most = pipe > 0 ? static_cast<std::size_t>(pipe) : terminal_holds;
    for (std::size_t total = 0; total < most;) {
      const auto [left, count] = pull(from);
      if (left != state::more)
        break;
      total += count;
    }
  }

  void flush() {
    if (ended_ || writing_)
      return;
    auto& into = terminal_ ? out_.fd : input_;
    if (!into.is_open())
      return;
    if (queue_.flush(into.native_handle()) != 0) { // nobody reads it any more
      queue_.clear();
      input_open_ = false;
    }
    if (queue_.empty()) {
      if (!input_open_)
        close(input_);
      return;
    }
    writing_ = true;
    into.async_wait(asio::posix::descriptor_base::wait_write,
                    [me = shared_from_this()](error_code ec) {
                      me->writing_ = false;
                      if (!ec)
                        me->flush();
                    });
  }

  void end(exit_status how) {
    drain(out_);
    drain(err_);
    ended_ = true;
    close(exit_);
    close(input_);
    if (!read_on_ || terminal_) {
      close(out_.fd);
      close(err_.fd);
    }
    queue_.clear();
    const auto on_exit = std::exchange(events_.on_exit, {});
    if (!out_.fd.is_open() && !err_.fd.is_open())
      events_ = {};
    if (on_exit)
      on_exit(std::move(how));
    if (killing_)
      look_for_rest();
    unpin();
  }

  static void close(asio::posix::stream_descriptor& fd) {
    error_code ignored;
    fd.close(ignored);
  }

  /// After a kill that ended the program itself: the grace goes on for what is left of its tree,
  /// and no longer than that lives.
  void look_for_rest() {
    ++pins_;
    asio::post(blocking_, [me = shared_from_this()] {
      auto left = std::make_shared<descriptor>(hold_any(me->tree_));
      asio::post(me->strand_, [me, left] {
        if (!*left)
          me->grace_.cancel();
        else if (me->killing_)
          me->await_rest(*left);
        me->unpin();
      });
    });
  }

  void await_rest(descriptor& left) {
    close(exit_);
    error_code ec;
    exit_.assign(left.get(), ec);
    if (ec)
      return; // then the grace runs to its end
    left.release();
    exit_.async_wait(asio::posix::descriptor_base::wait_read,
                     [me = shared_from_this()](error_code closed) {
                       if (!closed)
                         me->look_for_rest();
                     });
  }

  void finish_tree() {
    ::kill(-pid_, SIGKILL);
    in_background([tree = tree_] { kill_tree(tree); });
  }

  template <class Work> void in_background(Work work) {
    ++pins_;
    asio::post(blocking_, [me = shared_from_this(), work = std::move(work)] {
      work();
      asio::post(me->strand_, [me] { me->unpin(); });
    });
  }

  /// Frees the pid once the program has ended and nobody is about to signal by it: until then no
  /// other process, group or session can get that number.
  void unpin() {
    if (--pins_ == 0)
      children::of_this_process().collect(pid_);
  }

  strand strand_;
  asio::thread_pool& blocking_;
  const pid_t pid_;
  const bool terminal_;
  process_tree tree_;
  asio::posix::stream_descriptor exit_;  ///< of the program, then of what outlives it in a kill
  asio::posix::stream_descriptor input_; ///< closed on a terminal, whose `out_` goes both ways
  reader out_;
  reader err_;
  asio::steady_timer grace_;
  const std::shared_ptr<outputs> kept_;
  runtimes::exec_events events_;
  const bool read_on_; ///< behind the program's own end
  input_queue queue_;
  bool input_open_ = false; ///< more may be written
  bool writing_ = false;    ///< waits for the program to read
  bool killing_ = false;    ///< its grace runs
  bool ended_ = false;
  int pins_ = 1; ///< the program's own end, and whoever signals its tree
};

/// What the owner holds: the output, and a way to the program as long as there is one.
class handle : public runtimes::running {
public:
  explicit handle(const std::shared_ptr<program>& to) : kept_(to->kept()), program_(to) {}
  ~handle() override { kept_->discard(); }

  runtimes::chunk read(output which, std::uint64_t offset, std::size_t most) const override {
    auto out = kept_->read(which, offset, most);
    if (kept_->room(which))
      tell([which](program& to) { to.go_on(which); });
    return out;
  }

  void write(std::string bytes) override {
    tell([bytes = std::move(bytes)](program& to) mutable { to.write(std::move(bytes)); });
  }

  void close_input() override {
    tell([](program& to) { to.close_input(); });
  }

  void resize(runtimes::window_size size) override {
    tell([size](program& to) { to.resize(size); });
  }

  void signal(int number) override {
    tell([number](program& to) { to.signal(number); });
  }

  void kill(std::chrono::milliseconds grace) override {
    tell([grace](program& to) { to.kill(grace); });
  }

private:
  template <class Call> void tell(Call call) const {
    if (auto to = program_.lock())
      asio::post(to->on(), [to, call = std::move(call)]() mutable { call(*to); });
  }

  const std::shared_ptr<outputs> kept_;
  const std::weak_ptr<program> program_;
};

/// A child that cannot be watched must not run unseen.
void abandon(pid_t pid) {
  ::kill(-pid, SIGKILL);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  children::of_this_process().collect(pid);
}

} // namespace

void start_program(asio::io_context& io, asio::thread_pool& blocking, spawn_request what,
                   run_options options, runtimes::exec_events events,
                   std::function<void(runtimes::exec_result)> done) {
  const strand on = asio::make_strand(io);
  asio::post(on, [on, &blocking, what = std::move(what), options = std::move(options),
                  events = std::move(events), done = std::move(done)]() mutable {
    auto started = spawn(what);
    if (!started.child)
      return done({nullptr, std::move(started.refused)});
    const pid_t pid = started.child->pid;
    std::shared_ptr<program> made;
    try {
      made = std::make_shared<program>(on, blocking, std::move(*started.child), options,
                                       what.terminal.has_value(), std::move(events));
    } catch (const boost::system::system_error& failure) {
      abandon(pid);
      return done(
        {nullptr, what.argv.front() + " could not be started: " + failure.code().message()});
    }
    done({std::make_shared<handle>(made), {}});
    made->begin();
  });
}

} // namespace ahpd::process
