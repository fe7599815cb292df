#pragma once

#include "protocol/transport/http_codec.hpp"
#include "protocol/transport/outbox.hpp"
#include "protocol/transport/server_core.hpp"

namespace ahpd::transport {

/// One accepted connection until it ends or becomes a WebSocket: reads a request, has it answered,
/// and begins anew. How answers go is in server_answer.cpp.
class server_connection final : public anchored,
                                public std::enable_shared_from_this<server_connection> {
public:
  server_connection(boost::asio::io_context& io, std::shared_ptr<server_core> of,
                    std::shared_ptr<pipe> over, std::shared_ptr<server_core::ticket> ticket);

  /// Any thread, once.
  void start();

private:
  struct reply_slot;
  struct piece_slot;
  struct open_body;

  /// A request's body on its way to its taker.
  struct intake {
    body_taker to;
    std::string piece; ///< read and not handed on
  };
  /// An answer's body that goes on.
  struct streaming {
    bool chunked = false;
    bool keep = false; ///< what comes meanwhile is the next request
    std::function<void()> on_lost;
  };

  void abandon() noexcept override;

  void await_request(std::chrono::seconds patience);
  void read();
  std::size_t room() const;
  void received(error_code ec, std::size_t n);
  void parse();
  void refuse_parsed(error_code why);
  bool check_header();
  bool offer_body();
  bool within_bounds();
  void hand_on();
  void end_intake(bool whole);
  void late();
  void serve();
  void upgrade(const http_request& what);
  std::optional<http_response> upgrade_fault(const http_request& what) const;
  void refuse(unsigned status, const std::string& why);

  void respond(http_response what, bool keep);
  void respond_file(const http_response& what, bool keep);
  void respond_on(http_response what, bool chunked, bool keep);
  void stream(std::string bytes);
  void put_body(std::string bytes);
  void tell_taken(std::function<void()> due);
  void read_ahead();
  void end_stream();
  void streamed(error_code ec, bool keep);
  void cut_stream();
  void stream_lost();
  void watch_writing();
  void responded(error_code ec, bool keep);

  boost::asio::io_context& io_;
  const std::shared_ptr<server_core> core_;
  const std::shared_ptr<pipe> pipe_;
  const std::shared_ptr<outbox> out_;
  std::shared_ptr<server_core::ticket> ticket_;
  boost::beast::flat_buffer in_; ///< untouched while `reading_`
  bool reading_ = false;
  std::optional<message_parser<true>> parser_; ///< until the request is answered
  bool header_seen_ = false;
  bool begun_ = false; ///< a byte of the request came
  bool head_only_ = false;
  std::optional<intake> intake_;
  std::optional<streaming> stream_;
  std::optional<bool> keep_after_reading_; ///< a body that went on has ended, a read has not
  bool writing_watched_ = false;
};

/// An answer of one sentence in plain text.
http_response sentence(unsigned status, const std::string& why);

} // namespace ahpd::transport
