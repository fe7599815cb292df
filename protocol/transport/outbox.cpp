#include "protocol/transport/outbox.hpp"

#include <boost/asio/error.hpp>

namespace asio = boost::asio;

namespace ahpd::transport {

namespace {

constexpr std::size_t join_below = 4u << 10; ///< larger bodies are gathered, not copied
constexpr std::size_t batch_bytes = 256u << 10;
constexpr std::size_t batch_buffers = 62;     ///< Asio hands 64 to the kernel at most
constexpr std::size_t keep_bytes = 16u << 10; ///< joining memory that an idle connection may keep

} // namespace

outbox::outbox(asio::io_context& io, std::shared_ptr<pipe> into, std::size_t limit)
    : anchored(io), pipe_(std::move(into)), limit_(limit) {}

outbox::taken outbox::put(piece&& what) {
  std::deque<piece> freed; // destroyed after the lock: a completion may own anything
  {
    std::lock_guard lock(guard_);
    if (sealed_)
      return taken::no;
    const std::size_t n = what.size();
    if (n > limit_ || size_ > limit_ - n) {
      for (const auto& waiting : queue_)
        size_ -= waiting.size();
      freed.swap(queue_);
      sealed_ = true;
      return taken::over;
    }
    size_ += n;
    queue_.push_back(std::move(what));
    if (std::exchange(awake_, true))
      return taken::yes;
  }
  pipe_->post([self = shared_from_this()] { self->flush(); });
  return taken::yes;
}

void outbox::seal() {
  std::lock_guard lock(guard_);
  sealed_ = true;
}

bool outbox::seal(piece&& last) {
  {
    std::lock_guard lock(guard_);
    sealed_ = true;
    if (std::exchange(has_last_, true))
      return false;
    size_ += last.size();
    queue_.push_back(std::move(last));
    if (std::exchange(awake_, true))
      return true;
  }
  pipe_->post([self = shared_from_this()] { self->flush(); });
  return true;
}

std::size_t outbox::size() const {
  std::lock_guard lock(guard_);
  return size_;
}

void outbox::clear() {
  std::deque<piece> freed;
  std::lock_guard lock(guard_);
  sealed_ = true;
  for (const auto& waiting : queue_)
    size_ -= waiting.size();
  freed.swap(queue_);
}

void outbox::abandon() noexcept {
  clear();
  const auto batch = std::exchange(batch_, {});
  const auto failed = std::exchange(failed_, {});
}

void outbox::flush() {
  if (!pipe_->is_open())
    return fail(asio::error::not_connected);
  if (!take_batch())
    return;
  lay_out();
  write();
}

/// Moves what fits into one write out of the queue; false when nothing waits.
bool outbox::take_batch() {
  batch_.clear();
  std::size_t bytes = 0, buffers = 1;
  std::lock_guard lock(guard_);
  while (!queue_.empty() && bytes < batch_bytes && buffers < batch_buffers) {
    const piece& it = queue_.front();
    bytes += it.size();
    buffers += it.head.size() < join_below ? 0 : 2;
    buffers += !it.body || it.body->size() < join_below ? 0 : 2;
    batch_.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  awake_ = !batch_.empty();
  return awake_;
}

/// Copies runs of small pieces together and lists the buffers of the batch.
void outbox::lay_out() {
  std::size_t copied = 0;
  const auto each_text = [&](auto&& use) {
    for (const auto& it : batch_) {
      use(it.head);
      if (it.body)
        use(*it.body);
    }
  };
  each_text([&](const std::string& text) { copied += text.size() < join_below ? text.size() : 0; });
  buffers_.clear();
  next_ = 0;
  joined_.clear();
  joined_.reserve(copied); // the buffers point into it
  std::size_t run = 0;
  const auto end_run = [&] {
    if (joined_.size() > run)
      buffers_.emplace_back(joined_.data() + run, joined_.size() - run);
    run = joined_.size();
  };
  each_text([&](const std::string& text) {
    if (text.size() < join_below) {
      joined_ += text;
      return;
    }
    end_run();
    buffers_.emplace_back(text.data(), text.size());
  });
  end_run();
}

void outbox::write() {
  if (next_ == buffers_.size()) // pieces that only mark a place in the queue
    return written({}, 0);
  pipe_->write_some(
    buffers_.data() + next_, buffers_.size() - next_,
    [self = shared_from_this()](error_code ec, std::size_t n) { self->written(ec, n); });
}

void outbox::written(error_code ec, std::size_t n) {
  {
    std::lock_guard lock(guard_);
    size_ -= n;
  }
  taken_ += n;
  if (ec)
    return fail(ec);
  while (next_ < buffers_.size() && n >= buffers_[next_].size())
    n -= buffers_[next_++].size();
  if (next_ < buffers_.size()) {
    buffers_[next_] += n;
    return write();
  }
  if (joined_.capacity() > keep_bytes)
    joined_ = {};
  for (auto& it : std::exchange(batch_, {}))
    if (it.done)
      it.done({}, it.size());
  flush();
}

void outbox::fail(error_code ec) {
  std::deque<piece> lost;
  {
    std::lock_guard lock(guard_);
    sealed_ = true;
    lost.swap(queue_);
    size_ = 0;
  }
  for (auto& it : std::exchange(batch_, {}))
    if (it.done)
      it.done(ec, 0);
  for (auto& it : lost)
    if (it.done)
      it.done(ec, 0);
  if (auto failed = std::exchange(failed_, {}))
    failed(ec);
}

} // namespace ahpd::transport
