#pragma once

#include "protocol/transport/http_codec.hpp"
#include "protocol/transport/outbox.hpp"
#include "protocol/transport/server_core.hpp"

namespace ahpd::transport {

/// One accepted connection until it ends or becomes a WebSocket: reads a request, has it answered,
/// and begins anew.
class server_connection final : public std::enable_shared_from_this<server_connection> {
public:
  server_connection(boost::asio::io_context& io, std::shared_ptr<server_core> of,
                    std::shared_ptr<pipe> over, std::shared_ptr<server_core::ticket> ticket);

  /// Any thread, once.
  void start();

private:
  struct reply_slot;
  struct open_body;

  void await_request(std::chrono::seconds patience);
  void read();
  void received(error_code ec, std::size_t n);
  void parse();
  bool check_header();
  void late();
  void serve();
  void upgrade(const http_request& what);
  std::optional<http_response> upgrade_fault(const http_request& what) const;
  void refuse(unsigned status, const std::string& why);
  void respond(http_response what, bool keep);
  void respond_on(http_response what);
  void stream(std::string bytes);
  void watch_peer();
  void watch_stream(std::size_t left);
  void end_stream();
  void stream_lost();
  void watch_writing(std::size_t left);
  void responded(error_code ec, bool keep);

  boost::asio::io_context& io_;
  const std::shared_ptr<server_core> core_;
  const std::shared_ptr<pipe> pipe_;
  const std::shared_ptr<outbox> out_;
  std::shared_ptr<server_core::ticket> ticket_;
  boost::beast::flat_buffer in_;
  std::optional<message_parser<true>> parser_;
  bool header_seen_ = false;
  bool begun_ = false; ///< a byte of the request came
  bool head_only_ = false;
  bool streams_ = false; ///< a body that goes on is under way
  bool stream_watched_ = false;
  std::function<void()> on_stream_lost_;
};

} // namespace ahpd::transport
