// How a connection's answers go.

#include "protocol/transport/file_sending.hpp"
#include "protocol/transport/server_connection.hpp"

#include <algorithm>

namespace ahpd::transport {

namespace {

constexpr std::size_t ahead_bytes = 4u << 10;
constexpr std::size_t keep_bytes = 16u << 10; ///< reading memory that an idle connection may keep

bool has_body(unsigned status) {
  return status >= 200 && status != 204 && status != 304;
}

} // namespace

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
  void when_taken(std::function<void()> due) override {
    to->pipe_->post([it = to, due = std::move(due)]() mutable { it->tell_taken(std::move(due)); });
  }
  void cut() override {
    to->pipe_->post([it = to] { it->cut_stream(); });
  }
};

http_response sentence(unsigned status, const std::string& why) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, why + "\n"};
}

void server_connection::respond(http_response what, bool keep) {
  if (what.status < 200 || what.status > 599)
    what = sentence(500, "internal error");
  keep = keep && !intake_ && parser_ && parser_->is_done() && parser_->is_http11 &&
         parser_->keep_alive() && !core_->closing();
  const bool chunked = what.goes_on && parser_ && parser_->is_http11;
  end_intake(false);
  parser_.reset();
  const bool body = has_body(what.status);
  if (what.goes_on && body && !head_only_)
    return respond_on(std::move(what), chunked, keep);
  if (what.file && body && !head_only_)
    return respond_file(what, keep);
  auto head = response_head(what, !keep,
                            !body          ? framing::none
                            : chunked      ? framing::chunked
                            : what.goes_on ? framing::none
                                           : framing::length);
  frame text;
  if (body && !head_only_)
    text = std::make_shared<const std::string>(std::move(what.body));
  out_->put(
    {std::move(head), std::move(text),
     [self = shared_from_this(), keep](error_code ec, std::size_t) { self->responded(ec, keep); }});
  watch_writing();
}

void server_connection::respond_file(const http_response& what, bool keep) {
  out_->put({response_head(what, !keep, framing::length), nullptr,
             [self = shared_from_this(), file = what.file, keep](error_code ec, std::size_t) {
               if (ec)
                 return self->responded(ec, keep);
               send_file_body(self->pipe_, file, self->core_->bounds.request_time,
                              [self, keep](bool whole) {
                                whole ? self->responded({}, keep) : self->pipe_->close();
                              });
             }});
  watch_writing();
}

/// Answers with a body that the owner writes; its end is the connection's where it is not chunked.
void server_connection::respond_on(http_response what, bool chunked, bool keep) {
  stream_.emplace(streaming{chunked, keep, {}});
  out_->put({response_head(what, !keep, chunked ? framing::chunked : framing::none), nullptr, {}});
  put_body(std::move(what.body));
  read_ahead();
  try {
    stream_->on_lost = what.goes_on(std::make_unique<open_body>(shared_from_this()));
  } catch (...) { // as in `serve`; what was dropped ends the body
  }
}

void server_connection::stream(std::string bytes) {
  if (!stream_)
    return;
  if (out_->size() + bytes.size() > core_->bounds.stream_bytes)
    return stream_lost();
  put_body(std::move(bytes));
}

void server_connection::put_body(std::string bytes) {
  const auto n = bytes.size();
  if (n > 0 && stream_->chunked) { // a chunk of nothing would be the last
    out_->put({chunk_head(n), std::make_shared<const std::string>(std::move(bytes)), {}});
    out_->put({"\r\n", nullptr, {}});
  } else if (n > 0) {
    out_->put({std::move(bytes), nullptr, {}});
  }
  if (!writing_watched_)
    watch_writing();
}

void server_connection::tell_taken(std::function<void()> due) {
  if (!stream_)
    return;
  out_->put(
    {{}, nullptr, [self = shared_from_this(), due = std::move(due)](error_code ec, std::size_t) {
       if (ec || !self->stream_)
         return;
       try {
         due();
       } catch (...) { // as in `serve`; the peer gets to know that the body is not whole
         self->stream_lost();
       }
     }});
}

/// Reading tells when the peer is gone. Of what it asks meanwhile as much is kept as a header may
/// have; more waits in the kernel.
void server_connection::read_ahead() {
  if (reading_)
    return; // of a request that was answered early
  if (!stream_->keep)
    in_.clear();
  const auto most = core_->bounds.header_bytes;
  if (in_.size() >= most)
    return;
  reading_ = true;
  pipe_->read_some(
    in_.prepare(std::min(ahead_bytes, most - in_.size())),
    [self = shared_from_this()](error_code ec, std::size_t n) { self->received(ec, n); });
}

/// The owner has nothing more to say.
void server_connection::end_stream() {
  if (!stream_)
    return;
  const auto was = *std::exchange(stream_, std::nullopt);
  out_->put({was.chunked ? "0\r\n\r\n" : "", nullptr,
             [self = shared_from_this(), keep = was.keep](error_code ec, std::size_t) {
               self->streamed(ec, keep);
             }});
  watch_writing();
}

/// What was read ahead is complete before it is looked at.
void server_connection::streamed(error_code ec, bool keep) {
  if (ec || !reading_)
    return responded(ec, keep);
  keep_after_reading_ = keep;
  pipe_->cancel();
}

void server_connection::cut_stream() {
  if (!stream_)
    return;
  const auto was = *std::exchange(stream_, std::nullopt);
  was.chunked ? pipe_->close() : pipe_->reset();
  ticket_.reset();
}

void server_connection::stream_lost() {
  if (!stream_)
    return;
  const auto was = *std::exchange(stream_, std::nullopt);
  pipe_->close();
  ticket_.reset();
  if (was.on_lost)
    was.on_lost();
}

/// Ends the connection when the peer took nothing for a while of what is on its way.
void server_connection::watch_writing() {
  writing_watched_ = true;
  pipe_->arm(core_->bounds.request_time, [self = shared_from_this(), taken = out_->taken_bytes()] {
    if (self->out_->size() == 0)
      self->writing_watched_ = false;
    else if (self->out_->taken_bytes() != taken)
      self->watch_writing();
    else if (self->stream_)
      self->stream_lost();
    else
      self->pipe_->close();
  });
}

void server_connection::responded(error_code ec, bool keep) {
  writing_watched_ = false;
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
