#pragma once

#include "protocol/transport/anchored.hpp"
#include "protocol/transport/client.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ahpd::transport {

using error_code = boost::system::error_code;
using io_strand = boost::asio::strand<boost::asio::io_context::executor_type>;

/// A move-only completion handler of any type, called at most once.
class completion {
public:
  completion() = default;
  template <class F>
  requires(!std::is_same_v<std::decay_t<F>, completion>) completion(F&& f)
      : held_(new holder<std::decay_t<F>>(std::forward<F>(f))) {}

  explicit operator bool() const { return held_ != nullptr; }

  void operator()(error_code ec, std::size_t n) {
    auto held = std::move(held_);
    held->call(ec, n);
  }

private:
  struct base {
    virtual ~base() = default;
    virtual void call(error_code ec, std::size_t n) = 0;
  };
  template <class F> struct holder final : base {
    explicit holder(F&& f) : f_(std::move(f)) {}
    explicit holder(const F& f) : f_(f) {}
    // What the handler holds is freed before it runs, as Asio promises its own handlers.
    void call(error_code ec, std::size_t n) override { std::move(f_)(ec, n); }
    F f_;
  };
  std::unique_ptr<base> held_;
};

/// What is needed to speak TLS with a target: roots, certificate and key, loaded once.
struct tls_settings;

/// Loads them; null with a sentence in `error` when a file is not usable.
std::shared_ptr<tls_settings> load_tls(const target& where, std::string& error);

/// One connected byte stream over TCP, a Unix socket or TLS, with one timer. Used on its strand
/// only, `post` excepted. One read and one write may be pending at a time. Everything else of this
/// folder is written against this one type, so that nothing is compiled once per kind of socket.
class pipe final : public anchored, public std::enable_shared_from_this<pipe> {
public:
  explicit pipe(boost::asio::io_context& io);
  ~pipe() override;

  /// Runs `f` on the strand; nothing when the io_context is gone.
  template <class F> void post(F&& f) {
    if (strand_)
      boost::asio::post(*strand_, std::forward<F>(f));
  }
  io_strand executor() const { return *strand_; }

  /// Takes over an accepted descriptor.
  void adopt(int descriptor, int family);

  /// Resolves, connects and shakes hands. `done` is told why it failed, or an empty text.
  void connect(const target& where, std::shared_ptr<tls_settings> tls,
               std::function<void(std::string)> done);

  void read_some(boost::asio::mutable_buffer into, completion done);

  /// Gathers. The array of buffers must live until `done`.
  void write_some(const boost::asio::const_buffer* first, std::size_t count, completion done);

  /// Gives the kernel up to `count` bytes of a file, once the peer has room; `done` hears how many
  /// it took, 0 where the file ends before `offset`. Not over TLS, and only in a program that
  /// ignores SIGPIPE, which sendfile(2) cannot hold back.
  void send_file(int descriptor, std::uint64_t offset, std::size_t count, completion done);

  /// Bytes that were read already; the next reads give them first.
  void unread(std::string_view bytes) { unread_.insert(0, bytes); }

  /// The one timer: replaces what was set before.
  void arm(std::chrono::steady_clock::duration after, std::function<void()> due);
  void disarm();

  /// Calls `due` once when there is something to read or the peer has closed.
  void watch(std::function<void()> due);
  /// Ends the watch; false when the peer closed or sent something unasked.
  bool unwatch();

  /// Ends what is pending with `operation_aborted`, unless it is done already.
  void cancel();

  void shutdown_write();
  void close();
  /// Closes so that a TCP peer gets an error where it would take an end for a proper one.
  void reset();
  /// Says that no more comes, waits a little for the peer to close, and closes. A plain `close`
  /// with bytes unread would make the kernel drop what was written last.
  void linger();
  bool is_open() const;

  /// Times `write_some` was handed to the kernel, for tests of coalescing.
  std::size_t writes() const { return writes_; }
  /// Last time a byte was read.
  std::chrono::steady_clock::time_point heard() const { return heard_; }
  std::string peer() const;

private:
  struct parts;

  void abandon() noexcept override;
  void drain(std::shared_ptr<std::string> into);
  void try_send_file(int descriptor, std::uint64_t offset, std::size_t count, completion done);
  void connect_unix(const target& where, std::function<void(std::string)> done);
  void connect_next(std::shared_ptr<struct dialling> how);
  void secure(std::shared_ptr<struct dialling> how);

  std::optional<io_strand> strand_;
  std::unique_ptr<parts> io_;
  std::string unread_;
  std::uint64_t timer_run_ = 0;
  std::size_t writes_ = 0;
  std::chrono::steady_clock::time_point heard_ = std::chrono::steady_clock::now();
};

/// "connect to X: no such file or directory": the system's text without its capital.
std::string plain_text(const error_code& ec);

} // namespace ahpd::transport
