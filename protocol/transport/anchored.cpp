#include "protocol/transport/anchored.hpp"

#include <mutex>

namespace asio = boost::asio;

namespace ahpd::transport {

/// The anchored objects of one io_context, as a list through the objects themselves.
struct anchorage {
  std::mutex guard;
  anchored* first = nullptr;

  void link(anchored* it) {
    std::lock_guard lock(guard);
    it->after_ = first;
    if (first)
      first->before_ = it;
    first = it;
    it->linked_ = true;
  }

  void unlink(anchored* it) {
    std::lock_guard lock(guard);
    unlink_locked(it);
  }

  void abandon_all() {
    while (true) {
      anchored* it = nullptr;
      {
        std::lock_guard lock(guard);
        if (!first)
          return;
        it = first;
        unlink_locked(it);
      }
      it->abandon(); // may destroy other anchored objects, so the lock is not held
    }
  }

private:
  void unlink_locked(anchored* it) {
    if (!it->linked_)
      return;
    if (it->before_)
      it->before_->after_ = it->after_;
    else
      first = it->after_;
    if (it->after_)
      it->after_->before_ = it->before_;
    it->before_ = it->after_ = nullptr;
    it->linked_ = false;
  }
};

namespace {

/// Hears of the io_context's end.
class anchor_service : public asio::execution_context::service {
public:
  static inline asio::execution_context::id id;

  explicit anchor_service(asio::execution_context& io) : service(io) {}

  std::shared_ptr<anchorage> all = std::make_shared<anchorage>();

private:
  void shutdown() override { all->abandon_all(); }
};

} // namespace

anchored::anchored(asio::io_context& io)
    : where_(asio::use_service<anchor_service>(static_cast<asio::execution_context&>(io)).all) {
  where_->link(this);
}

anchored::~anchored() {
  where_->unlink(this);
}

} // namespace ahpd::transport
