#include "runtimes/docker/launcher.hpp"

#include "protocol/docker/bodies.hpp"
#include "runtimes/process/sweep.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>

namespace asio = boost::asio;

namespace ahpd::runtimes {

namespace {

/// An engine that says nothing of a program for so long is asked.
constexpr std::chrono::seconds quiet{30};
/// What an engine may need to close the streams of a program that it said has ended.
constexpr std::chrono::seconds closing{5};
/// Between questions whether a program runs by now: starting one takes about a tenth of a second.
constexpr std::chrono::milliseconds first_look{5};
constexpr std::chrono::milliseconds longest_look{250};

/// Whether the connection for a program's streams was opened.
struct connecting final : awaited {
  explicit connecting(docker_strand on) : signal(on) {}
  void give_up(const std::string& why) override { settle(why); }
  void settle(std::string why) {
    if (done)
      return;
    done = true;
    refused = std::move(why);
    signal.raise();
  }
  wake signal;
  bool done = false;
  std::string refused;
};

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.pop_back();
  return text;
}

} // namespace

launcher::launcher(std::shared_ptr<docker_engine> engine, std::shared_ptr<event_follower> events,
                   std::chrono::milliseconds start_limit)
    : engine_(std::move(engine)), events_(std::move(events)), start_limit_(start_limit) {}

void launcher::hear() {
  if (std::exchange(hearing_, true))
    return;
  follow_events heard;
  const auto weak = weak_from_this();
  heard.on_event = [weak](const docker::event& what) {
    if (const auto self = weak.lock(); self && what.action == "exec_die")
      self->exec_died(what);
  };
  heard.on_gap = [weak] {
    if (const auto self = weak.lock())
      for (const auto& entry : self->runs_)
        if (const auto run = entry.second.lock())
          run->changed.raise(); // its end may have been missed
  };
  events_->add(std::move(heard));
}

void launcher::exec_died(const docker::event& what) {
  const auto id = what.attributes.find("execID");
  const auto found = id == what.attributes.end() ? runs_.end() : runs_.find(id->second);
  if (found == runs_.end())
    return;
  if (const auto run = found->second.lock())
    run->died();
}

asio::awaitable<outcome<docker::exec_state>> launcher::inspect(std::string exec_id) {
  engine_request what;
  what.path = "/exec/" + exec_id + "/json";
  const auto said = co_await engine_->ask(std::move(what));
  if (const auto* no = std::get_if<refusal>(&said))
    co_return *no;
  const auto& response = std::get<transport::http_response>(said);
  if (!fine(response))
    co_return refused_with(fault::failed, response);
  std::string error;
  const auto body = json::parse_text(response.body, 32, error);
  if (const auto state = body ? docker::read_exec(*body) : std::nullopt)
    co_return *state;
  co_return refusal{fault::failed, "Docker's record of a program cannot be read"};
}

asio::awaitable<launched> launcher::launch(found_machine in, exec_request what, std::string marker,
                                           std::shared_ptr<run_controls> controls) {
  hear();
  const auto run =
    std::make_shared<exec_run>(engine_->strand(), what, std::move(marker), std::move(controls));
  run->container = in.facts.id;
  run->machine = in.facts.name;

  docker::exec_shape shape;
  shape.argv = std::move(what.argv);
  shape.env = std::move(what.env);
  if (!run->marker.empty())
    shape.env[process::marker_variable] = run->marker;
  shape.workdir = what.directory;
  shape.user = what.user;
  shape.input = what.input || run->terminal; // a terminal always takes input
  shape.terminal = run->terminal;
  engine_request make;
  make.method = "POST";
  make.path = "/containers/" + in.facts.id + "/exec";
  make.body = docker::exec_body(shape);
  const auto made = co_await engine_->ask(std::move(make));
  if (const auto* no = std::get_if<refusal>(&made))
    co_return launched{nullptr, no->sentence};
  const auto& answered = std::get<transport::http_response>(made);
  if (!fine(answered))
    co_return launched{nullptr, docker::refusal_text(answered.status, answered.body)};
  std::string error;
  const auto body = json::parse_text(answered.body, 8, error);
  run->exec_id = body ? json::string_member(*body, "Id").value_or("") : "";
  if (run->exec_id.empty())
    co_return launched{nullptr, "Docker did not name the program it was to start"};

  runs_[run->exec_id] = run;
  auto refused = co_await connect(run);
  if (refused.empty())
    refused = co_await started(run);
  if (!refused.empty()) {
    runs_.erase(run->exec_id);
    run->finish({});
    co_return launched{nullptr, std::move(refused)};
  }
  if (what.terminal)
    co_await resize(run, *what.terminal);
  co_return launched{run, {}};
}

/// Opens the streams, which starts the program. Gives why that was refused.
asio::awaitable<std::string> launcher::connect(std::shared_ptr<exec_run> run) {
  const auto strand = engine_->strand();
  const auto wait = std::make_shared<connecting>(strand);
  engine_->keep(wait);
  engine_->keep(run);
  engine_request start;
  start.method = "POST";
  start.path = "/exec/" + run->exec_id + "/start";
  start.body = docker::exec_start_body(run->terminal);
  const std::weak_ptr<connecting> weak = wait;
  const auto settle = [weak, strand](std::string why) {
    asio::post(strand, [weak, why = std::move(why)]() mutable {
      if (const auto to = weak.lock())
        to->settle(std::move(why));
    });
  };
  const auto opened = [settle, run](std::shared_ptr<transport::byte_stream> stream) {
    auto events = run->attach(std::move(stream));
    settle("");
    return events;
  };
  const auto refused = [settle](const transport::http_response& said) {
    settle(said.status == 0 ? said.body : docker::refusal_text(said.status, said.body));
  };
  const auto exchange = engine_->client().hijack(engine_->request(start), opened, refused);
  co_await wait->signal.wait();
  co_return wait->refused;
}

/// Waits until the streams have ended, or until the engine had its time for that.
asio::awaitable<void> launcher::wait_closed(std::shared_ptr<exec_run> run) {
  while (!run->stream_ended()) {
    // A statement of its own: GCC 12 awaits the right side of `a && co_await b` in the head of a
    // `while` although the left is false.
    const bool changed = co_await run->changed.wait_for(closing);
    if (!changed)
      co_return;
  }
}

/// Waits until the program runs. The engine opens the streams before it starts a program and writes
/// there why it could not, so only its record tells the two apart. Gives why it was not started.
asio::awaitable<std::string> launcher::started(std::shared_ptr<exec_run> run) {
  const auto deadline = std::chrono::steady_clock::now() + start_limit_;
  auto pause = first_look;
  while (true) {
    const auto state = co_await inspect(run->exec_id);
    if (const auto* no = std::get_if<refusal>(&state))
      co_return no->sentence;
    const auto& now = std::get<docker::exec_state>(state);
    if (now.pid != 0)
      co_return "";
    if (!now.running && now.exit_code)
      break;
    if (std::chrono::steady_clock::now() > deadline)
      co_return "Docker took the program and did not start it within " +
        std::to_string(start_limit_.count() / 1000) + " s";
    co_await run->changed.wait_for(pause);
    pause = std::min(pause * 2, longest_look);
  }
  co_await wait_closed(run);
  auto words = trimmed(run->read(output::out, 0, SIZE_MAX).bytes);
  if (words.empty())
    words = "Docker did not start the program and did not say why";
  co_return words;
}

/// Whether the engine knows that the program has ended.
asio::awaitable<bool> launcher::has_ended(std::string exec_id) {
  const auto state = co_await inspect(std::move(exec_id));
  const auto* now = std::get_if<docker::exec_state>(&state);
  co_return now && !now->running && now->exit_code;
}

asio::awaitable<exit_status> launcher::end_of(std::shared_ptr<exec_run> run) {
  const auto id = run->exec_id;
  // A program may close its output and run on, and one that has ended may leave a child that holds
  // its output open; the engine then closes the streams a little after it said that the program
  // died.
  while (!run->stream_ended() && !run->has_died()) {
    co_await run->changed.wait();
    if (!run->stream_ended() && !run->has_died() && co_await has_ended(id))
      break; // events were missed, this program's end among them
  }
  co_await wait_closed(run);
  exit_status out;
  while (true) {
    const auto state = co_await inspect(id);
    if (const auto* no = std::get_if<refusal>(&state)) {
      out.lost = "how it ended is not known: " + no->sentence;
      break;
    }
    const auto& now = std::get<docker::exec_state>(state);
    if (!now.running && now.exit_code) {
      out.code = now.exit_code;
      break;
    }
    if (!run->broken().empty()) {
      out.lost = "the connection to it broke while it ran: " + run->broken();
      break;
    }
    co_await run->changed.wait_for(quiet);
  }
  runs_.erase(id);
  co_return out;
}

asio::awaitable<void> launcher::resize(std::shared_ptr<exec_run> run, window_size size) {
  engine_request what;
  what.method = "POST";
  what.path = "/exec/" + run->exec_id + "/resize?h=" + std::to_string(size.rows) +
              "&w=" + std::to_string(size.columns);
  co_await engine_->ask(std::move(what)); // a program that just ended has no window: no fault
}

} // namespace ahpd::runtimes
