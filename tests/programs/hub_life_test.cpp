// The real hub over time: clients that vanish, its own end, and its verbs.

#include "tests/programs/hub_support.hpp"

#include "config/daemon_record.hpp"
#include "config/process_id.hpp"
#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iterator>

using namespace ahpd;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

std::size_t descriptors_of(pid_t pid) {
  const fs::path all = "/proc/" + std::to_string(pid) + "/fd";
  return static_cast<std::size_t>(
    std::distance(fs::directory_iterator(all), fs::directory_iterator()));
}

/// Asks the hub until it counts no connection but this one: it has noticed that the others went.
void wait_alone(tests::ahp_peer& peer, const tests::hub_process& hub) {
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  for (;;) {
    const auto body = tests::http_get(hub.port(), "/metrics").body;
    if (body.find("ahpd_connections 1\n") != std::string::npos)
      return;
    REQUIRE_MESSAGE(std::chrono::steady_clock::now() < deadline, body);
    peer.request("ping");
  }
}

tests::peer_options named(const std::string& name) {
  tests::peer_options out;
  out.client_id = name;
  return out;
}

} // namespace

TEST_CASE("clients that vanish in the middle of a turn take nothing with them") {
  tests::marked_hub marked({{"--delta-window-ms", "0"}, {}, {}});
  auto& hub = marked.hub;
  tests::ahp_peer stays(hub.url(), named("stays"));
  stays.initialize({"ahp-root://"});
  const auto session = tests::open_session(stays, "ahp-session:/one");
  tests::run_turn(stays, session.chat, "t0", "true");
  wait_alone(stays, hub);
  const auto before = descriptors_of(hub.pid());

  {
    tests::ahp_peer starts(hub.url(), named("starts"));
    starts.initialize({session.uri, session.chat});
    starts.dispatch(session.chat,
                    tests::turn_started("t1", tests::wait_for_file("go") + "; echo through"));
    starts.request("ping"); // sent by now
    stays.wait_action("chat/toolCallReady", session.chat);
  } // gone without a word
  for (int i = 0; i < 200; ++i) {
    tests::ahp_peer passer(hub.url(), named("passer" + std::to_string(i)));
    if (i % 3 == 0)
      continue; // never said anything
    passer.initialize({session.uri, session.chat});
    if (i % 3 == 1)
      passer.dispatch(
        session.uri,
        {{"type", "session/activeClientSet"},
         {"activeClient", {{"clientId", "passer" + std::to_string(i)}, {"tools", json::array{}}}}});
    passer.request("ping");
    if (i % 20 == 0)
      passer.close();
  }
  wait_alone(stays, hub);
  CHECK_FALSE(marked.programs().empty());
  tests::touch(hub.folder() + "/go");
  tests::wait_turn_end(stays, session.chat, "t1");
  CHECK(tests::text_of(tests::call_result(stays, "t1").at("content"), "stdout") == "through\n");
  marked.wait_no_programs();
  wait_alone(stays, hub);
  for (int i = 1; i < 200; i += 3)
    // Each may come back for a while; this one says that it does not.
    tests::ahp_peer(hub.url(), named("passer" + std::to_string(i))).reconnect(0, {});
  wait_alone(stays, hub);
  CHECK(stays.subscribe(session.uri).at("activeClients").as_array().empty());
  CHECK(descriptors_of(hub.pid()) <= before);
}

TEST_CASE(
  "SIGTERM ends the hub and all it started, and the cut turn is told of at its next start") {
  tests::marked_hub marked;
  auto& hub = marked.hub;
  tests::ahp_peer peer(hub.url());
  peer.initialize();
  const auto session = tests::open_session(peer, "ahp-session:/one");
  peer.dispatch(session.chat,
                tests::turn_started("t1", "trap '' TERM; setsid sleep 1000 & (sleep 1000 &) ; "
                                          "echo up; sleep 1000; sleep 1000"));
  peer.wait_action("chat/toolCallContentChanged", session.chat);
  CHECK(hub.stop(10s) == 0);
  CHECK(marked.programs().empty());
  CHECK(peer.wait_closed().code == 1001);
  hub.start();
  tests::ahp_peer after(hub.url());
  after.initialize();
  const auto turn = after.subscribe(session.chat).at("turns").at(0);
  CHECK(turn.at("state") == "error");
  CHECK(tests::type_of(tests::run_turn(after, session.chat, "t2", "true")) == "chat/turnComplete");
}

TEST_CASE("an idle hub ends on SIGTERM and on SIGINT, with clients that do not answer or none") {
  tests::hub_process hub;
  {
    tests::ahp_peer deaf(hub.url());
    deaf.initialize({"ahp-root://"});
    tests::open_session(deaf, "ahp-session:/one");
    CHECK(hub.stop(10s, SIGTERM) == 0);
  }
  hub.start();
  CHECK(hub.stop(10s, SIGINT) == 0);
}

TEST_CASE("start, status, restart and stop keep the sessions of the real hub") {
  tests::scratch home;
  fs::create_directories(home.path() + "/work");
  const auto ahpd = [&](std::vector<std::string> words) {
    words.insert(words.begin(), AHPD_BINARY);
    return tests::run_program(
      {std::move(words), {{"XDG_CONFIG_HOME", home.path()}}, home.path() + "/work"});
  };
  const auto record = [&] { return config::find_daemon(home.path() + "/ahpd"); };
  struct guard {
    decltype(record)& find;
    ~guard() {
      if (const auto left = find())
        ::kill(left->pid, SIGKILL);
    }
  } ended{record};

  const auto started = ahpd({"start", "--port", "0", "--connection-token", "hush-hush-hush"});
  REQUIRE_MESSAGE(started.exit_code == 0, started.errors);
  REQUIRE(record());
  const auto first = *record();
  CHECK(ahpd({"status"}).exit_code == 0);
  tests::peer_options how;
  how.token = "hush-hush-hush";
  std::string chat;
  std::string uri = "ahp-session:/kept";
  {
    tests::ahp_peer peer(first.url, how);
    peer.initialize();
    chat = tests::open_session(peer, uri).chat;
    tests::run_turn(peer, chat, "t1", "pwd");
    CHECK(tests::text_of(tests::call_result(peer, "t1").at("content"), "stdout") ==
          home.path() + "/work\n");
  }
  const auto restarted = ahpd({"restart"});
  REQUIRE_MESSAGE(restarted.exit_code == 0, restarted.errors);
  REQUIRE(record());
  const auto second = *record();
  CHECK(second.pid != first.pid);
  CHECK(config::start_of(first.pid) != first.process);
  {
    tests::ahp_peer peer(second.url, how);
    peer.initialize();
    CHECK(peer.subscribe(chat).at("turns").as_array().size() == 1);
    peer.dispatch(chat, tests::turn_started("t2", "echo $$; exec sleep 1000"));
    const auto shown = peer.wait_action("chat/toolCallContentChanged", chat);
    const pid_t program = std::stoi(tests::text_of(shown.at("action").at("content"), "stdout"));
    const auto stopped = ahpd({"stop"});
    CHECK_MESSAGE(stopped.exit_code == 0, stopped.errors);
    CHECK(::kill(program, 0) == -1);
  }
  CHECK_FALSE(record());
  CHECK(ahpd({"status"}).exit_code == 1);
}
