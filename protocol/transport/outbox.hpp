#pragma once

#include "protocol/transport/pipe.hpp"
#include "protocol/transport/websocket.hpp"

#include <cstdint>
#include <deque>
#include <mutex>

namespace ahpd::transport {

/// Bytes on their way into a pipe. Any thread puts in; the strand is woken at most once per burst
/// and takes out as much as fits into one write: small pieces are joined, large ones are gathered.
class outbox final : public anchored, public std::enable_shared_from_this<outbox> {
public:
  /// What goes out in one piece: `head`, then `body`, which may be shared with other outboxes.
  struct piece {
    std::string head;
    frame body;
    completion done; ///< on the strand, once the kernel took the piece or the outbox failed

    std::size_t size() const { return head.size() + (body ? body->size() : 0); }
  };
  enum class taken {
    yes,
    no,   ///< sealed before
    over, ///< past the limit: the queue is freed and sealed
  };

  /// `failed` is called once on the strand when the pipe does not take bytes any more.
  outbox(boost::asio::io_context& io, std::shared_ptr<pipe> into, std::size_t limit);

  void on_failure(std::function<void(error_code)> failed) { failed_ = std::move(failed); }

  /// Any thread. Moves from `what` only when it is taken.
  taken put(piece&& what);
  /// Any thread: what is put later is refused.
  void seal();
  /// Any thread: as `seal`, but `last` still goes out, after what is queued now. False, and nothing
  /// is moved, when there was such a last piece before.
  bool seal(piece&& last);
  /// Any thread: bytes that the kernel has not taken.
  std::size_t size() const;

  /// On the strand: bytes that the kernel has taken till now.
  std::uint64_t taken_bytes() const { return taken_; }

  /// On the strand: frees the queue without a word to anyone.
  void clear();

private:
  void abandon() noexcept override;
  void flush();
  bool take_batch();
  void lay_out();
  void write();
  void written(error_code ec, std::size_t n);
  void fail(error_code ec);

  std::shared_ptr<pipe> pipe_;
  const std::size_t limit_;
  std::function<void(error_code)> failed_;

  mutable std::mutex guard_; ///< of the next five
  std::deque<piece> queue_;
  std::size_t size_ = 0;
  bool sealed_ = false;
  bool has_last_ = false;
  bool awake_ = false; ///< a flush is posted or running

  // The batch that is being written; only on the strand.
  std::vector<piece> batch_;
  std::string joined_;
  std::vector<boost::asio::const_buffer> buffers_;
  std::size_t next_ = 0; ///< first buffer that is not wholly written
  std::uint64_t taken_ = 0;
};

} // namespace ahpd::transport
