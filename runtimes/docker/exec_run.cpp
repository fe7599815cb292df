#include "runtimes/docker/exec_run.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace asio = boost::asio;

namespace ahpd::runtimes {

exec_run::exec_run(docker_strand on, const exec_request& what, std::string mark,
                   std::shared_ptr<run_controls> controls)
    : changed(on), user(what.user), marker(std::move(mark)), terminal(what.terminal.has_value()),
      strand_(on), controls_(std::move(controls)), outputs_(what.keep_bytes, what.wait_for_reader) {
}

chunk exec_run::read(output which, std::uint64_t offset, std::size_t most) const {
  auto out = outputs_.read(which, offset, most);
  if (outputs_.room(which))
    if (const auto from = stream())
      from->resume();
  return out;
}

void exec_run::write(std::string bytes) {
  if (const auto to = stream())
    to->write(std::move(bytes));
}

void exec_run::close_input() {
  const auto to = stream();
  if (to && terminal)
    to->write("\x04"); // as on this host: it types end-of-file
  else if (to)
    to->close_write();
}

void exec_run::resize(window_size size) {
  controls_->resize(shared_from_this(), size);
}

void exec_run::signal(int number) {
  controls_->signal(shared_from_this(), number);
}

void exec_run::kill(std::chrono::milliseconds grace) {
  controls_->kill(shared_from_this(), grace);
}

std::shared_ptr<transport::byte_stream> exec_run::stream() const {
  const std::lock_guard held(guard_);
  return stream_;
}

transport::stream_events exec_run::attach(std::shared_ptr<transport::byte_stream> stream) {
  {
    const std::lock_guard held(guard_);
    stream_ = std::move(stream);
  }
  // The coroutine that tends the run keeps it; the connection must not, or neither would ever go.
  const auto weak = weak_from_this();
  transport::stream_events out;
  out.on_data = [weak](std::string_view bytes) {
    if (const auto to = weak.lock())
      to->take(bytes);
  };
  out.on_end = [weak](std::optional<transport::failure> why) {
    if (const auto to = weak.lock())
      to->stream_over(why ? why->text : "");
  };
  return out;
}

void exec_run::take(std::string_view bytes) {
  if (terminal)
    return append(output::out, bytes);
  const bool framed = frames_.feed(bytes, [this](docker::stream_kind kind, std::string_view part) {
    append(kind == docker::stream_kind::out ? output::out : output::err, part);
  });
  if (framed)
    return;
  if (const auto from = stream())
    from->close();
  stream_over("what the engine sends is not a program's output");
}

void exec_run::append(output which, std::string_view bytes) {
  const bool tell_owner = outputs_.append(which, bytes);
  if (outputs_.full(which))
    if (const auto from = stream()) {
      from->pause();
      if (!outputs_.full(which)) // read meanwhile, on another thread
        from->resume();
    }
  if (tell_owner)
    asio::post(strand_, [self = shared_from_this()] { self->tell(); });
}

void exec_run::tell() {
  if (!opened_)
    missed_ = true;
  else if (!finished_ && events_.on_output)
    events_.on_output();
}

void exec_run::stream_over(std::string why) {
  asio::post(strand_, [self = shared_from_this(), why = std::move(why)] {
    if (std::exchange(self->stream_ended_, true))
      return;
    self->broken_ = why;
    self->changed.raise();
  });
}

void exec_run::give_up(const std::string& why) {
  if (finished_)
    return;
  stream_ended_ = true;
  broken_ = why;
  changed.raise();
}

void exec_run::open(exec_events events) {
  events_ = std::move(events);
  opened_ = true;
  if (missed_)
    tell();
}

void exec_run::finish(exit_status status) {
  if (std::exchange(finished_, true))
    return;
  std::shared_ptr<transport::byte_stream> stream;
  {
    const std::lock_guard held(guard_);
    stream = std::move(stream_);
  }
  if (stream)
    stream->close();
  for (const auto& weak : std::exchange(at_end, {}))
    if (const auto waiter = weak.lock())
      waiter->raise();
  const auto events = std::exchange(events_, {});
  if (events.on_exit)
    events.on_exit(std::move(status));
}

} // namespace ahpd::runtimes
