#pragma once

#include "protocol/transport/outbox.hpp"

namespace ahpd::transport {

/// The Host field for a target.
std::string host_field(const target& where);

/// The idle connections to one target. Any thread.
class connection_pool final : public anchored,
                              public std::enable_shared_from_this<connection_pool> {
public:
  connection_pool(boost::asio::io_context& io, target where, std::size_t idle);

  const target& where() const { return where_; }
  const std::string& host() const { return host_; }
  /// Null once the io_context is gone.
  boost::asio::io_context* io() const { return io_; }
  /// Null for plain targets; with a sentence in `error` when the files are not usable.
  std::shared_ptr<tls_settings> tls(std::string& error);

  /// An idle connection, or null. The caller must `unwatch` it on its strand.
  std::shared_ptr<pipe> take();
  /// On the connection's strand: keeps it for later, or closes it when there are enough.
  void give_back(const std::shared_ptr<pipe>& it);
  /// Closes what is idle and keeps nothing from now on.
  void close();

private:
  void abandon() noexcept override;
  bool forget(const pipe* it);

  boost::asio::io_context* io_;
  const target where_;
  const std::string host_;
  const std::size_t keep_;
  std::mutex guard_; ///< of the next three
  std::vector<std::shared_ptr<pipe>> idle_;
  std::shared_ptr<tls_settings> tls_;
  bool closed_ = false;
};

} // namespace ahpd::transport
