#include "protocol/transport/server_connection.hpp"

#include "protocol/transport/websocket_session.hpp"

#include <boost/beast/http/error.hpp>

#include <atomic>

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace ahpd::transport {

namespace {

constexpr std::size_t read_bytes = 4u << 10;
constexpr std::size_t keep_bytes = 16u << 10; ///< reading memory that an idle connection may keep

http_response sentence(unsigned status, const std::string& why) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, why + "\n"};
}

bool has_body(unsigned status) {
  return status >= 200 && status != 204 && status != 304;
}

} // namespace

/// Where the answer to one request goes. Forgetting to answer answers, too.
struct server_connection::reply_slot {
  std::shared_ptr<server_connection> to;
  std::atomic<bool> used = false;

  explicit reply_slot(std::shared_ptr<server_connection> it) : to(std::move(it)) {}
  ~reply_slot() { give(sentence(500, "the request was not answered")); }

  void give(http_response what) {
    if (!used.exchange(true))
      to->pipe_->post(
        [it = to, what = std::move(what)]() mutable { it->respond(std::move(what), true); });
  }
};

/// The owner's end of a body that goes on.
struct server_connection::open_body final : body_stream {
  std::shared_ptr<server_connection> to;

  explicit open_body(std::shared_ptr<server_connection> it) : to(std::move(it)) {}
  ~open_body() override {
    to->pipe_->post([it = to] { it->end_stream(); });
  }

  void send(std::string bytes) override {
    to->pipe_->post(
      [it = to, bytes = std::move(bytes)]() mutable { it->stream(std::move(bytes)); });
  }
};

server_connection::server_connection(asio::io_context& io, std::shared_ptr<server_core> of,
                                     std::shared_ptr<pipe> over,
                                     std::shared_ptr<server_core::ticket> ticket)
    : io_(io), core_(std::move(of)), pipe_(over),
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

void server_connection::await_request(std::chrono::seconds patience) {
  if (!pipe_->is_open())
    return;
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(core_->bounds.header_bytes));
  parser_->body_limit(core_->bounds.body_bytes);
  header_seen_ = begun_ = false;
  pipe_->arm(patience, [self = shared_from_this()] { self->late(); });
  if (in_.size() > 0)
    parse();
  else
    read();
}

void server_connection::read() {
  pipe_->read_some(
    in_.prepare(read_bytes),
    [self = shared_from_this()](error_code ec, std::size_t n) { self->received(ec, n); });
}

void server_connection::received(error_code ec, std::size_t n) {
  if (!parser_)
    return; // late: refused while this was on its way
  if (ec)
    return pipe_->close();
  in_.commit(n);
  parse();
}

void server_connection::parse() {
  if (!std::exchange(begun_, true))
    pipe_->arm(core_->bounds.request_time, [self = shared_from_this()] { self->late(); });
  while (true) {
    error_code ec;
    parser_->feed(in_, ec);
    if (ec == http::error::header_limit)
      return refuse(431, "the request's header is longer than " +
                           std::to_string(core_->bounds.header_bytes) + " bytes");
    if (ec == http::error::body_limit)
      return refuse(413, "the request's body is longer than " +
                           std::to_string(core_->bounds.body_bytes) + " bytes");
    if (ec)
      return refuse(400, "the request is not HTTP/1.1: " + ec.message());
    if (!header_seen_ && parser_->is_header_done()) {
      header_seen_ = true;
      if (!check_header())
        return;
    } else if (parser_->is_done()) {
      return serve();
    } else {
      return read();
    }
  }
}

bool server_connection::check_header() {
  const auto& headers = parser_->what.headers;
  if (parser_->repeated_host || (parser_->is_http11 && !headers.count("Host"))) {
    refuse(400, "the request must have one Host field");
    return false;
  }
  if (has_token(value_of(headers, "Expect"), "100-continue") && !parser_->is_done() &&
      in_.size() == 0)
    out_->put({"HTTP/1.1 100 Continue\r\n\r\n", nullptr, {}});
  return true;
}

/// The request did not come in time. A peer that said nothing is owed nothing.
void server_connection::late() {
  if (begun_)
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

void server_connection::respond(http_response what, bool keep) {
  if (what.status < 200 || what.status > 599)
    what = sentence(500, "internal error");
  keep = keep && parser_ && parser_->is_done() && parser_->is_http11 && parser_->keep_alive() &&
         !core_->closing();
  parser_.reset();
  const bool body = has_body(what.status);
  if (what.goes_on && body && !head_only_)
    return respond_on(std::move(what));
  auto head = response_head(what, !keep, body);
  frame text;
  if (body && !std::exchange(head_only_, false))
    text = std::make_shared<const std::string>(std::move(what.body));
  out_->put(
    {std::move(head), std::move(text),
     [self = shared_from_this(), keep](error_code ec, std::size_t) { self->responded(ec, keep); }});
  watch_writing(std::numeric_limits<std::size_t>::max());
}

/// Answers with a body whose end is the connection's.
void server_connection::respond_on(http_response what) {
  pipe_->disarm();
  streams_ = true;
  stream(response_head(what, true, false) + what.body);
  watch_peer();
  try {
    on_stream_lost_ = what.goes_on(std::make_unique<open_body>(shared_from_this()));
  } catch (...) { // as in `serve`; what was dropped ends the body
  }
}

void server_connection::stream(std::string bytes) {
  if (!streams_)
    return;
  if (out_->size() + bytes.size() > core_->bounds.stream_bytes)
    return stream_lost();
  out_->put({std::move(bytes), nullptr, {}});
  if (!std::exchange(stream_watched_, true))
    watch_stream(std::numeric_limits<std::size_t>::max());
}

/// Nothing more is asked on this connection; reading tells when the peer is gone.
void server_connection::watch_peer() {
  in_.clear();
  pipe_->read_some(in_.prepare(read_bytes),
                   [self = shared_from_this()](error_code ec, std::size_t) {
                     if (ec)
                       return self->stream_lost();
                     if (self->streams_)
                       self->watch_peer();
                   });
}

/// As `watch_writing`, while something is on its way.
void server_connection::watch_stream(std::size_t left) {
  const auto now = out_->size();
  stream_watched_ = now > 0;
  if (!stream_watched_ || !streams_)
    return;
  if (now >= left)
    return stream_lost();
  pipe_->arm(core_->bounds.request_time,
             [self = shared_from_this(), now] { self->watch_stream(now); });
}

/// The owner has nothing more to say.
void server_connection::end_stream() {
  if (!std::exchange(streams_, false))
    return;
  const auto unused = std::exchange(on_stream_lost_, {});
  out_->put({{}, nullptr, [self = shared_from_this()](error_code, std::size_t) {
               self->pipe_->close();
               self->ticket_.reset();
             }});
  watch_writing(std::numeric_limits<std::size_t>::max());
}

void server_connection::stream_lost() {
  if (!std::exchange(streams_, false))
    return;
  pipe_->close();
  ticket_.reset();
  if (const auto told = std::exchange(on_stream_lost_, {}))
    told();
}

/// Closes when the peer took nothing for a while.
void server_connection::watch_writing(std::size_t left) {
  const auto now = out_->size();
  if (now >= left)
    return pipe_->close();
  pipe_->arm(core_->bounds.request_time,
             [self = shared_from_this(), now] { self->watch_writing(now); });
}

void server_connection::responded(error_code ec, bool keep) {
  if (ec)
    return pipe_->close();
  if (!keep) {
    pipe_->linger();
    return ticket_.reset();
  }
  if (in_.size() == 0 && in_.capacity() > keep_bytes)
    in_.shrink_to_fit();
  await_request(core_->bounds.keep_alive);
}

} // namespace ahpd::transport
