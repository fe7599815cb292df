#pragma once

#include "protocol/transport/outbox.hpp"

#include <atomic>

namespace ahpd::transport {

/// A connected pipe as a byte stream.
class raw_stream final : public byte_stream, public std::enable_shared_from_this<raw_stream> {
public:
  raw_stream(boost::asio::io_context& io, std::shared_ptr<pipe> over);

  /// On the strand, once: starts to read.
  void start(stream_events events);

  void write(std::string bytes) override;
  void close_write() override;
  void pause() override;
  void resume() override;
  void close() override;
  std::size_t queued_bytes() const override { return out_->size(); }

private:
  void read();
  void end(std::optional<failure> why);
  void release();

  const std::shared_ptr<pipe> pipe_;
  const std::shared_ptr<outbox> out_;
  std::atomic<bool> paused_ = false;
  std::atomic<bool> closed_ = false;

  // On the strand.
  stream_events events_;
  std::string in_;
  bool reading_ = false;
  bool ended_ = false;
};

} // namespace ahpd::transport
