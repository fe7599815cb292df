#include "tests/runtimes/docker_support.hpp"

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

using namespace ahpd;
using namespace ahpd::runtimes;
using namespace ahpd::tests;
namespace asio = boost::asio;
using local = asio::local::stream_protocol;

namespace {

/// One connection to the engine, carried both ways until either side ends.
struct carried : std::enable_shared_from_this<carried> {
  explicit carried(local::socket from) : near(std::move(from)), far(near.get_executor()) {}

  void start() {
    boost::system::error_code ec;
    far.connect(local::endpoint("/var/run/docker.sock"), ec);
    if (ec)
      return;
    pump(near, far, to_engine);
    pump(far, near, from_engine);
  }

  void pump(local::socket& in, local::socket& out, std::array<char, 16384>& bytes) {
    in.async_read_some(asio::buffer(bytes), [this, me = shared_from_this(), &in, &out,
                                             &bytes](boost::system::error_code ec, std::size_t n) {
      boost::system::error_code ignored;
      if (ec) {
        out.shutdown(local::socket::shutdown_send, ignored);
        return;
      }
      if (&in == &near)
        asked.append(bytes.data(), n);
      else if (hides_pids && asked.find("GET /v1.41/exec/") != std::string::npos)
        hide_pid({bytes.data(), n});
      asio::async_write(
        out, asio::buffer(bytes.data(), n),
        [this, me, &in, &out, &bytes](boost::system::error_code failed, std::size_t) {
          if (!failed)
            pump(in, out, bytes);
        });
    });
  }

  /// What has no "Pid" has not been started yet.
  static void hide_pid(std::span<char> answer) {
    const std::string_view name = "\"Pid\"";
    const auto at = std::search(answer.begin(), answer.end(), name.begin(), name.end());
    if (at != answer.end())
      at[1] = 'p';
  }

  void cut() {
    boost::system::error_code ignored;
    near.close(ignored);
    far.close(ignored);
  }

  bool hides_pids = false;
  local::socket near;
  local::socket far;
  std::string asked;
  std::array<char, 16384> to_engine{};
  std::array<char, 16384> from_engine{};
};

/// A way to the real engine that a test can cut.
struct way {
  scratch folder;
  docker_fixture on{{{"DOCKER_HOST", "unix://" + folder.path() + "/way.sock"}},
                    std::chrono::seconds(2)};
  bool hides_pids = false; ///< of programs
  local::acceptor acceptor{on.io};
  std::vector<std::shared_ptr<carried>> all;

  way() { open(); }
  ~way() { cut(""); }

  void open() {
    const auto path = folder.path() + "/way.sock";
    ::remove(path.c_str());
    acceptor = local::acceptor(on.io, local::endpoint(path));
    accept();
  }

  void accept() {
    acceptor.async_accept([this](boost::system::error_code ec, local::socket socket) {
      if (ec)
        return;
      all.push_back(std::make_shared<carried>(std::move(socket)));
      all.back()->hides_pids = hides_pids;
      all.back()->start();
      accept();
    });
  }

  /// Ends the way, or only the connections that asked for `path`, and takes no new ones.
  void cut(const std::string& path) {
    acceptor.close();
    for (const auto& one : all)
      if (one->asked.find(path) != std::string::npos)
        one->cut();
  }

  bool carries(const std::string& path) const {
    for (const auto& one : all)
      if (one->near.is_open() && one->asked.find(path) != std::string::npos)
        return true;
    return false;
  }
};

} // namespace

TEST_CASE("an engine that goes away loses a program's end, and none is made up") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  way to;
  const auto box = to.on.create(to.on.name("lost")).id;
  std::string lost;
  bool gap = false;
  to.on.sut->watch([](machine_event) {}, [&] { gap = true; }, [&](std::string why) { lost = why; });
  const auto it = to.on.start(box, program({"sh", "-c", "echo up; sleep 300"}));
  REQUIRE(it->program);
  to.on.until("output", [&] { return it->told > 0; });
  to.cut("");
  to.on.until("exit", [&] { return it->status.has_value(); });
  CHECK_FALSE(it->status->code);
  CHECK_FALSE(it->status->signal);
  CHECK(it->status->lost.find("did not answer") != std::string::npos);
  CHECK(it->out() == "up\n");
  CHECK(it->told == 1);
  to.on.until("loss", [&] { return !lost.empty(); });
  CHECK_FALSE(gap);
  to.open();
  to.on.until("gap", [&] { return gap; });
  CHECK(to.on.sh(box, "echo again")->out() == "again\n");
}

TEST_CASE("a program's end that no event told of is learnt after the gap") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  way to;
  const auto box = to.on.create(to.on.name("missed")).id;
  auto what = program({"sh", "-c", "read -r line; exec >&- 2>&-; read -r line; exit 7"});
  what.input = true;
  const auto it = to.on.start(box, what);
  REQUIRE(it->program);
  to.on.until("events", [&] { return to.carries("/events"); });
  to.cut("/events");
  it->program->write("close\n");
  it->program->write("end\n");
  to.open();
  to.on.until("exit", [&] { return it->status.has_value(); });
  CHECK(it->status->code == 7);
}

TEST_CASE("a program that the engine takes and never starts is refused in a sentence") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  way to;
  const auto box = to.on.create(to.on.name("stuck")).id;
  to.cut("");
  to.hides_pids = true;
  to.open();
  const auto it = to.on.start(box, program({"sleep", "300"}));
  CHECK_FALSE(it->program);
  CHECK(it->refused == "Docker took the program and did not start it within 2 s");
}
