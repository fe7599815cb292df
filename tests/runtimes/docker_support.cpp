#include "tests/runtimes/docker_support.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdio>
#include <random>

#include <sys/stat.h>
#include <unistd.h>

namespace ahpd::tests {

namespace {

constexpr std::chrono::seconds deadline{90};

std::string unique() {
  std::random_device random;
  return std::to_string(::getpid()) + "-" + std::to_string(random() % 1'000'000);
}

} // namespace

std::string docker_says(const std::string& arguments) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
    ::popen(("docker " + arguments + " 2>&1").c_str(), "r"), ::pclose);
  std::string out;
  char buffer[4096];
  while (const auto n = std::fread(buffer, 1, sizeof buffer, pipe.get()))
    out.append(buffer, n);
  while (!out.empty() && out.back() == '\n')
    out.pop_back();
  return out;
}

bool docker_is_there() {
  static const bool there = [] {
    struct stat info {};
    return ::stat("/var/run/docker.sock", &info) == 0 &&
           docker_says("image inspect --format ok debian:bookworm-slim") == "ok";
  }();
  return there;
}

docker_fixture::docker_fixture(std::map<std::string, std::string> env,
                               std::chrono::milliseconds start_limit)
    : host_id("test-" + unique()) {
  runtimes::docker_options options;
  options.host_id = host_id;
  options.env = std::move(env);
  options.start_limit = start_limit;
  sut = runtimes::make_docker_runtime(io, options);
}

docker_fixture::~docker_fixture() {
  sut.reset();
  io.restart();
  io.run_for(std::chrono::seconds(5)); // what was under way ends
  CHECK(io.stopped());
  auto left = docker_says("ps -aq --filter label=ahpd.host=" + host_id);
  for (auto& c : left)
    c = c == '\n' ? ' ' : c;
  for (const auto& name : names_)
    left += " " + name;
  if (!left.empty())
    docker_says("rm -f -v " + left);
}

void docker_fixture::until(const char* what, const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end)
      FAIL("no " << std::string(what) << " came");
    io.restart();
    io.run_one_for(std::chrono::milliseconds(200));
    io.poll(); // `done` may be slow
  }
}

std::string docker_fixture::name(const std::string& what) {
  names_.push_back("ahpd-" + host_id + "-" + what);
  return names_.back();
}

runtimes::machine_spec docker_fixture::spec(const std::string& of) const {
  runtimes::machine_spec out;
  out.name = of;
  out.image = "debian:bookworm-slim";
  return out;
}

runtimes::machine_record docker_fixture::create(const std::string& of) {
  return create(spec(of));
}

runtimes::machine_record docker_fixture::create(runtimes::machine_spec of) {
  auto made = ask<runtimes::machine_record>(
    [&](auto done) { sut->create(std::move(of), {}, std::move(done)); });
  if (const auto* no = std::get_if<runtimes::refusal>(&made))
    FAIL(no->sentence);
  return std::get<runtimes::machine_record>(std::move(made));
}

std::shared_ptr<docker_program> docker_fixture::start(const std::string& machine,
                                                      runtimes::exec_request what) {
  auto it = std::make_shared<docker_program>();
  runtimes::exec_events events;
  events.on_output = [it] {
    it->told_early = it->told_early || !it->answered || it->status;
    ++it->told;
  };
  events.on_exit = [it](runtimes::exit_status status) {
    it->told_early = it->told_early || !it->answered || it->status;
    it->status = std::move(status);
  };
  sut->inside(machine)->exec(std::move(what), std::move(events),
                             [it](runtimes::exec_result result) {
                               it->answered = true;
                               it->program = std::move(result.program);
                               it->refused = std::move(result.refused);
                             });
  until("start", [&] { return it->answered; });
  return it;
}

std::shared_ptr<docker_program> docker_fixture::run(const std::string& machine,
                                                    runtimes::exec_request what) {
  auto it = start(machine, std::move(what));
  REQUIRE_MESSAGE(it->program, it->refused);
  until("exit", [&] { return it->status.has_value(); });
  CHECK_FALSE(it->told_early);
  return it;
}

std::shared_ptr<docker_program> docker_fixture::sh(const std::string& machine,
                                                   const std::string& script) {
  return run(machine, program({"sh", "-c", script}));
}

runtimes::exec_request program(std::vector<std::string> argv) {
  runtimes::exec_request out;
  out.argv = std::move(argv);
  return out;
}

} // namespace ahpd::tests
