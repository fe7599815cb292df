#include "actors/core/directory.hpp"

namespace ahpd::core {

std::shared_ptr<channel> directory::claim(const std::string& uri, ahp::channel_kind kind,
                                          const caf::actor& owner, json::value initial) {
  std::lock_guard lock(guard_);
  auto& e = entries_[uri];
  if (!e.channel)
    e.channel = std::make_shared<core::channel>(kind, uri, std::move(initial));
  e.owner = owner;
  return e.channel;
}

std::shared_ptr<channel> directory::find(const std::string& uri) const {
  std::lock_guard lock(guard_);
  const auto i = entries_.find(uri);
  return i == entries_.end() ? nullptr : i->second.channel;
}

caf::actor directory::owner_of(const std::string& uri) const {
  std::lock_guard lock(guard_);
  const auto i = entries_.find(uri);
  return i == entries_.end() ? caf::actor{} : i->second.owner;
}

void directory::remove(const std::string& uri) {
  std::lock_guard lock(guard_);
  entries_.erase(uri);
}

std::vector<std::string> directory::of_kind(ahp::channel_kind kind) const {
  std::lock_guard lock(guard_);
  std::vector<std::string> out;
  for (const auto& [uri, e] : entries_)
    if (e.channel->kind == kind)
      out.push_back(uri);
  return out;
}

} // namespace ahpd::core
