#include "protocol/transport/server.hpp"

#include "protocol/transport/listening_socket.hpp"
#include "protocol/transport/server_connection.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <sys/socket.h>

namespace asio = boost::asio;

namespace ahpd::transport {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds breath{100}; ///< when the process has no descriptor to spare
constexpr int burst = 64;                        ///< accepted in one go; other work comes between

/// Accepts until it is stopped. Used on its strand, except `stop`.
class acceptor final : public anchored, public std::enable_shared_from_this<acceptor> {
public:
  acceptor(asio::io_context& io, std::shared_ptr<server_core> core, listening_socket on)
      : anchored(io), io_(io), core_(std::move(core)), socket_(std::move(on)),
        strand_(asio::make_strand(io)) {
    wait_.emplace(*strand_, socket_.descriptor);
    timer_.emplace(*strand_);
  }

  std::uint16_t port() const { return socket_.port; }

  void start() {
    asio::post(*strand_, [self = shared_from_this()] { self->await(); });
  }

  void stop() {
    if (strand_)
      asio::dispatch(*strand_, [self = shared_from_this()] { self->release(); });
  }

private:
  using waiter = asio::posix::basic_stream_descriptor<io_strand>;
  using timer_type = asio::basic_waitable_timer<clock, asio::wait_traits<clock>, io_strand>;

  void abandon() noexcept override {
    const auto self = weak_from_this().lock();
    release();
    strand_.reset();
  }

  void release() {
    wait_.reset(); // closes the descriptor
    timer_.reset();
    socket_.remove_file();
  }

  void await() {
    if (wait_)
      wait_->async_wait(asio::posix::descriptor_base::wait_read,
                        [self = shared_from_this()](error_code ec) {
                          if (!ec && self->wait_)
                            self->accept();
                        });
  }

  void accept() {
    for (int i = 0; i < burst; ++i) {
      // Not Asio's accept: its sockets would be inherited by children.
      const int fd = ::accept4(socket_.descriptor, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd >= 0) {
        admit(fd);
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        timer_->expires_after(breath);
        return timer_->async_wait([self = shared_from_this()](error_code ec) {
          if (!ec)
            self->await();
        });
      } else if (errno != ECONNABORTED && errno != EINTR) {
        break;
      }
    }
    await();
  }

  void admit(int fd) {
    auto ticket = core_->admit();
    if (!ticket) {
      ::close(fd);
      return;
    }
    auto over = std::make_shared<pipe>(io_);
    over->adopt(fd, socket_.family);
    std::make_shared<server_connection>(io_, core_, std::move(over), std::move(ticket))->start();
  }

  asio::io_context& io_;
  const std::shared_ptr<server_core> core_;
  listening_socket socket_;
  std::optional<io_strand> strand_;
  std::optional<waiter> wait_;
  std::optional<timer_type> timer_;
};

/// What the owner holds: dropping it closes everything.
class listening_server final : public server {
public:
  listening_server(std::shared_ptr<acceptor> it, std::shared_ptr<server_core> core)
      : acceptor_(std::move(it)), core_(std::move(core)) {}
  ~listening_server() override { end("the server is going away"); }

  std::uint16_t port() const override { return acceptor_->port(); }
  void stop_accepting() override { acceptor_->stop(); }
  void close(std::string_view why) override { end(why); }

private:
  void end(std::string_view why) {
    acceptor_->stop();
    core_->close(why);
  }

  std::shared_ptr<acceptor> acceptor_;
  std::shared_ptr<server_core> core_;
};

} // namespace

std::shared_ptr<server> listen(asio::io_context& io, const endpoint& where,
                               server_handlers handlers, const server_limits& bounds,
                               std::string& error) {
  auto socket = bind_socket(where, error);
  if (socket.descriptor < 0)
    return nullptr;
  auto core = std::make_shared<server_core>(std::move(handlers), bounds);
  auto it = std::make_shared<acceptor>(io, core, std::move(socket));
  it->start();
  return std::make_shared<listening_server>(std::move(it), std::move(core));
}

} // namespace ahpd::transport
