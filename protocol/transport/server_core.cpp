#include "protocol/transport/server_core.hpp"

namespace ahpd::transport {

server_core::ticket::~ticket() {
  std::function<void(const std::string&)> freed; // outside the lock: it may own a connection
  std::lock_guard lock(of_->guard_);
  if (const auto it = of_->open_.find(id_); it != of_->open_.end()) {
    freed.swap(it->second);
    of_->open_.erase(it);
  }
}

void server_core::ticket::ends_by(std::function<void(const std::string&)> end) {
  std::string why;
  {
    std::lock_guard lock(of_->guard_);
    if (!of_->closing_) {
      of_->open_[id_].swap(end);
      return;
    }
    why = of_->why_;
  }
  end(why);
}

std::shared_ptr<server_core::ticket> server_core::admit() {
  std::lock_guard lock(guard_);
  if (closing_ || open_.size() >= bounds.connections)
    return nullptr;
  open_[++last_id_];
  return std::make_shared<ticket>(shared_from_this(), last_id_);
}

void server_core::close(std::string_view why) {
  std::map<std::uint64_t, std::function<void(const std::string&)>> open;
  {
    std::lock_guard lock(guard_);
    if (std::exchange(closing_, true))
      return;
    why_ = why;
    open.swap(open_);
  }
  for (const auto& [id, end] : open)
    if (end)
      end(std::string(why));
}

bool server_core::closing() const {
  std::lock_guard lock(guard_);
  return closing_;
}

} // namespace ahpd::transport
