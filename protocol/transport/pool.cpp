#include "protocol/transport/pool.hpp"

#include <algorithm>

namespace ahpd::transport {

namespace {

/// Longer than any pause inside one piece of work, shorter than what peers and proxies keep.
constexpr std::chrono::seconds idle_time{50};

} // namespace

std::string host_field(const target& where) {
  if (!where.unix_path.empty())
    return where.host.empty() ? "localhost" : where.host;
  const bool v6 = where.host.find(':') != std::string::npos;
  const std::string host = v6 ? "[" + where.host + "]" : where.host;
  return where.port == (where.tls ? 443 : 80) ? host : host + ":" + std::to_string(where.port);
}

connection_pool::connection_pool(boost::asio::io_context& io, target where, std::size_t idle)
    : anchored(io), io_(&io), where_(std::move(where)), host_(host_field(where_)), keep_(idle) {}

std::shared_ptr<tls_settings> connection_pool::tls(std::string& error) {
  if (!where_.tls || !where_.unix_path.empty())
    return nullptr;
  std::lock_guard lock(guard_);
  if (!tls_)
    tls_ = load_tls(where_, error);
  return tls_;
}

std::shared_ptr<pipe> connection_pool::take() {
  std::lock_guard lock(guard_);
  if (idle_.empty())
    return nullptr;
  auto out = std::move(idle_.back());
  idle_.pop_back();
  return out;
}

void connection_pool::give_back(const std::shared_ptr<pipe>& it) {
  {
    std::lock_guard lock(guard_);
    if (closed_ || idle_.size() >= keep_)
      return it->close();
    idle_.push_back(it);
  }
  // The peer closes, sends what nobody asked for, or is not needed for long: in each case it goes,
  // unless an exchange took it in the meantime and looks for itself.
  const auto gone = [pool = weak_from_this(), it = it.get()] {
    if (const auto self = pool.lock(); self && self->forget(it))
      it->close();
  };
  it->watch(gone);
  it->arm(idle_time, gone);
}

bool connection_pool::forget(const pipe* it) {
  std::lock_guard lock(guard_);
  return std::erase_if(idle_, [&](const auto& kept) { return kept.get() == it; }) > 0;
}

void connection_pool::close() {
  std::vector<std::shared_ptr<pipe>> idle;
  {
    std::lock_guard lock(guard_);
    closed_ = true;
    idle.swap(idle_);
  }
  for (const auto& it : idle)
    it->post([it] { it->close(); });
}

void connection_pool::abandon() noexcept {
  io_ = nullptr;
  idle_.clear();
}

} // namespace ahpd::transport
