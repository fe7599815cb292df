#include "protocol/transport/file_sending.hpp"

#include <fcntl.h>

#include <algorithm>

namespace ahpd::transport {

namespace {

constexpr std::uint64_t piece_bytes = 1u << 20;

class file_sending final : public std::enable_shared_from_this<file_sending> {
public:
  file_sending(std::shared_ptr<pipe> over, std::shared_ptr<const file_body> what,
               std::chrono::seconds patience, std::function<void(bool whole)> done)
      : pipe_(std::move(over)), what_(std::move(what)), patience_(patience), done_(std::move(done)),
        at_(what_->offset), left_(what_->size) {}

  void next() {
    if (left_ == 0)
      return done_(true);
    if (!unchanged())
      return done_(false);
    pipe_->arm(patience_, [over = pipe_] { over->close(); });
    pipe_->send_file(what_->descriptor, at_, static_cast<std::size_t>(std::min(left_, piece_bytes)),
                     [self = shared_from_this()](error_code ec, std::size_t n) {
                       if (ec || n == 0) // the file has become shorter
                         return self->done_(false);
                       self->at_ += n;
                       self->left_ -= n;
                       self->next();
                     });
  }

private:
  bool unchanged() const {
    try {
      return !what_->unchanged || what_->unchanged();
    } catch (...) { // the owner's fault; the peer gets to know that the body is not whole
      return false;
    }
  }

  const std::shared_ptr<pipe> pipe_;
  const std::shared_ptr<const file_body> what_;
  const std::chrono::seconds patience_;
  const std::function<void(bool whole)> done_;
  std::uint64_t at_;
  std::uint64_t left_;
};

} // namespace

void send_file_body(std::shared_ptr<pipe> over, std::shared_ptr<const file_body> what,
                    std::chrono::seconds patience, std::function<void(bool whole)> done) {
  // A hint; where the system has no use for it, nothing is lost.
  ::posix_fadvise(what->descriptor, static_cast<off_t>(what->offset),
                  static_cast<off_t>(what->size), POSIX_FADV_SEQUENTIAL);
  std::make_shared<file_sending>(std::move(over), std::move(what), patience, std::move(done))
    ->next();
}

} // namespace ahpd::transport
