#include "protocol/transport/exchange.hpp"

#include "protocol/transport/raw_stream.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

namespace asio = boost::asio;

namespace ahpd::transport {

namespace {

constexpr std::uint32_t header_bytes = 64u << 10;
constexpr std::size_t read_bytes = 16u << 10;

std::string in_words(std::chrono::milliseconds limit) {
  return limit.count() % 1000 == 0 ? std::to_string(limit.count() / 1000) + " s"
                                   : std::to_string(limit.count()) + " ms";
}

} // namespace

http_exchange::http_exchange(std::shared_ptr<connection_pool> from, http_request what,
                             request_options how, answer_use use)
    : pool_(std::move(from)), how_(how), deadline_(std::chrono::steady_clock::now() + how.limit),
      what_(std::move(what)), use_(std::move(use)) {
  head_ = request_head(what_, pool_->host(), error_);
  body_ = std::make_shared<const std::string>(std::move(what_.body));
}

void http_exchange::start() {
  auto idle = pool_->take();
  const bool reused = idle != nullptr;
  if (!reused && !pool_->io())
    return; // the io_context is gone: nobody is there to call back
  take(reused ? std::move(idle) : std::make_shared<pipe>(*pool_->io()), reused);
}

void http_exchange::cancel() {
  cancelled_ = true;
  std::shared_ptr<pipe> current;
  {
    std::lock_guard lock(guard_);
    current = pipe_;
  }
  if (current)
    current->post([self = shared_from_this(), current] {
      if (self->is_on(current)) // else `begin` on the fresh connection sees the flag
        self->release();
    });
}

bool http_exchange::is_on(const std::shared_ptr<pipe>& connection) {
  std::lock_guard lock(guard_);
  return pipe_ == connection;
}

/// Goes on with another connection. What still runs on the one before finds it closed.
void http_exchange::take(std::shared_ptr<pipe> connection, bool reused) {
  reused_ = reused;
  {
    std::lock_guard lock(guard_);
    pipe_ = connection;
  }
  connection->post([self = shared_from_this()] { self->begin(); });
}

void http_exchange::begin() {
  if (reused_ && !pipe_->unwatch()) {
    pipe_->close();
    if (!cancelled_)
      take(std::make_shared<pipe>(*pool_->io()), false);
    return;
  }
  if (cancelled_)
    return release();
  if (!error_.empty())
    return fail(error_);
  if (how_.limit.count() > 0)
    pipe_->arm(deadline_ - std::chrono::steady_clock::now(), [self = shared_from_this()] {
      self->fail(self->name() + ": no answer within " + in_words(self->how_.limit));
    });
  else
    pipe_->disarm();
  out_ = std::make_shared<outbox>(*pool_->io(), pipe_, std::numeric_limits<std::size_t>::max());
  if (reused_)
    return send();
  std::string bad_tls;
  auto tls = pool_->tls(bad_tls);
  if (!bad_tls.empty())
    return fail(bad_tls);
  pipe_->connect(pool_->where(), std::move(tls), [self = shared_from_this()](std::string failed) {
    if (self->finished_)
      return;
    failed.empty() ? self->send() : self->fail(failed);
  });
}

void http_exchange::send() {
  asked_ = true;
  wrote_all_ = false;
  parser_.emplace();
  parser_->header_limit(header_bytes);
  parser_->body_limit(boost::none); // bounded here, where the kind of use is known
  parser_->skip(what_.method == "HEAD");
  out_->put({head_, body_, [self = shared_from_this()](error_code ec, std::size_t) {
               self->wrote_all_ = !ec; // a failure shows in what is read
             }});
  read();
}

void http_exchange::read() {
  pipe_->read_some(in_.prepare(read_bytes),
                   [self = shared_from_this(), on = pipe_](error_code ec, std::size_t n) {
                     if (!self->finished_ && on == self->pipe_)
                       self->received(ec, n);
                   });
}

void http_exchange::received(error_code ec, std::size_t n) {
  in_.commit(n);
  heard_ = heard_ || n > 0;
  if (ec)
    broken(ec);
  else
    parse();
}

void http_exchange::parse() {
  while (true) {
    error_code ec;
    parser_->feed(in_, ec);
    if (finished_ || cancelled_) // by what was handed on
      return;
    if (ec)
      return fail(name() + ": the answer is not HTTP: " + ec.message());
    if (parser_->what.body.size() > how_.body_bytes)
      return fail(name() + ": the answer is longer than " + std::to_string(how_.body_bytes) +
                  " bytes");
    if (!header_seen_ && parser_->is_header_done()) {
      if (!look_at_header())
        return;
    } else if (parser_->is_done()) {
      return complete();
    } else {
      return read();
    }
  }
}

/// Decides what becomes of the body; false when the exchange is over with the header.
bool http_exchange::look_at_header() {
  const unsigned status = parser_->what.status;
  if (status >= 100 && status < 200 && status != 101) { // an interim answer; the real one follows
    parser_.emplace();
    parser_->header_limit(header_bytes);
    parser_->body_limit(boost::none);
    parser_->skip(what_.method == "HEAD");
    return true;
  }
  header_seen_ = true;
  const bool fine = status >= 200 && status < 300;
  if (use_.opened && (status == 101 || (fine && parser_->need_eof()))) {
    open();
    return false;
  }
  if (use_.streamed && fine)
    parser_->body_to = [this](std::string_view piece) {
      if (!cancelled_ && use_.streamed && use_.streamed->on_data)
        use_.streamed->on_data(piece);
    };
  return true;
}

void http_exchange::open() {
  const auto rest = in_.data();
  pipe_->unread({static_cast<const char*>(rest.data()), rest.size()});
  pipe_->disarm();
  finished_ = true;
  const auto stream = std::make_shared<raw_stream>(*pool_->io(), pipe_);
  const auto opened = std::exchange(use_, {}).opened;
  if (cancelled_)
    return stream->close();
  stream->start(opened(stream));
}

/// The connection ended or broke while an answer was awaited.
void http_exchange::broken(error_code ec) {
  const bool ended = ec == asio::error::eof || ec == asio::ssl::error::stream_truncated;
  if (ended && parser_->is_header_done() && parser_->need_eof()) {
    parser_->put_eof(ec);
    return complete();
  }
  const bool harmless = what_.method == "GET" || what_.method == "HEAD" || !sent_anything();
  if (reused_ && !heard_ && harmless) {
    out_->clear();
    pipe_->close();
    return take(std::make_shared<pipe>(*pool_->io()), false);
  }
  const std::string when =
    parser_->is_header_done() ? " in the middle of the answer" : " before an answer";
  fail(name() + ": the connection " +
       (ended ? "was closed" + when : "broke" + when + ": " + plain_text(ec)));
}

bool http_exchange::sent_anything() const {
  return asked_ && (wrote_all_ || out_->size() < head_.size() + body_->size());
}

void http_exchange::complete() {
  const auto use = std::exchange(use_, {});
  auto parser = std::exchange(parser_, {});
  finished_ = true;
  if (wrote_all_ && parser->keep_alive() && in_.size() == 0)
    pool_->give_back(pipe_);
  else
    pipe_->close();
  if (cancelled_)
    return;
  if (use.whole)
    use.whole({std::move(parser->what), {}});
  else if (use.streamed && parser->body_to)
    use.streamed->on_end ? use.streamed->on_end({}) : void();
  else if (use.refused)
    use.refused(std::move(parser->what));
}

void http_exchange::fail(const std::string& why) {
  if (finished_)
    return;
  const failure what{why, sent_anything()};
  const auto use = std::exchange(use_, {});
  release();
  if (cancelled_)
    return;
  if (use.whole)
    use.whole({std::nullopt, what});
  else if (use.streamed)
    use.streamed->on_end ? use.streamed->on_end(what) : void();
  else if (use.refused)
    use.refused({0, {}, what.text});
}

void http_exchange::release() {
  if (finished_)
    return;
  finished_ = true;
  use_ = {};
  if (out_)
    out_->clear();
  pipe_->close();
}

} // namespace ahpd::transport
