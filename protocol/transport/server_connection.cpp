#include "protocol/transport/server_connection.hpp"

#include "protocol/transport/websocket_session.hpp"

#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <atomic>

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace ahpd::transport {

namespace {

constexpr std::size_t read_bytes = 4u << 10;
constexpr std::size_t body_read_bytes = 64u << 10; ///< once a body is awaited
constexpr std::size_t piece_bytes = 256u << 10;    ///< of a body that goes to a taker

} // namespace

/// Where the answer to one request goes. Forgetting to answer answers, too.
struct server_connection::reply_slot {
  std::shared_ptr<server_connection> to;
  std::atomic<bool> used = false;

  explicit reply_slot(std::shared_ptr<server_connection> it) : to(std::move(it)) {}
  ~reply_slot() { give(sentence(500, "the request was not answered")); }

  void give(http_response what) {
    if (!used.exchange(true))
      to->pipe_->post([it = to, what = std::move(what)]() mutable {
        if (it->parser_) // else the request was refused before its end
          it->respond(std::move(what), true);
      });
  }
};

/// What the taker of a body calls for more of it. Dropping it uncalled gives the rest up.
struct server_connection::piece_slot {
  std::shared_ptr<server_connection> to;
  std::atomic<bool> used = false;

  explicit piece_slot(std::shared_ptr<server_connection> it) : to(std::move(it)) {}
  ~piece_slot() {
    if (!used.exchange(true))
      to->pipe_->post([it = to] { it->end_intake(false); });
  }

  void more() {
    if (!used.exchange(true))
      to->pipe_->post([it = to] {
        if (it->intake_)
          it->hand_on();
      });
  }
};

server_connection::server_connection(asio::io_context& io, std::shared_ptr<server_core> of,
                                     std::shared_ptr<pipe> over,
                                     std::shared_ptr<server_core::ticket> ticket)
    : anchored(io), io_(io), core_(std::move(of)), pipe_(over),
      out_(std::make_shared<outbox>(io, over, std::numeric_limits<std::size_t>::max())),
      ticket_(std::move(ticket)) {}

void server_connection::start() {
  ticket_->ends_by([over = std::weak_ptr(pipe_)](const std::string&) {
    if (const auto it = over.lock())
      it->post([it] { it->close(); });
  });
  pipe_->post(
    [self = shared_from_this()] { self->await_request(self->core_->bounds.request_time); });
}

void server_connection::abandon() noexcept {
  const auto self = weak_from_this().lock(); // what the owner gave may be the last that holds it
  const auto taker = std::exchange(intake_, std::nullopt);
  const auto stream = std::exchange(stream_, std::nullopt);
}

void server_connection::await_request(std::chrono::seconds patience) {
  if (!pipe_->is_open())
    return;
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(core_->bounds.header_bytes));
  parser_->body_limit(boost::none); // until it is known whether somebody takes the body
  header_seen_ = begun_ = head_only_ = false;
  pipe_->arm(patience, [self = shared_from_this()] { self->late(); });
  if (in_.size() > 0)
    parse();
  else
    read();
}

void server_connection::read() {
  if (intake_)
    pipe_->arm(core_->bounds.request_time, [self = shared_from_this()] { self->late(); });
  reading_ = true;
  pipe_->read_some(in_.prepare(room()), [self = shared_from_this()](error_code ec, std::size_t n) {
    self->received(ec, n);
  });
}

/// How much is read at once.
std::size_t server_connection::room() const {
  if (!header_seen_)
    return read_bytes;
  if (intake_) // what is left of the line before a chunk counts, so that a piece has its bound
    return piece_bytes - std::min(in_.size(), piece_bytes - read_bytes);
  const auto left = parser_->content_length_remaining();
  return std::clamp<std::uint64_t>(left.value_or(body_read_bytes), read_bytes, body_read_bytes);
}

void server_connection::received(error_code ec, std::size_t n) {
  reading_ = false;
  in_.commit(n);
  if (stream_)
    return ec ? stream_lost() : read_ahead();
  if (const auto keep = std::exchange(keep_after_reading_, std::nullopt))
    return responded({}, *keep); // what was wrong with the read shows at the next one
  if (!parser_)
    return; // answered while this was on its way
  if (!ec)
    return parse();
  pipe_->close();
  end_intake(false);
}

void server_connection::parse() {
  if (!std::exchange(begun_, true))
    pipe_->arm(core_->bounds.request_time, [self = shared_from_this()] { self->late(); });
  while (true) {
    error_code ec;
    parser_->feed(in_, ec);
    if (ec)
      return refuse_parsed(ec);
    if (!header_seen_ && parser_->is_header_done()) {
      header_seen_ = true;
      if (!check_header())
        return;
    } else if (!parser_->is_done() && header_seen_ && in_.size() > core_->bounds.header_bytes) {
      return refuse(400, "the line before a chunk of the request's body is too long");
    } else if (intake_) {
      return hand_on();
    } else if (parser_->is_done()) {
      return serve();
    } else {
      return read();
    }
  }
}

void server_connection::refuse_parsed(error_code why) {
  if (why == http::error::header_limit)
    return refuse(431, "the request's header is longer than " +
                         std::to_string(core_->bounds.header_bytes) + " bytes");
  if (why == http::error::body_limit)
    return refuse(413, "the request's body is longer than " +
                         std::to_string(core_->bounds.body_bytes) + " bytes");
  refuse(400, "the request is not HTTP/1.1: " + why.message());
}

/// False when the request is answered with its header.
bool server_connection::check_header() {
  const auto& headers = parser_->what.headers;
  if (parser_->repeated_host || (parser_->is_http11 && !headers.count("Host"))) {
    refuse(400, "the request must have one Host field");
    return false;
  }
  if (parser_->is_done())
    return true;
  const bool expects = has_token(value_of(headers, "Expect"), "100-continue") && in_.size() == 0;
  if (!offer_body() || !within_bounds())
    return false;
  if (expects)
    out_->put({"HTTP/1.1 100 Continue\r\n\r\n", nullptr, {}});
  return true;
}

/// Asks the owner whether it takes the body in pieces. False: it answers already.
bool server_connection::offer_body() {
  if (!core_->handlers.on_body || core_->closing())
    return true;
  const auto slot = std::make_shared<reply_slot>(shared_from_this());
  parser_->what.peer = pipe_->peer();
  head_only_ = parser_->what.method == "HEAD";
  try {
    if (auto taker = core_->handlers.on_body(
          parser_->what, [slot](http_response answer) { slot->give(std::move(answer)); }))
      intake_.emplace(intake{std::move(*taker), {}});
  } catch (...) { // as in `serve`
    slot->give(sentence(500, "internal error"));
  }
  if (!intake_)
    return !slot->used.exchange(true); // this slot's end is no answer
  parser_->body_to = [this](std::string_view bytes) { intake_->piece.append(bytes); };
  return !slot->used;
}

/// The bound of a body that is held whole. Beast would ask for it before the owner is asked.
bool server_connection::within_bounds() {
  if (intake_)
    return true;
  const auto most = core_->bounds.body_bytes;
  parser_->body_limit(most); // of a chunked one
  if (parser_->content_length().value_or(0) <= most)
    return true;
  refuse_parsed(http::error::body_limit);
  return false;
}

/// Gives the taker what was read; reads on when there is nothing to give.
void server_connection::hand_on() {
  pipe_->disarm();
  if (intake_->piece.empty())
    return parser_->is_done() ? end_intake(true) : read();
  const auto slot = std::make_shared<piece_slot>(shared_from_this());
  try {
    intake_->to.take(std::exchange(intake_->piece, {}), [slot] { slot->more(); });
  } catch (...) { // as in `serve`
    refuse(500, "internal error");
  }
}

void server_connection::end_intake(bool whole) {
  if (!intake_)
    return;
  const auto was = *std::exchange(intake_, std::nullopt);
  try {
    was.to.end(whole);
  } catch (...) { // the answer is still to be given, or dropped
  }
}

/// The request did not come in time. A peer that said nothing is owed nothing.
void server_connection::late() {
  if (intake_)
    refuse(408, "nothing came of the request's body for " +
                  std::to_string(core_->bounds.request_time.count()) + " s");
  else if (begun_)
    refuse(408, "the request took longer than " +
                  std::to_string(core_->bounds.request_time.count()) + " s to arrive");
  else
    pipe_->close();
}

void server_connection::serve() {
  pipe_->disarm();
  auto what = std::move(parser_->what);
  what.peer = pipe_->peer();
  head_only_ = what.method == "HEAD";
  if (core_->handlers.on_upgrade && has_token(value_of(what.headers, "Connection"), "upgrade") &&
      has_token(value_of(what.headers, "Upgrade"), "websocket"))
    return upgrade(what);
  const auto slot = std::make_shared<reply_slot>(shared_from_this());
  try {
    if (core_->handlers.on_request && !core_->closing())
      core_->handlers.on_request(std::move(what),
                                 [slot](http_response answer) { slot->give(std::move(answer)); });
    else
      slot->give(sentence(404, "nothing is served here"));
  } catch (...) { // the owner's fault; the peer gets to know that there was one
    slot->give(sentence(500, "internal error"));
  }
}

/// Offers the request to the owner, who refuses it or takes the socket.
void server_connection::upgrade(const http_request& what) {
  if (auto fault = upgrade_fault(what))
    return respond(std::move(*fault), true);
  upgrade_answer answer = sentence(503, "the server is going away");
  try {
    if (!core_->closing())
      answer = core_->handlers.on_upgrade(what);
  } catch (...) { // as in `serve`
    answer = sentence(500, "internal error");
  }
  if (auto* refusal = std::get_if<http_response>(&answer))
    return respond(std::move(*refusal), true);
  const auto rest = in_.data();
  pipe_->unread({static_cast<const char*>(rest.data()), rest.size()});
  parser_.reset();
  auto ticket = std::exchange(ticket_, {});
  const std::weak_ptr<websocket> opened = accept_websocket(
    io_, pipe_, what, core_->bounds.websocket, std::get<1>(std::move(answer)), ticket);
  ticket->ends_by([opened](const std::string& why) {
    if (const auto it = opened.lock())
      it->close(1001, why);
  });
}

/// What is wrong with a WebSocket upgrade before anyone is asked about it.
std::optional<http_response> server_connection::upgrade_fault(const http_request& what) const {
  if (what.method != "GET")
    return sentence(400, "a WebSocket upgrade must be a GET request");
  if (value_of(what.headers, "Sec-WebSocket-Version") != "13") {
    auto out = sentence(426, "the field Sec-WebSocket-Version must be 13");
    out.headers.emplace("Sec-WebSocket-Version", "13");
    return out;
  }
  if (value_of(what.headers, "Sec-WebSocket-Key").size() != 24)
    return sentence(400, "the field Sec-WebSocket-Key must be 16 bytes in base64");
  return std::nullopt;
}

/// Answers a request that could not be read to its end; the connection is of no more use.
void server_connection::refuse(unsigned status, const std::string& why) {
  respond(sentence(status, why), false);
}

} // namespace ahpd::transport
