// What aiod costs, each figure beside its rival in one run.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "protocol/json.hpp"
#include "tests/bench/load.hpp"
#include "tests/support/bench_report.hpp"
#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

using namespace ahpd;
using clock_type = std::chrono::steady_clock;

namespace {

constexpr int rounds = 5;
std::string binary = AIOD_BINARY;

double seconds_since(clock_type::time_point began) {
  return std::chrono::duration<double>(clock_type::now() - began).count();
}

/// The daemon under measurement, on a free port.
struct daemon {
  tests::scratch files;
  std::unique_ptr<tests::program> running;
  std::uint16_t port = 0;
  double first_answer = 0; ///< seconds from its start to the first answer of /health

  daemon() {
    port = free_port();
    const auto began = clock_type::now();
    running = std::make_unique<tests::program>(tests::program_options{
      {binary, "start", "--host", "127.0.0.1", "--port", std::to_string(port)},
      {{"AIO_RUNTIME_DIR", files.path() + "/run"}, {"AIO_RUST_LOG_LEVEL", "error"}},
      {}});
    const std::string ask = "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    while (true) {
      const int fd = connect_to(port);
      if (fd >= 0) {
        char byte;
        const bool answered =
          ::send(fd, ask.data(), ask.size(), MSG_NOSIGNAL) > 0 && ::recv(fd, &byte, 1, 0) == 1;
        ::close(fd);
        if (answered)
          break;
      }
      if (seconds_since(began) > 10)
        bench::give_up("aiod does not answer");
    }
    first_answer = seconds_since(began);
  }

  static std::uint16_t free_port() {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    ::bind(fd, reinterpret_cast<sockaddr*>(&name), size);
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size);
    ::close(fd);
    return ntohs(name.sin_port);
  }

  static int connect_to(std::uint16_t port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port = htons(port);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0)
      return fd;
    ::close(fd);
    return -1;
  }
};

/// One connection that is kept.
class client {
public:
  explicit client(std::uint16_t port) : fd_(daemon::connect_to(port)) {
    if (fd_ < 0)
      bench::give_up("no connection");
  }
  ~client() { ::close(fd_); }
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  void run_true() {
    static const std::string body = R"({"command":"true"})";
    static const std::string ask = "POST /v2/commands HTTP/1.1\r\nHost: x\r\nContent-Type: "
                                   "application/json\r\nContent-Length: " +
                                   std::to_string(body.size()) + "\r\n\r\n" + body;
    if (::send(fd_, ask.data(), ask.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(ask.size()))
      bench::give_up("the request was not taken");
    std::string got;
    char buffer[4096];
    while (got.find("\"hint\":null}") == std::string::npos) {
      const auto n = ::recv(fd_, buffer, sizeof buffer, 0);
      if (n <= 0)
        bench::give_up("no answer");
      got.append(buffer, static_cast<std::size_t>(n));
    }
    if (got.find("\"exit_code\":0") == std::string::npos)
      bench::give_up(got);
  }

private:
  int fd_;
};

/// What any program would do: start `bash -c true` and wait for it.
void spawn_true() {
  static char bash[] = "bash", flag[] = "-c", word[] = "true";
  char* const argv[] = {bash, flag, word, nullptr};
  pid_t pid = 0;
  if (::posix_spawnp(&pid, "bash", nullptr, nullptr, argv, ::environ) != 0)
    bench::give_up("bash does not start");
  int status = 0;
  ::waitpid(pid, &status, 0);
}

template <class Work> double median_of(int count, Work work) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const auto began = clock_type::now();
    work();
    times.push_back(seconds_since(began));
  }
  return bench::median(times);
}

/// Commands a second, `threads` of them at work for a while.
template <class Make> double throughput(int threads, Make make) {
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> count{0};
  std::vector<std::thread> all;
  const auto began = clock_type::now();
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&] {
      auto work = make();
      while (!over) {
        work();
        ++count;
      }
    });
  std::this_thread::sleep_for(std::chrono::seconds(3));
  over = true;
  for (auto& each : all)
    each.join();
  return static_cast<double>(count) / seconds_since(began);
}

void measure_commands(tests::bench_report& report) {
  daemon sut;
  client one(sut.port);
  one.run_true();
  std::vector<double> ratios, times, rates;
  for (int i = 0; i < rounds; ++i) {
    const auto rival = median_of(200, spawn_true);
    const auto ours = median_of(200, [&] { one.run_true(); });
    ratios.push_back(ours / rival);
    times.push_back(ours * 1e3);
  }
  for (int i = 0; i < rounds; ++i) {
    const auto rival = throughput(2, [] { return spawn_true; });
    const auto ours =
      throughput(32, [&] { return [it = std::make_shared<client>(sut.port)] { it->run_true(); }; });
    rates.push_back(ours / rival);
  }
  report.shows("POST /v2/commands of true, p50", bench::median(times), "ms");
  report.at_most("  against spawn of bash -c true and wait", bench::median(ratios), "ratio", 1.25);
  report.at_least("the same, 32 clients, against 2 threads that spawn", bench::median(rates),
                  "ratio", 0.8);
}

void measure_start(tests::bench_report& report) {
  std::vector<double> starts, memory;
  for (int i = 0; i < rounds; ++i) {
    daemon sut;
    starts.push_back(sut.first_answer * 1e3);
    std::this_thread::sleep_for(std::chrono::milliseconds(1500)); // its first probes are over
    memory.push_back(bench::memory_of(sut.running->pid()) / 1e6);
  }
  report.at_most("start to the first answer of /health", bench::median(starts), "ms", 20);
  report.at_most("idle resident memory", bench::median(memory), "MB", 8);
  struct stat s {};
  if (::stat(binary.c_str(), &s) == 0)
    report.at_most("the file", static_cast<double>(s.st_size) / 1e6, "MB", 12);
}

} // namespace

int main(int argc, char** argv) {
  doctest::Context checks;
  checks.setAsDefaultForAssertsOutOfTestCases();
  std::signal(SIGPIPE, SIG_IGN);
  tests::bench_report report(argc, argv);
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--aiod" && i + 1 < argc)
      binary = argv[++i];
    else if (argv[i][0] != '-')
      wanted.emplace_back(argv[i]);
  }
  const std::vector<std::pair<std::string, void (*)(tests::bench_report&)>> parts{
    {"start", measure_start}, {"commands", measure_commands}};
  try {
    for (const auto& [name, measure] : parts)
      if (wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end())
        measure(report);
  } catch (const std::exception& why) {
    std::fprintf(stderr, "bench: %s\n", why.what());
    return 1;
  }
  return report.finish();
}
