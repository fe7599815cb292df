#include "protocol/transport/raw_stream.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

#include <limits>

namespace asio = boost::asio;

namespace ahpd::transport {

namespace {

constexpr std::size_t read_bytes = 16u << 10;

} // namespace

raw_stream::raw_stream(asio::io_context& io, std::shared_ptr<pipe> over)
    : pipe_(std::move(over)),
      out_(std::make_shared<outbox>(io, pipe_, std::numeric_limits<std::size_t>::max())) {}

void raw_stream::start(stream_events events) {
  if (closed_)
    return;
  events_ = std::move(events);
  in_.resize(read_bytes);
  read();
}

void raw_stream::write(std::string bytes) {
  out_->put({std::move(bytes), nullptr, {}});
}

void raw_stream::close_write() {
  out_->seal({{}, nullptr, [to = pipe_](error_code ec, std::size_t) {
                if (!ec)
                  to->shutdown_write();
              }});
}

void raw_stream::pause() {
  paused_ = true;
}

void raw_stream::resume() {
  if (paused_.exchange(false))
    pipe_->post([self = shared_from_this()] { self->read(); });
}

void raw_stream::close() {
  if (!closed_.exchange(true))
    pipe_->post([self = shared_from_this()] { self->release(); });
}

void raw_stream::read() {
  if (reading_ || paused_ || ended_ || closed_ || in_.empty())
    return;
  reading_ = true;
  pipe_->read_some(asio::buffer(in_), [self = shared_from_this()](error_code ec, std::size_t n) {
    self->reading_ = false;
    if (self->closed_)
      return;
    if (ec == asio::error::eof || ec == asio::ssl::error::stream_truncated)
      return self->end({});
    if (ec)
      return self->end(failure{"the stream broke: " + plain_text(ec), true});
    if (self->events_.on_data)
      self->events_.on_data({self->in_.data(), n});
    self->read();
  });
}

void raw_stream::end(std::optional<failure> why) {
  const auto events = std::move(events_);
  release();
  if (events.on_end)
    events.on_end(std::move(why));
}

void raw_stream::release() {
  ended_ = true;
  closed_ = true;
  events_ = {};
  out_->clear();
  pipe_->close();
}

} // namespace ahpd::transport
