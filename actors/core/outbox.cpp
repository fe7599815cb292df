#include "actors/core/outbox.hpp"

#include <algorithm>

namespace ahpd::core {

outbox::outbox(std::shared_ptr<transport::websocket> socket,
               std::function<void(const std::string&)> tap)
    : socket_(std::move(socket)), tap_(std::move(tap)) {}

void outbox::push(entry what) {
  std::lock_guard lock(guard_);
  waiting_bytes_ += what.frame->size();
  waiting_.push_back(std::move(what));
  drain();
  if (waiting_bytes_ <= most_waiting)
    return;
  waiting_.clear();
  waiting_bytes_ = 0;
  if (auto socket = socket_.lock())
    socket->close(1013, "too much waits for an answer");
}

bool outbox::offer(transport::frame frame) {
  std::lock_guard lock(guard_);
  const auto socket = socket_.lock();
  if (!socket)
    return true; // nobody misses it
  if (waiting_bytes_ + socket->queued_bytes() > most_offered)
    return false;
  waiting_bytes_ += frame->size();
  waiting_.push_back({std::move(frame), 0, false});
  drain();
  return true;
}

std::uint64_t outbox::reserve() {
  std::lock_guard lock(guard_);
  waiting_.push_back({nullptr, ++last_slot_, false});
  return last_slot_;
}

void outbox::postpone(std::uint64_t slot) {
  std::lock_guard lock(guard_);
  const auto i = find(slot);
  if (i == waiting_.end())
    return;
  waiting_.erase(i);
  waiting_.push_back({nullptr, slot, false});
  drain();
}

void outbox::fill(std::uint64_t slot, transport::frame answer) {
  std::lock_guard lock(guard_);
  const auto i = find(slot);
  if (i == waiting_.end())
    return;
  waiting_bytes_ += answer->size();
  i->frame = std::move(answer);
  drain();
}

void outbox::take_back_actions() {
  std::lock_guard lock(guard_);
  for (const auto& e : waiting_)
    waiting_bytes_ -= e.action ? e.frame->size() : 0;
  waiting_.erase(
    std::remove_if(waiting_.begin(), waiting_.end(), [](const auto& e) { return e.action; }),
    waiting_.end());
  drain();
}

void outbox::close(std::uint16_t code, std::string_view why) {
  if (auto socket = socket_.lock())
    socket->close(code, why);
}

std::deque<outbox::entry>::iterator outbox::find(std::uint64_t slot) {
  return std::find_if(waiting_.begin(), waiting_.end(),
                      [&](const auto& e) { return e.slot == slot; });
}

void outbox::drain() {
  const auto socket = socket_.lock();
  while (!waiting_.empty() && waiting_.front().frame) {
    auto frame = std::move(waiting_.front().frame);
    waiting_.pop_front();
    waiting_bytes_ -= frame->size();
    if (!socket)
      continue;
    if (tap_)
      tap_(*frame);
    socket->send(std::move(frame));
  }
}

} // namespace ahpd::core
