#include "config/daemon_record.hpp"
#include "config/identity.hpp"
#include "config/process_id.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include <csignal>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ahpd;
namespace fs = std::filesystem;

namespace {

/// A process that does nothing until it is ended.
struct idle_child {
  pid_t pid = fork();

  idle_child() {
    REQUIRE(pid >= 0);
    if (pid == 0)
      for (;;)
        pause();
  }
  void end_unreaped() {
    kill(pid, SIGKILL);
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  }
  ~idle_child() {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
};

config::daemon_record record_of(pid_t pid) {
  return {
    pid,          config::start_of(pid),  "ws://127.0.0.1:9187", "http://127.0.0.1:9187/?tkn=s",
    {"/a", "/b"}, "2025-01-31T12:00:00Z", {"--port", "9187"},    "/work",
    true};
}

mode_t mode_of(const std::string& path) {
  struct stat st {};
  REQUIRE(stat(path.c_str(), &st) == 0);
  return st.st_mode & 0777;
}

std::string lock_refusal(const std::string& directory) {
  try {
    config::directory_lock lock(directory);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "locked";
}

} // namespace

TEST_CASE("a host's id is made once, for its owner only, and stays") {
  tests::scratch dir;
  const auto id = config::host_id(dir.path());
  CHECK(config::is_uuid(id));
  CHECK(tests::read_file(dir.path() + "/host-id") == id + "\n");
  CHECK(mode_of(dir.path() + "/host-id") == 0600);
  CHECK(config::host_id(dir.path()) == id);
}

TEST_CASE("a host id that is none refuses, and is left alone") {
  tests::scratch dir;
  const std::string file = dir.path() + "/host-id";
  const std::string good = "6f1ed002-ab5d-4c5e-9a71-0d4c0d3f4a11";
  for (const std::string& text :
       {std::string(), std::string("box"), good + "x\n", good + "\n\n", std::string(300, 'a')}) {
    std::ofstream(file) << text;
    CHECK_THROWS_AS(config::host_id(dir.path()), std::runtime_error);
    CHECK(tests::read_file(file) == text);
  }
  std::ofstream(file) << good; // written by hand, without a newline
  CHECK(config::host_id(dir.path()) == good);
  CHECK_THROWS_AS(config::host_id(dir.path() + "/none"), std::runtime_error);
}

TEST_CASE("a UUID is told from what looks like one") {
  CHECK(config::is_uuid("6f1ed002-ab5d-4c5e-9a71-0d4c0d3f4a1A"));
  CHECK_FALSE(config::is_uuid("6f1ed002ab5d-4c5e-9a71-0d4c0d3f4a11-"));
  CHECK_FALSE(config::is_uuid("6f1ed002-ab5d-4c5e-9a71-0d4c0d3f4a1g"));
}

TEST_CASE("a process is told from others by its start, and is gone once it has ended") {
  CHECK_FALSE(config::start_of(getpid()).empty());
  idle_child child;
  const auto start = config::start_of(child.pid);
  CHECK(start == config::start_of(child.pid));
  CHECK(start.find('@') != std::string::npos);
  child.end_unreaped();
  CHECK(config::start_of(child.pid).empty());
}

TEST_CASE("the record of a running daemon is read as it was written") {
  tests::scratch dir;
  CHECK_FALSE(config::find_daemon(dir.path()));
  CHECK_FALSE(config::find_daemon(dir.path() + "/none"));
  const auto written = record_of(getpid());
  config::write_daemon(dir.path(), written);
  CHECK(mode_of(dir.path() + "/daemon.json") == 0600);
  const auto read = config::find_daemon(dir.path());
  REQUIRE(read);
  CHECK(read->pid == written.pid);
  CHECK(read->url == written.url);
  CHECK(read->connect_url == written.connect_url);
  CHECK(read->paths == written.paths);
  CHECK(read->started_at == written.started_at);
  CHECK(read->argv == written.argv);
  CHECK(read->cwd == written.cwd);
  CHECK(read->token_typed);
}

TEST_CASE("a record whose process is gone, or is another one by now, is cleared") {
  tests::scratch dir;
  const std::string file = dir.path() + "/daemon.json";
  SUBCASE("gone") {
    idle_child child;
    config::write_daemon(dir.path(), record_of(child.pid));
    CHECK(config::find_daemon(dir.path()));
    child.end_unreaped();
  }
  SUBCASE("another") {
    auto record = record_of(getpid());
    record.process = "1" + record.process;
    config::write_daemon(dir.path(), record);
  }
  SUBCASE("no start") {
    auto record = record_of(999999999);
    config::write_daemon(dir.path(), record);
  }
  SUBCASE("no record") {
    std::ofstream(file) << "{";
  }
  SUBCASE("of other types") {
    std::ofstream(file) << R"({"pid": "x", "process": 1, "argv": {}})";
  }
  CHECK_FALSE(config::find_daemon(dir.path()));
  CHECK_FALSE(fs::exists(file));
}

TEST_CASE("a daemon clears its own record only") {
  tests::scratch dir;
  config::write_daemon(dir.path(), record_of(getpid()));
  config::clear_daemon(dir.path(), getpid() + 1);
  CHECK(config::find_daemon(dir.path()));
  config::clear_daemon(dir.path(), getpid());
  CHECK_FALSE(fs::exists(dir.path() + "/daemon.json"));
  config::clear_daemon(dir.path(), getpid());
}

TEST_CASE("the URL to connect to can be dialled and carries the token encoded") {
  CHECK(config::connect_url("ws://127.0.0.1:80", "") == "http://127.0.0.1:80/");
  CHECK(config::connect_url("ws://0.0.0.0:80", "a b+/=%é~") ==
        "http://127.0.0.1:80/?tkn=a%20b%2B%2F%3D%25%C3%A9~");
  CHECK(config::token_of(config::connect_url("ws://h:80", "a b+/=%é~")) == "a b+/=%é~");
  CHECK(config::token_of(config::connect_url("ws://h:80", "")).empty());
  CHECK(config::token_of("http://h/?tkn=%") == std::string(1, '\0'));
  CHECK(config::connect_url("ws://[::]:80", "x") == "http://[::1]:80/?tkn=x");
  CHECK(config::connect_url("wss://host:80", "x") == "https://host:80/?tkn=x");
}

TEST_CASE("times are written in UTC") {
  CHECK(config::iso_time(0) == "1970-01-01T00:00:00Z");
  CHECK(config::iso_time(1738324800) == "2025-01-31T12:00:00Z");
}

TEST_CASE("one hub at a time uses a configuration directory") {
  tests::scratch dir;
  {
    config::directory_lock lock(dir.path());
    CHECK(lock_refusal(dir.path()) == "Another ahpd (pid " + std::to_string(getpid()) +
                                        ") keeps its sessions in " + dir.path() +
                                        "; stop it, or pass --sessions memory");
  }
  CHECK(lock_refusal(dir.path()) == "locked");
  CHECK(lock_refusal(dir.path() + "/none").find("could not be opened") != std::string::npos);
}
