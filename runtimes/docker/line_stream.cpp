#include "runtimes/docker/line_stream.hpp"

#include "protocol/docker/streams.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace asio = boost::asio;

namespace ahpd::runtimes {

namespace {

/// An event repeats every label of its container; nothing else comes near this.
constexpr std::size_t most_line = 1u << 20;

} // namespace

/// What the connection's strand hands over to the engine's.
struct line_stream::state final : awaited, std::enable_shared_from_this<state> {
  explicit state(docker_strand on) : strand(on), signal(on), splitter(most_line) {}

  /// On the connection's strand.
  void take(std::string_view bytes) {
    std::vector<std::string> found;
    splitter.feed(bytes, [&](std::string_view line) { found.emplace_back(line); });
    if (found.empty())
      return;
    asio::post(strand, [self = shared_from_this(), found = std::move(found)]() mutable {
      for (auto& line : found)
        self->lines.push_back(std::move(line));
      self->signal.raise();
    });
  }

  /// On any strand.
  void finish(std::string why, std::optional<transport::http_response> said) {
    asio::post(strand,
               [self = shared_from_this(), why = std::move(why), said = std::move(said)]() mutable {
                 self->broken = std::move(why);
                 self->refused = std::move(said);
                 self->ended = true;
                 self->signal.raise();
               });
  }

  void give_up(const std::string& why) override {
    lines.clear();
    broken = why;
    ended = true;
    signal.raise();
  }

  const docker_strand strand;
  wake signal;
  docker::line_splitter splitter;
  std::vector<std::string> lines;
  bool ended = false;
  std::string broken;
  std::optional<transport::http_response> refused;
};

line_stream::line_stream(docker_engine& from, const engine_request& what)
    : state_(std::make_shared<state>(from.strand())) {
  transport::request_options how;
  how.limit = std::chrono::milliseconds(0);
  from.keep(state_);
  const std::weak_ptr<state> weak = state_;
  transport::stream_events events;
  events.on_data = [weak](std::string_view bytes) {
    if (const auto to = weak.lock())
      to->take(bytes);
  };
  events.on_end = [weak](std::optional<transport::failure> why) {
    if (const auto to = weak.lock())
      to->finish(why ? why->text : "", {});
  };
  const auto refused = [weak](transport::http_response said) {
    if (const auto to = weak.lock())
      to->finish("", std::move(said));
  };
  exchange_ = from.client().stream(from.request(what), how, refused, std::move(events));
}

line_stream::~line_stream() = default;

asio::awaitable<std::optional<std::vector<std::string>>> line_stream::next() {
  while (state_->lines.empty() && !state_->ended)
    co_await state_->signal.wait();
  if (state_->lines.empty())
    co_return std::nullopt;
  co_return std::exchange(state_->lines, {});
}

const std::optional<transport::http_response>& line_stream::refused() const {
  return state_->refused;
}

const std::string& line_stream::broken() const {
  return state_->broken;
}

} // namespace ahpd::runtimes
