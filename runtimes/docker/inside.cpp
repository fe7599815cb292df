#include "runtimes/docker/inside.hpp"

#include "protocol/random.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <csignal>

namespace asio = boost::asio;

namespace ahpd::runtimes {

namespace {

/// Runs a coroutine on the engine's strand, never inside the call.
template <class Start> void spawn(const std::shared_ptr<machine_room>& room, Start start) {
  const auto strand = room->engine->strand();
  asio::post(strand, [strand, start = std::move(start)]() mutable {
    asio::co_spawn(strand, std::move(start), asio::detached);
  });
}

asio::awaitable<void> signal_run(std::shared_ptr<machine_room> room, std::shared_ptr<exec_run> run,
                                 int number) {
  const auto found = co_await room->machines->find(run->machine);
  const auto* in = std::get_if<found_machine>(&found);
  std::vector<std::string> markers{run->marker};
  if (in && in->facts.id == run->container)
    co_await room->sweeps->signal(*in, std::move(markers), number);
}

asio::awaitable<void> kill_run(std::shared_ptr<machine_room> room, std::shared_ptr<exec_run> run,
                               std::chrono::milliseconds grace) {
  const auto found = co_await room->machines->find(run->machine);
  const auto* in = std::get_if<found_machine>(&found);
  if (!in || in->facts.id != run->container || !in->facts.running)
    co_return; // everything in it is gone with it
  const std::vector<std::string> markers{run->marker};
  const auto until = std::chrono::steady_clock::now() + grace;
  if (grace.count() > 0) {
    const auto asked = co_await room->sweeps->signal(*in, markers, SIGTERM);
    if (asked.hit == 0 && asked.failure.empty())
      co_return;
    const auto ended = std::make_shared<wake>(room->engine->strand());
    if (run->finished())
      ended->raise();
    run->at_end.push_back(ended);
    if (co_await ended->wait_for(until - std::chrono::steady_clock::now())) {
      // The program has ended; what it left behind has the rest of the time, if there is anything.
      const auto left = co_await room->sweeps->signal(*in, markers, 0);
      if (left.hit == 0 && left.failure.empty())
        co_return;
      co_await ended->wait_for(until - std::chrono::steady_clock::now());
    }
  }
  co_await room->sweeps->signal(*in, markers, SIGKILL);
}

class room_controls final : public run_controls {
public:
  explicit room_controls(std::shared_ptr<machine_room> room) : room_(std::move(room)) {}

  void resize(std::shared_ptr<exec_run> run, window_size size) override {
    spawn(room_, [room = room_, run, size] { return room->programs->resize(run, size); });
  }
  void signal(std::shared_ptr<exec_run> run, int number) override {
    spawn(room_, [room = room_, run, number] { return signal_run(room, run, number); });
  }
  void kill(std::shared_ptr<exec_run> run, std::chrono::milliseconds grace) override {
    spawn(room_, [room = room_, run, grace] { return kill_run(room, run, grace); });
  }

private:
  const std::shared_ptr<machine_room> room_;
};

std::string started_at(const found_machine& in) {
  const auto* state = json::member(*in.record.status, "State");
  return std::string(state ? json::string_member(*state, "StartedAt").value_or("") : "");
}

/// Why a machine is not what a program was started in any more; empty: it is, as far as is known.
std::string gone_since(const found_machine& before, const outcome<found_machine>& found) {
  const auto& name = before.facts.name;
  const auto* now = std::get_if<found_machine>(&found);
  if (!now && std::get<refusal>(found).what != fault::not_there)
    return {};
  if (!now || now->facts.id != before.facts.id)
    return name + " was removed while it ran";
  if (!now->facts.running || started_at(*now) != started_at(before))
    return name + " stopped while it ran";
  return {};
}

/// A machine that stops kills what runs in it, which the engine words like any other SIGKILL, and
/// it may do so a little before it says that the machine stopped.
asio::awaitable<exit_status> with_cause(std::shared_ptr<machine_room> room, found_machine in,
                                        exit_status status) {
  constexpr int killed = 128 + SIGKILL;
  constexpr int looks = 5;
  if (status.lost.empty() && status.code != killed)
    co_return status;
  wake never(room->engine->strand());
  for (int look = 0; look < looks; ++look) {
    if (look > 0)
      co_await never.wait_for(std::chrono::milliseconds(100));
    const auto why = gone_since(in, co_await room->machines->find(in.facts.name));
    if (!why.empty())
      co_return exit_status{{}, {}, "how it ended is not known: " + why};
  }
  co_return status;
}

/// One program from its start to its end.
asio::awaitable<void> run_program(std::shared_ptr<machine_room> room, std::string id,
                                  exec_request what, exec_events events,
                                  std::function<void(exec_result)> done) {
  auto found = co_await room->machines->find(std::move(id));
  if (const auto* no = std::get_if<refusal>(&found)) {
    done({nullptr, no->sentence});
    co_return;
  }
  // Inside a container a tree is found by its marker alone. Unguessable: whoever knew it could hide
  // behind it or be killed by it.
  auto marker = what.marker.empty() ? random_hex(16) : what.marker;
  const auto& in = std::get<found_machine>(found);
  const auto begun = co_await room->programs->launch(in, std::move(what), std::move(marker),
                                                     std::make_shared<room_controls>(room));
  done({begun.run, begun.refused});
  if (!begun.run)
    co_return;
  begun.run->open(std::move(events));
  auto status = co_await room->programs->end_of(begun.run);
  begun.run->finish(co_await with_cause(room, in, std::move(status)));
}

asio::awaitable<void> sweep_machine(std::shared_ptr<machine_room> room, std::string id,
                                    std::vector<std::string> markers,
                                    std::function<void(std::size_t, std::string)> done) {
  /// What the engine takes as the arguments of one program, with room to spare.
  constexpr std::size_t at_once = 200;
  const auto found = co_await room->machines->find(std::move(id));
  if (const auto* no = std::get_if<refusal>(&found)) {
    done(0, no->sentence);
    co_return;
  }
  const auto& in = std::get<found_machine>(found);
  std::size_t killed = 0;
  std::string failure;
  for (std::size_t i = 0; i < markers.size() && failure.empty() && in.facts.running; i += at_once) {
    const auto last = std::min(markers.size(), i + at_once);
    std::vector<std::string> some(markers.begin() + static_cast<std::ptrdiff_t>(i),
                                  markers.begin() + static_cast<std::ptrdiff_t>(last));
    const auto one = co_await room->sweeps->signal(in, std::move(some), SIGKILL);
    killed += one.hit;
    failure = one.failure;
  }
  done(killed, failure);
}

class inside final : public place {
public:
  inside(std::shared_ptr<machine_room> room, std::string id)
      : room_(std::move(room)), id_(std::move(id)) {}

  void exec(exec_request what, exec_events events, std::function<void(exec_result)> done) override {
    spawn(room_, [room = room_, id = id_, what = std::move(what), events = std::move(events),
                  done = std::move(done)]() mutable {
      return run_program(room, id, std::move(what), std::move(events), std::move(done));
    });
  }

  void sweep(std::vector<std::string> markers,
             std::function<void(std::size_t, std::string)> done) override {
    spawn(room_,
          [room = room_, id = id_, markers = std::move(markers), done = std::move(done)]() mutable {
            return sweep_machine(room, id, std::move(markers), std::move(done));
          });
  }

private:
  const std::shared_ptr<machine_room> room_;
  const std::string id_;
};

} // namespace

machine_room::machine_room(std::shared_ptr<docker_machines> machines_,
                           std::shared_ptr<event_follower> events_)
    : engine(machines_->shared_engine()), machines(std::move(machines_)),
      events(std::move(events_)),
      programs(std::make_shared<launcher>(engine, events, machines->start_limit())),
      sweeps(std::make_shared<sweeper>(programs)) {}

std::shared_ptr<place> make_inside(std::shared_ptr<machine_room> room, std::string id) {
  return std::make_shared<inside>(std::move(room), std::move(id));
}

} // namespace ahpd::runtimes
