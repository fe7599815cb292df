#include "actors/core/clients.hpp"

namespace ahpd::core {

void clients::remember(const std::string& id, client_memory what) {
  std::lock_guard lock(guard_);
  const auto known = by_id_.find(id);
  if (known != by_id_.end()) {
    newest_first_.erase(known->second);
  } else if (newest_first_.size() == most) {
    by_id_.erase(newest_first_.back().first);
    newest_first_.pop_back();
  }
  newest_first_.emplace_front(id, std::move(what));
  by_id_[id] = newest_first_.begin();
}

std::optional<client_memory> clients::find(const std::string& id) const {
  std::lock_guard lock(guard_);
  const auto known = by_id_.find(id);
  if (known == by_id_.end())
    return std::nullopt;
  return known->second->second;
}

} // namespace ahpd::core
