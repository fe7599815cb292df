#include "actors/sandbox/edit_history.hpp"

#include <functional>

namespace ahpd::sandbox {

std::unique_lock<std::mutex> edit_history::editing(const std::string& key) {
  return std::unique_lock(files_.at(std::hash<std::string>{}(key) % files_.size()));
}

std::size_t edit_history::size_of(const step& what) const {
  return what.key.size() + (what.before ? what.before->size() : 0);
}

void edit_history::add(const std::string& key, content before) {
  const std::lock_guard alone(guard_);
  steps_.push_back({key, std::move(before)});
  by_key_[key].push_back(std::prev(steps_.end()));
  bytes_ += size_of(steps_.back());
  while (!steps_.empty() && (bytes_ > most_.bytes || steps_.size() > most_.edits))
    forget(steps_.begin());
}

std::optional<edit_history::content> edit_history::newest(const std::string& key) const {
  const std::lock_guard alone(guard_);
  const auto i = by_key_.find(key);
  if (i == by_key_.end())
    return std::nullopt;
  return std::optional<content>(std::in_place, i->second.back()->before);
}

void edit_history::drop_newest(const std::string& key) {
  const std::lock_guard alone(guard_);
  if (const auto i = by_key_.find(key); i != by_key_.end())
    forget(i->second.back());
}

/// The oldest or the newest step of its file.
void edit_history::forget(steps::iterator what) {
  const auto i = by_key_.find(what->key);
  if (i->second.front() == what)
    i->second.pop_front();
  else
    i->second.pop_back();
  if (i->second.empty())
    by_key_.erase(i);
  bytes_ -= size_of(*what);
  steps_.erase(what);
}

} // namespace ahpd::sandbox
