#include "protocol/transport/pipe.hpp"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl.hpp>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cctype>

namespace asio = boost::asio;

namespace ahpd::transport {

using clock = std::chrono::steady_clock;
using socket_type = asio::basic_stream_socket<asio::generic::stream_protocol, io_strand>;
using timer_type = asio::basic_waitable_timer<clock, asio::wait_traits<clock>, io_strand>;
using resolver_type = asio::ip::basic_resolver<asio::ip::tcp, io_strand>;
using tls_type = asio::ssl::stream<socket_type&>;

struct tls_settings {
  asio::ssl::context context{asio::ssl::context::tls_client};
};

/// The Asio objects of a pipe; in one piece, so that they can go before the pipe does.
struct pipe::parts {
  explicit parts(const io_strand& on) : socket(on), timer(on) {}

  socket_type socket;
  timer_type timer;
  std::optional<resolver_type> resolver;
  std::unique_ptr<tls_type> tls;
};

/// One attempt to connect: the addresses still to try.
struct dialling {
  target where;
  std::string name; ///< for error texts
  std::shared_ptr<tls_settings> tls;
  std::function<void(std::string)> done;
  std::vector<asio::ip::tcp::endpoint> addresses;
  std::size_t next = 0;
  error_code failed = asio::error::host_not_found;
};

namespace {

constexpr std::chrono::seconds linger_time{2};

/// The views of `write_some` as a buffer sequence that copies nothing.
struct buffer_view {
  using value_type = asio::const_buffer;
  using const_iterator = const asio::const_buffer*;

  const_iterator first;
  const_iterator last;
  const_iterator begin() const { return first; }
  const_iterator end() const { return last; }
};

void no_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// Asio opens sockets that children would inherit, so they are opened here.
error_code open(socket_type& socket, int family) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    return {errno, boost::system::system_category()};
  error_code ec;
  socket.assign(asio::generic::stream_protocol(family, 0), fd, ec);
  if (ec)
    ::close(fd);
  else if (family != AF_UNIX)
    no_delay(fd);
  return ec;
}

std::string tls_reason(const error_code& ec, tls_type& tls) {
  const long verdict = SSL_get_verify_result(tls.native_handle());
  if (verdict != X509_V_OK)
    return X509_verify_cert_error_string(verdict);
  return plain_text(ec);
}

} // namespace

std::string plain_text(const error_code& ec) {
  std::string text = ec.message();
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::shared_ptr<tls_settings> load_tls(const target& where, std::string& error) {
  auto out = std::make_shared<tls_settings>();
  error_code ec;
  const auto failed = [&](const std::string& file) {
    error = "TLS file " + file + ": " + plain_text(ec);
    return ec.failed();
  };
  out->context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                             asio::ssl::context::no_tlsv1_1,
                           ec);
  out->context.set_verify_mode(asio::ssl::verify_peer, ec);
  if (where.tls_roots.empty())
    out->context.set_default_verify_paths(ec);
  else
    out->context.load_verify_file(where.tls_roots, ec);
  if (ec && failed(where.tls_roots.empty() ? "of the system's roots" : where.tls_roots))
    return nullptr;
  if (!where.tls_certificate.empty()) {
    out->context.use_certificate_chain_file(where.tls_certificate, ec);
    if (ec && failed(where.tls_certificate))
      return nullptr;
    out->context.use_private_key_file(where.tls_key, asio::ssl::context::pem, ec);
    if (ec && failed(where.tls_key))
      return nullptr;
  }
  error.clear();
  return out;
}

pipe::pipe(asio::io_context& io)
    : anchored(io), strand_(asio::make_strand(io)), io_(std::make_unique<parts>(*strand_)) {}

pipe::~pipe() = default;

void pipe::abandon() noexcept {
  const auto self = weak_from_this().lock(); // what the parts hold may be the last owner
  io_.reset();
  strand_.reset();
}

void pipe::adopt(int descriptor, int family) {
  error_code ec;
  io_->socket.assign(asio::generic::stream_protocol(family, 0), descriptor, ec);
  if (ec)
    ::close(descriptor);
  else if (family != AF_UNIX)
    no_delay(descriptor);
}

void pipe::connect(const target& where, std::shared_ptr<tls_settings> tls,
                   std::function<void(std::string)> done) {
  if (!where.unix_path.empty())
    return connect_unix(where, std::move(done));
  auto how = std::make_shared<dialling>();
  how->where = where;
  how->name = (where.host.find(':') == std::string::npos ? where.host : "[" + where.host + "]") +
              ":" + std::to_string(where.port);
  how->tls = std::move(tls);
  how->done = std::move(done);
  error_code ec;
  const auto literal = asio::ip::make_address(where.host, ec);
  if (!ec) {
    how->addresses.emplace_back(literal, where.port);
    return connect_next(how);
  }
  io_->resolver.emplace(*strand_);
  io_->resolver->async_resolve(
    where.host, std::to_string(where.port), asio::ip::resolver_base::numeric_service,
    [self = shared_from_this(), how](error_code failed,
                                     asio::ip::tcp::resolver::results_type found) {
      if (failed)
        return how->done("look up " + how->where.host + ": " + plain_text(failed));
      for (const auto& entry : found)
        how->addresses.push_back(entry.endpoint());
      self->io_->resolver.reset();
      self->connect_next(how);
    });
}

void pipe::connect_unix(const target& where, std::function<void(std::string)> done) {
  const auto failed = [&](const std::string& why) {
    post([done = std::move(done), text = "connect to " + where.unix_path + ": " + why] {
      done(text);
    });
  };
  if (where.unix_path.size() >= sizeof(sockaddr_un::sun_path))
    return failed("the path is longer than a socket's can be");
  if (const auto ec = open(io_->socket, AF_UNIX))
    return failed(plain_text(ec));
  io_->socket.async_connect(
    asio::local::stream_protocol::endpoint(where.unix_path),
    [self = shared_from_this(), done, path = where.unix_path](error_code ec) {
      // A full backlog looks like a connection in progress to Asio; only a peer's name proves one.
      if (!ec)
        self->io_->socket.remote_endpoint(ec);
      done(ec ? "connect to " + path + ": " + plain_text(ec) : std::string());
    });
}

void pipe::connect_next(std::shared_ptr<dialling> how) {
  error_code ec;
  io_->socket.close(ec);
  if (how->next == how->addresses.size()) {
    post([how] { how->done("connect to " + how->name + ": " + plain_text(how->failed)); });
    return;
  }
  const auto address = how->addresses[how->next++];
  if ((how->failed = open(io_->socket, address.address().is_v6() ? AF_INET6 : AF_INET)))
    return connect_next(how);
  io_->socket.async_connect(address, [self = shared_from_this(), how](error_code failed) {
    if (!failed)
      return how->tls ? self->secure(how) : how->done({});
    how->failed = failed;
    if (failed == asio::error::operation_aborted)
      how->next = how->addresses.size();
    self->connect_next(how);
  });
}

void pipe::secure(std::shared_ptr<dialling> how) {
  io_->tls = std::make_unique<tls_type>(io_->socket, how->tls->context);
  // OpenSSL's own check of the name, not Asio's, which cannot say what was wrong.
  SSL* const tls = io_->tls->native_handle();
  const std::string& host = how->where.host;
  const bool literal = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host.c_str()) == 1;
  if (!literal &&
      (SSL_set1_host(tls, host.c_str()) != 1 || SSL_set_tlsext_host_name(tls, host.c_str()) != 1))
    return how->done("TLS with " + how->name +
                     ": the host is not a name that a certificate can have");
  io_->tls->async_handshake(
    asio::ssl::stream_base::client, [self = shared_from_this(), how](error_code ec) {
      how->done(ec ? "TLS with " + how->name + ": " + tls_reason(ec, *self->io_->tls) : "");
    });
}

void pipe::read_some(asio::mutable_buffer into, completion done) {
  if (!unread_.empty()) {
    const auto n = asio::buffer_copy(into, asio::buffer(unread_));
    unread_.erase(0, n);
    return post([done = std::move(done), n]() mutable { done({}, n); });
  }
  auto noting = [self = shared_from_this(), done = std::move(done)](error_code ec,
                                                                    std::size_t n) mutable {
    if (n > 0)
      self->heard_ = clock::now();
    done(ec, n);
  };
  if (io_->tls)
    io_->tls->async_read_some(into, std::move(noting));
  else
    io_->socket.async_read_some(into, std::move(noting));
}

void pipe::write_some(const asio::const_buffer* first, std::size_t count, completion done) {
  ++writes_;
  const buffer_view what{first, first + count};
  auto keeping = [self = shared_from_this(),
                  done = std::move(done)](error_code ec, std::size_t n) mutable { done(ec, n); };
  if (io_->tls)
    io_->tls->async_write_some(what, std::move(keeping));
  else
    io_->socket.async_write_some(what, std::move(keeping));
}

void pipe::send_file(int descriptor, std::uint64_t offset, std::size_t count, completion done) {
  // By way of the loop, so that other connections have their turn between two pieces.
  post([self = shared_from_this(), descriptor, offset, count, done = std::move(done)]() mutable {
    self->try_send_file(descriptor, offset, count, std::move(done));
  });
}

void pipe::try_send_file(int descriptor, std::uint64_t offset, std::size_t count, completion done) {
  if (!is_open())
    return done(asio::error::not_connected, 0);
  ssize_t n = -1;
  do {
    auto from = static_cast<off_t>(offset);
    n = ::sendfile(io_->socket.native_handle(), descriptor, &from, count);
  } while (n < 0 && errno == EINTR);
  if (n >= 0)
    return done({}, static_cast<std::size_t>(n));
  if (errno != EAGAIN)
    return done({errno, boost::system::system_category()}, 0);
  io_->socket.async_wait(asio::socket_base::wait_write,
                         [self = shared_from_this(), descriptor, offset, count,
                          done = std::move(done)](error_code ec) mutable {
                           if (ec)
                             return done(ec, 0);
                           self->try_send_file(descriptor, offset, count, std::move(done));
                         });
}

void pipe::arm(clock::duration after, std::function<void()> due) {
  if (!io_)
    return;
  const auto run = ++timer_run_;
  io_->timer.expires_after(after);
  io_->timer.async_wait([self = shared_from_this(), run, due = std::move(due)](error_code ec) {
    if (!ec && run == self->timer_run_)
      due();
  });
}

void pipe::disarm() {
  ++timer_run_;
  if (io_)
    io_->timer.cancel();
}

void pipe::watch(std::function<void()> due) {
  io_->socket.async_wait(asio::socket_base::wait_read,
                         [self = shared_from_this(), due = std::move(due)](error_code ec) {
                           if (ec != asio::error::operation_aborted)
                             due();
                         });
}

bool pipe::unwatch() {
  cancel();
  char seen;
  const auto n = ::recv(io_->socket.native_handle(), &seen, 1, MSG_PEEK | MSG_DONTWAIT);
  return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

void pipe::cancel() {
  error_code ec;
  if (io_)
    io_->socket.cancel(ec);
}

void pipe::shutdown_write() {
  // TLS, too: its own half close waits for the peer's, and the readers of the other side take the
  // end of the stream for what it is.
  error_code ec;
  if (io_)
    io_->socket.shutdown(asio::socket_base::shutdown_send, ec);
}

void pipe::close() {
  disarm();
  if (!io_)
    return;
  error_code ec;
  io_->socket.close(ec);
  if (io_->resolver)
    io_->resolver->cancel();
}

void pipe::reset() {
  error_code ec;
  if (io_)
    io_->socket.set_option(asio::socket_base::linger(true, 0), ec);
  close();
}

void pipe::linger() {
  if (!is_open())
    return;
  shutdown_write();
  arm(linger_time, [self = shared_from_this()] { self->close(); });
  drain(std::make_shared<std::string>(4096, '\0'));
}

void pipe::drain(std::shared_ptr<std::string> into) {
  const auto to = asio::buffer(*into);
  read_some(to, [self = shared_from_this(), into](error_code ec, std::size_t) {
    ec ? self->close() : self->drain(into);
  });
}

bool pipe::is_open() const {
  return io_ && io_->socket.is_open();
}

std::string pipe::peer() const {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (!is_open() ||
      ::getpeername(io_->socket.native_handle(), reinterpret_cast<sockaddr*>(&name), &size) != 0)
    return {};
  char text[INET6_ADDRSTRLEN] = {};
  if (name.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(name);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return std::string(text) + ":" + std::to_string(ntohs(v4.sin_port));
  }
  if (name.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(name);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    return "[" + std::string(text) + "]:" + std::to_string(ntohs(v6.sin6_port));
  }
  return {};
}

} // namespace ahpd::transport
