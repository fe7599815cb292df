#include "runtimes/docker/follower.hpp"

#include "protocol/docker/bodies.hpp"
#include "runtimes/docker/line_stream.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>

namespace asio = boost::asio;

namespace ahpd::runtimes {

namespace {

constexpr std::chrono::milliseconds first_pause{100};
constexpr std::chrono::milliseconds longest_pause{10'000};

/// What changes a machine, and the end of a program in one. Without a list every command in a
/// machine would be told, each with all the machine's labels.
const std::vector<std::string> wanted{"create",  "start",   "restart", "die",    "stop",
                                      "kill",    "destroy", "rename",  "update", "pause",
                                      "unpause", "oom",     "exec_die"};

/// Pauses a coroutine until `close`, or for a time.
struct pause final : awaited {
  explicit pause(docker_strand on) : signal(on) {}
  void give_up(const std::string&) override { signal.raise(); }
  wake signal;
};

} // namespace

event_follower::event_follower(std::shared_ptr<docker_engine> engine, std::string label)
    : engine_(std::move(engine)), label_(std::move(label)) {}

void event_follower::add(follow_events events) {
  listeners_.push_back(std::move(events));
  if (std::exchange(started_, true))
    return;
  asio::co_spawn(
    engine_->strand(), [self = shared_from_this()] { return self->follow(); }, asio::detached);
}

asio::awaitable<void> event_follower::follow() {
  const auto self = shared_from_this();
  const auto rest = std::make_shared<pause>(engine_->strand());
  engine_->keep(rest);
  auto wait = first_pause;
  while (!engine_->closed()) {
    heard_ = false;
    const auto why = co_await follow_once();
    if (engine_->closed())
      break;
    lost(why);
    if (heard_)
      wait = first_pause;
    co_await rest->signal.wait_for(wait);
    wait = std::min(wait * 2, longest_pause);
  }
  listeners_.clear(); // they may hold what holds this
}

/// One connection, from its start to why it ended.
asio::awaitable<std::string> event_follower::follow_once() {
  // From a moment that has just passed by the engine's own clock: it keeps recent events, so that
  // none is lost between the question and its being answered.
  const auto now = co_await engine_->clock();
  if (const auto* no = std::get_if<refusal>(&now))
    co_return no->sentence;
  engine_request what;
  what.path = "/events?since=" + std::to_string(std::get<std::int64_t>(now) - 1) + "&filters=" +
              docker::filters({{"type", {"container"}}, {"label", {label_}}, {"event", wanted}});
  line_stream lines(*engine_, what);
  connected();
  while (true) {
    const auto some = co_await lines.next();
    if (!some)
      break;
    heard_ = true;
    for (const auto& line : *some) {
      const auto event = docker::read_event(line);
      if (!event)
        continue;
      for (std::size_t i = 0; i < listeners_.size(); ++i) // one may add another
        if (listeners_[i].on_event)
          listeners_[i].on_event(*event);
    }
  }
  if (lines.refused())
    co_return engine_
      ->unreachable(docker::refusal_text(lines.refused()->status, lines.refused()->body))
      .sentence;
  co_return engine_->unreachable(lines.broken().empty() ? "it ended its events" : lines.broken())
    .sentence;
}

void event_follower::lost(const std::string& why) {
  if (std::exchange(was_lost_, true))
    return; // said once until it is there again
  for (std::size_t i = 0; i < listeners_.size(); ++i)
    if (listeners_[i].on_lost)
      listeners_[i].on_lost(why);
}

void event_follower::connected() {
  if (!std::exchange(was_lost_, false))
    return;
  for (std::size_t i = 0; i < listeners_.size(); ++i)
    if (listeners_[i].on_gap)
      listeners_[i].on_gap();
}

} // namespace ahpd::runtimes
