#pragma once

#include "protocol/transport/http_codec.hpp"
#include "protocol/transport/pool.hpp"

#include <atomic>
#include <mutex>

namespace ahpd::transport {

/// What becomes of an answer: exactly one of the three uses is filled in.
struct answer_use {
  std::function<void(http_result)> whole;
  std::optional<stream_events> streamed;
  std::function<stream_events(std::shared_ptr<byte_stream>)> opened;
  std::function<void(http_response)> refused; ///< with `streamed` and `opened`
};

/// One request and its answer, on a connection of the pool or a fresh one.
class http_exchange final : public std::enable_shared_from_this<http_exchange> {
public:
  http_exchange(std::shared_ptr<connection_pool> from, http_request what, request_options how,
                answer_use use);

  /// Any thread, once.
  void start();
  /// Any thread: closes the connection and drops the callbacks; nothing once the answer was given.
  void cancel();

private:
  void take(std::shared_ptr<pipe> connection, bool reused);
  bool is_on(const std::shared_ptr<pipe>& connection);
  void begin();
  void send();
  void read();
  void received(error_code ec, std::size_t n);
  void parse();
  bool look_at_header();
  void open();
  void broken(error_code ec);
  void complete();
  void fail(const std::string& why);
  void release();
  bool sent_anything() const;
  std::string name() const { return what_.method + " " + what_.target; }

  const std::shared_ptr<connection_pool> pool_;
  const request_options how_;
  const std::chrono::steady_clock::time_point deadline_;
  http_request what_;
  std::string head_;
  frame body_;
  std::string error_; ///< why the request cannot be sent at all
  answer_use use_;

  std::atomic<bool> cancelled_ = false;
  std::mutex guard_; ///< of `pipe_` being replaced while another thread cancels
  std::shared_ptr<pipe> pipe_;
  std::shared_ptr<outbox> out_;
  bool reused_ = false;
  bool asked_ = false; ///< the request was given to `out_`
  bool wrote_all_ = false;
  bool heard_ = false;
  bool header_seen_ = false;
  bool finished_ = false;
  boost::beast::flat_buffer in_;
  std::optional<message_parser<false>> parser_;
};

} // namespace ahpd::transport
