#include "tests/runtimes/process_support.hpp"

#include "runtimes/process/pidfd.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <future>

namespace ahpd::tests {

namespace {

constexpr std::chrono::seconds deadline{60};

} // namespace

runtimes::exec_events watched::events() {
  return {[this] { note("output"); },
          [this](runtimes::exit_status how) {
            {
              const std::lock_guard held(mutex_);
              CHECK_FALSE(exit_);
              exit_ = std::move(how);
            }
            note("exit");
          }};
}

void watched::started(runtimes::exec_result result) {
  {
    const std::lock_guard held(mutex_);
    program = std::move(result.program);
    refused = std::move(result.refused);
    answered_ = true;
  }
  note("started");
}

void watched::wait_started() {
  wait("the start", [this] { return answered_; });
}

runtimes::exit_status watched::wait_exit() {
  wait("the exit", [this] { return exit_.has_value(); });
  return *exit_;
}

std::string watched::wait_output(const std::string& text, runtimes::output which) {
  std::string all;
  wait(text.c_str(), [&] {
    all = program->read(which, 0).bytes;
    return all.find(text) != std::string::npos;
  });
  return all;
}

bool watched::ended() {
  const std::lock_guard held(mutex_);
  return exit_.has_value();
}

void watched::wait(const char* what, const std::function<bool()>& until) {
  std::unique_lock held(mutex_);
  const bool came = changed_.wait_for(held, deadline, until);
  if (!came && program)
    program->kill(std::chrono::milliseconds(0));
  REQUIRE_MESSAGE(came, "waited for " << std::string(what));
}

void watched::note(const char* what) {
  const std::lock_guard held(mutex_);
  if (order.size() < 1000)
    order.push_back(what);
  changed_.notify_all();
}

host_fixture::host_fixture() {
  std::map<std::string, std::string> base{{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                                          {"LANG", "C.UTF-8"}};
  place = runtimes::make_host_place(io, blocking, std::move(base));
  thread_ = std::thread([this] { io.run(); });
}

host_fixture::~host_fixture() {
  for (const auto& run : runs_)
    if (run->program && !run->ended())
      run->program->kill(std::chrono::milliseconds(0));
  if (!markers_.empty())
    sweep(markers_);
  work_.reset();
  thread_.join();
  blocking.join();
  io.restart();
  io.run(); // what the pool gave back at last
}

std::shared_ptr<watched> host_fixture::start(runtimes::exec_request what) {
  auto out = std::make_shared<watched>();
  {
    const std::lock_guard held(mutex_);
    runs_.push_back(out);
  }
  auto events = out->events();
  place->exec(std::move(what),
              {[out, tell = events.on_output] { tell(); },
               [out, tell = events.on_exit](runtimes::exit_status how) { tell(std::move(how)); }},
              [out](runtimes::exec_result result) { out->started(std::move(result)); });
  out->wait_started();
  return out;
}

std::shared_ptr<watched> host_fixture::sh(const std::string& text) {
  return start(script(text));
}

std::pair<std::size_t, std::string> host_fixture::sweep(std::vector<std::string> markers) {
  std::promise<std::pair<std::size_t, std::string>> answer;
  auto got = answer.get_future();
  place->sweep(std::move(markers), [&answer](std::size_t count, std::string why) {
    answer.set_value({count, std::move(why)});
  });
  REQUIRE(got.wait_for(deadline) == std::future_status::ready);
  return got.get();
}

std::string host_fixture::marker() {
  static int count = 0;
  markers_.push_back("test-" + std::to_string(::getpid()) + '-' + std::to_string(++count));
  return markers_.back();
}

runtimes::exec_request request(std::vector<std::string> argv) {
  runtimes::exec_request out;
  out.argv = std::move(argv);
  return out;
}

runtimes::exec_request script(const std::string& text) {
  return request({"bash", "-c", text});
}

bool lives(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(stat, text))
    return false;
  const char state = text.at(text.rfind(')') + 2);
  return state != 'Z' && state != 'X';
}

bool gone(pid_t pid) {
  const auto held = process::hold_process(pid);
  if (!held)
    return true;
  pollfd end{held.get(), POLLIN, 0};
  const int most = static_cast<int>(std::chrono::milliseconds(deadline).count());
  while (::poll(&end, 1, most) < 0 && errno == EINTR) {
  }
  return !lives(pid);
}

} // namespace ahpd::tests
