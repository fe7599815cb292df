#include "protocol/transport/websocket_session.hpp"

#include "protocol/random.hpp"
#include "protocol/transport/http_codec.hpp"
#include "protocol/transport/outbox.hpp"
#include "protocol/transport/pool.hpp"

#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <algorithm>
#include <atomic>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ws = beast::websocket;

namespace ahpd::transport {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::seconds close_time{3};
constexpr std::chrono::seconds handshake_time{30};
constexpr std::chrono::hours never{24 * 365};
constexpr std::size_t keep_bytes = 64u << 10; ///< reading memory that an idle socket may keep
constexpr std::size_t reason_bytes = 123;

/// Beast's way to the pipe. What Beast writes (handshakes, pongs, close frames) goes through the
/// outbox like our own frames, so it never lands inside one of them.
class pipe_layer {
public:
  using executor_type = io_strand;

  pipe_layer(std::shared_ptr<pipe> over, std::shared_ptr<outbox> out)
      : pipe_(std::move(over)), out_(std::move(out)), executor_(pipe_->executor()) {}

  executor_type get_executor() const noexcept { return executor_; }

  template <class Buffers, class Handler>
  auto async_read_some(const Buffers& into, Handler&& done) {
    return asio::async_initiate<Handler, void(error_code, std::size_t)>(
      [from = pipe_](auto handler, const Buffers& buffers) {
        auto it = asio::buffer_sequence_begin(buffers);
        while (std::next(it) != asio::buffer_sequence_end(buffers) &&
               asio::mutable_buffer(*it).size() == 0)
          ++it;
        from->read_some(*it, completion(std::move(handler)));
      },
      done, into);
  }

  template <class Buffers, class Handler>
  auto async_write_some(const Buffers& from, Handler&& done) {
    return asio::async_initiate<Handler, void(error_code, std::size_t)>(
      [this](auto handler, const Buffers& buffers) {
        write(beast::buffers_to_string(buffers), completion(std::move(handler)));
      },
      done, from);
  }

  /// Beast's timers are off, and the session ends the pipe itself.
  friend void beast_close_socket(pipe_layer&) {}
  template <class Handler>
  friend void async_teardown(beast::role_type, pipe_layer& it, Handler&& done) {
    asio::post(it.executor_,
               [done = std::forward<Handler>(done)]() mutable { std::move(done)(error_code()); });
  }

  /// The handshake is done: what is written from now on are frames.
  void open() { open_ = true; }

private:
  void write(std::string bytes, completion done) {
    const bool closes = open_ && (bytes[0] & 0x0f) == 8;
    outbox::piece it{std::move(bytes), nullptr, std::move(done)};
    // Nothing may follow a close frame.
    if (closes ? out_->seal(std::move(it)) : out_->put(std::move(it)) == outbox::taken::yes)
      return;
    asio::post(executor_,
               [done = std::move(it.done)]() mutable { done(asio::error::operation_aborted, 0); });
  }

  std::shared_ptr<pipe> pipe_;
  std::shared_ptr<outbox> out_;
  io_strand executor_;
  bool open_ = false;
};

std::string frame_header(std::size_t n, message_kind as, bool masked) {
  const char mark = masked ? static_cast<char>(0x80) : 0;
  std::string out(1, static_cast<char>(as == message_kind::text ? 0x81 : 0x82));
  const auto big_endian = [&](int bytes) {
    for (int i = bytes - 1; i >= 0; --i)
      out += static_cast<char>((n >> (8 * i)) & 0xff);
  };
  if (n < 126) {
    out += static_cast<char>(mark | static_cast<char>(n));
  } else if (n < 65536) {
    out += static_cast<char>(mark | 126);
    big_endian(2);
  } else {
    out += static_cast<char>(mark | 127);
    big_endian(8);
  }
  return out;
}

/// A client's frames are masked with a fresh unpredictable key, so each needs a copy of its own.
void append_masked(std::string& to, std::string_view payload) {
  unsigned char key[4];
  fill_random(key, sizeof key);
  to.append(reinterpret_cast<const char*>(key), sizeof key);
  const auto at = to.size();
  to.append(payload);
  for (std::size_t i = 0; i < payload.size(); ++i)
    to[at + i] = static_cast<char>(to[at + i] ^ key[i % 4]);
}

/// At most what a close frame has room for, without half a character at the end.
std::string cut_reason(std::string_view why) {
  if (why.size() > reason_bytes) {
    std::size_t n = reason_bytes;
    while (n > 0 && (static_cast<unsigned char>(why[n]) & 0xc0) == 0x80)
      --n;
    why = why.substr(0, n);
  }
  return std::string(why);
}

std::string seconds_text(clock::duration d) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(d).count()) + " s";
}

class websocket_session final : public websocket,
                                public anchored,
                                public std::enable_shared_from_this<websocket_session> {
public:
  using opened_handler = std::function<websocket_events(std::shared_ptr<websocket>)>;

  websocket_session(asio::io_context& io, std::shared_ptr<pipe> over, bool client,
                    const websocket_limits& bounds, opened_handler opened,
                    std::shared_ptr<void> ticket)
      : anchored(io), pipe_(over), client_(client), bounds_(bounds),
        out_(std::make_shared<outbox>(io, over, bounds.outbound_bytes)), credits_(bounds.credits),
        opened_(std::move(opened)), ticket_(std::move(ticket)) {
    ping_every_ = bounds.ping_every.count() > 0 ? clock::duration(bounds.ping_every) : never;
    idle_ = bounds.idle.count() > 0 ? clock::duration(bounds.idle) : never;
    ws_.emplace(pipe_layer(pipe_, out_));
    ws_->set_option(
      ws::stream_base::timeout{ws::stream_base::none(), ws::stream_base::none(), false});
    ws_->read_message_max(bounds.inbound_bytes);
  }

  void accept(const http_request& upgrade);
  void dial(const target& where, std::shared_ptr<tls_settings> tls, const http_request& upgrade,
            std::function<void(http_response)> refused);

  void send(frame payload, message_kind as) override;
  void when_taken(std::function<void()> due) override;
  void grant(std::size_t n) override;
  void close(std::uint16_t code, std::string_view why) override;
  std::size_t queued_bytes() const override { return out_->size(); }

private:
  enum class ending {
    linger,    ///< what was written is to arrive
    last_word, ///< a close frame waits behind the batch that is being written
    drop,      ///< the peer is gone
  };

  void abandon() noexcept override;
  void shake_hands(const target& where, const http_request& upgrade);
  void refuse(http_response answer);
  void open();
  void read();
  void received(error_code ec);
  void read_failed(error_code ec);
  void tick();
  void start_close(close_reason why);
  void overran();
  void finish(close_reason why, ending how);

  const std::shared_ptr<pipe> pipe_;
  const bool client_;
  const websocket_limits bounds_;
  clock::duration ping_every_;
  clock::duration idle_;
  const std::shared_ptr<outbox> out_;
  std::atomic<std::size_t> credits_; ///< messages that may be read; only the strand takes one
  std::atomic<bool> shut_ = false;   ///< `send` does nothing any more

  // On the strand.
  std::optional<ws::stream<pipe_layer, false>> ws_;
  opened_handler opened_;
  std::function<void(http_response)> refused_;
  std::shared_ptr<void> ticket_;
  websocket_events events_;
  ws::response_type answer_;
  beast::flat_buffer in_;
  bool reading_ = false;
  bool ended_ = false;
  std::optional<close_reason> closing_;
  clock::time_point deaf_until_; ///< until then nothing could be heard, for want of credits
  clock::time_point next_ping_;
};

void websocket_session::abandon() noexcept {
  const auto self = weak_from_this().lock();
  ended_ = shut_ = true;
  ws_.reset();
  opened_ = {};
  refused_ = {};
  events_ = {};
  ticket_.reset();
}

void websocket_session::accept(const http_request& upgrade) {
  http::request<http::empty_body> request(http::verb::get, upgrade.target, 11);
  for (const auto& [name, value] : upgrade.headers)
    request.set(name, value);
  pipe_->arm(handshake_time, [self = shared_from_this()] { self->finish({}, ending::drop); });
  ws_->async_accept(request, [self = shared_from_this()](error_code ec) {
    if (!ec)
      return self->open();
    self->opened_ = {};
    self->finish({}, ending::linger);
  });
}

void websocket_session::dial(const target& where, std::shared_ptr<tls_settings> tls,
                             const http_request& upgrade,
                             std::function<void(http_response)> refused) {
  refused_ = std::move(refused);
  pipe_->arm(handshake_time, [self = shared_from_this(), upgrade] {
    self->refuse(
      {0, {}, "GET " + upgrade.target + ": no answer within " + seconds_text(handshake_time)});
  });
  pipe_->connect(where, std::move(tls),
                 [self = shared_from_this(), where, upgrade](std::string failed) {
                   if (self->ended_)
                     return;
                   if (!failed.empty())
                     return self->refuse({0, {}, failed});
                   self->shake_hands(where, upgrade);
                 });
}

void websocket_session::shake_hands(const target& where, const http_request& upgrade) {
  ws_->set_option(ws::stream_base::decorator([fields = upgrade.headers](ws::request_type& request) {
    for (const auto& [name, value] : fields)
      request.set(name, value);
  }));
  ws_->async_handshake(
    answer_, host_field(where), upgrade.target,
    [self = shared_from_this(), upgrade](error_code ec) {
      if (self->ended_)
        return;
      if (!ec)
        return self->open();
      if (ec != ws::error::upgrade_declined)
        return self->refuse({0, {}, "GET " + upgrade.target + ": " + plain_text(ec)});
      http_response refusal{self->answer_.result_int(), {}, std::move(self->answer_.body())};
      for (const auto& it : self->answer_)
        refusal.headers.emplace(std::string(it.name_string()), std::string(it.value()));
      self->refuse(std::move(refusal));
    });
}

void websocket_session::refuse(http_response answer) {
  const auto refused = std::exchange(refused_, {});
  finish({}, ending::drop);
  if (refused)
    refused(std::move(answer));
}

void websocket_session::open() {
  if (ended_)
    return;
  refused_ = {};
  ws_->next_layer().open();
  out_->on_failure([weak = weak_from_this()](error_code ec) {
    if (const auto self = weak.lock())
      self->finish({1006, "the connection broke: " + plain_text(ec)}, ending::drop);
  });
  next_ping_ = clock::now() + ping_every_;
  try {
    events_ = std::exchange(opened_, {})(shared_from_this());
  } catch (...) { // the owner's fault; the peer gets to know that there was one
    start_close({1011, "internal error"});
  }
  tick();
  read();
}

void websocket_session::send(frame payload, message_kind as) {
  if (shut_)
    return;
  outbox::piece it{frame_header(payload->size(), as, client_), nullptr, {}};
  if (client_)
    append_masked(it.head, *payload);
  else
    it.body = std::move(payload);
  if (out_->put(std::move(it)) != outbox::taken::over)
    return;
  shut_ = true;
  pipe_->post([self = shared_from_this()] { self->overran(); });
}

void websocket_session::when_taken(std::function<void()> due) {
  if (shut_)
    return;
  out_->put(
    {{}, nullptr, [self = shared_from_this(), due = std::move(due)](error_code ec, std::size_t) {
       if (ec || self->ended_)
         return;
       try {
         due();
       } catch (...) { // as in `open`
         self->start_close({1011, "internal error"});
       }
     }});
}

void websocket_session::grant(std::size_t n) {
  if (n > 0 && credits_.fetch_add(n) == 0)
    pipe_->post([self = shared_from_this()] { self->read(); });
}

void websocket_session::close(std::uint16_t code, std::string_view why) {
  if (!shut_.exchange(true))
    pipe_->post([self = shared_from_this(), reason = close_reason{code, cut_reason(why)}] {
      self->start_close(reason);
    });
}

void websocket_session::read() {
  if (reading_ || closing_ || ended_ || credits_ == 0)
    return;
  --credits_;
  reading_ = true;
  deaf_until_ = clock::now();
  ws_->async_read(in_, [self = shared_from_this()](error_code ec, std::size_t) {
    self->reading_ = false;
    self->received(ec);
  });
}

void websocket_session::received(error_code ec) {
  if (ended_)
    return pipe_->close(); // only a last word was still on its way out
  if (ec)
    return read_failed(ec);
  if (closing_)
    return;
  const bool is_text = ws_->got_text();
  if (!is_text && !events_.on_binary)
    return start_close({1003, "only text messages are understood"});
  std::string message = beast::buffers_to_string(in_.data());
  in_.consume(in_.size());
  if (in_.capacity() > keep_bytes)
    in_.shrink_to_fit();
  try {
    if (const auto& hears = is_text ? events_.on_text : events_.on_binary)
      hears(std::move(message));
  } catch (...) { // as in `open`
    return start_close({1011, "internal error"});
  }
  read();
}

void websocket_session::read_failed(error_code ec) {
  if (ec == ws::error::closed) {
    if (closing_)
      return finish(*closing_, ending::linger);
    const auto& said = ws_->reason();
    return finish({said.code, std::string(said.reason.data(), said.reason.size())}, ending::linger);
  }
  if (ec == ws::error::message_too_big)
    return finish(
      {1009, "a message was longer than " + std::to_string(bounds_.inbound_bytes) + " bytes"},
      ending::linger);
  if (ec == ws::error::bad_frame_payload)
    return finish({1007, "a message was not valid UTF-8"}, ending::linger);
  if (ec.category() == ws::make_error_code(ws::error::closed).category())
    return finish({1002, "WebSocket protocol broken: " + plain_text(ec)}, ending::linger);
  finish({1006, ec == asio::error::eof ? "the connection was closed"
                                       : "the connection broke: " + plain_text(ec)},
         ending::drop);
}

/// Pings when it is time and ends the socket when the peer was silent for too long.
void websocket_session::tick() {
  if (ended_ || closing_)
    return;
  const auto now = clock::now();
  if (!reading_)
    deaf_until_ = now;
  const auto silent_since = std::max(pipe_->heard(), deaf_until_);
  if (now - silent_since >= idle_)
    return finish({1006, "nothing heard for " + seconds_text(idle_)}, ending::drop);
  if (now >= next_ping_) {
    next_ping_ = now + ping_every_;
    std::string ping{static_cast<char>(0x89), client_ ? static_cast<char>(0x80) : '\0'};
    if (client_)
      append_masked(ping, {});
    out_->put({std::move(ping), nullptr, {}});
  }
  pipe_->arm(std::min(next_ping_, silent_since + idle_) - now,
             [self = shared_from_this()] { self->tick(); });
}

void websocket_session::start_close(close_reason why) {
  if (ended_ || closing_)
    return;
  closing_ = std::move(why);
  shut_ = true;
  pipe_->arm(close_time, [self = shared_from_this()] {
    self->finish({1006, "the closing handshake was not answered: " + self->closing_->text},
                 ending::drop);
  });
  ws_->async_close({static_cast<ws::close_code>(closing_->code), cut_reason(closing_->text)},
                   [self = shared_from_this()](error_code ec) {
                     if (!ec && !self->ended_)
                       self->finish(*self->closing_, ending::linger);
                   });
}

/// More waited than may. The queue is gone already; a last word is tried behind what the kernel is
/// being given.
void websocket_session::overran() {
  if (ended_)
    return;
  const close_reason why{1013, "more than " + std::to_string(bounds_.outbound_bytes) +
                                 " bytes waited to be read"};
  std::string bytes{static_cast<char>(0x88), client_ ? static_cast<char>(0x82) : '\2'};
  const std::string code{3, static_cast<char>(1013 & 0xff)};
  client_ ? append_masked(bytes, code) : void(bytes += code);
  const bool tried =
    out_->seal({std::move(bytes), nullptr, [self = shared_from_this()](error_code, std::size_t) {
                  // A pending read hears the peer's end and closes; else nobody would.
                  self->reading_ ? self->pipe_->shutdown_write() : self->pipe_->close();
                }});
  finish(why, tried ? ending::last_word : ending::drop);
}

/// Tells the owner, once, and lets go of everything.
void websocket_session::finish(close_reason why, ending how) {
  if (std::exchange(ended_, true))
    return;
  shut_ = true;
  out_->seal();
  if (how == ending::linger)
    pipe_->linger();
  else if (how == ending::drop)
    pipe_->close();
  else
    pipe_->arm(close_time, [over = pipe_] { over->close(); });
  const auto events = std::exchange(events_, {});
  opened_ = {};
  refused_ = {};
  ticket_.reset();
  if (events.on_closed)
    try {
      events.on_closed(std::move(why));
    } catch (...) { // nobody is left to be told
    }
}

} // namespace

std::shared_ptr<websocket>
accept_websocket(asio::io_context& io, std::shared_ptr<pipe> over, const http_request& upgrade,
                 const websocket_limits& bounds,
                 std::function<websocket_events(std::shared_ptr<websocket>)> opened,
                 std::shared_ptr<void> ticket) {
  auto it = std::make_shared<websocket_session>(io, std::move(over), false, bounds,
                                                std::move(opened), std::move(ticket));
  it->accept(upgrade);
  return it;
}

void dial_websocket(asio::io_context& io, target where, http_request upgrade,
                    websocket_limits bounds,
                    std::function<websocket_events(std::shared_ptr<websocket>)> opened,
                    std::function<void(http_response)> refused) {
  auto over = std::make_shared<pipe>(io);
  over->post(
    [&io, over, where, upgrade, bounds, opened = std::move(opened), refused = std::move(refused)] {
      std::string error;
      request_head(upgrade, host_field(where), error);
      std::shared_ptr<tls_settings> tls;
      if (error.empty() && where.tls && where.unix_path.empty())
        tls = load_tls(where, error);
      if (!error.empty())
        return refused({0, {}, error});
      std::make_shared<websocket_session>(io, over, true, bounds, opened, nullptr)
        ->dial(where, std::move(tls), upgrade, refused);
    });
}

} // namespace ahpd::transport
