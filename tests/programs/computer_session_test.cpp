// Sessions of the real hub in machines on a real Docker Engine.

#include "tests/programs/computer_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace ahpd;

namespace {

json::object in_machine(const std::string& name) {
  return {{"computer", "computer://" + name}};
}

/// The command lines of all that runs in a machine.
std::string processes(const std::string& machine) {
  return tests::docker({"top", machine, "-eo", "pid,args"});
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Why the host refuses to start a turn.
std::string refused_turn(tests::ahp_peer& peer, const tests::session& in) {
  const auto turn = tests::begin_turn(peer, in, "true");
  const auto echo = peer.wait_action("chat/turnStarted", in.chat, [&](const json::value& envelope) {
    return envelope.at("action").at("turnId") == json::value(turn);
  });
  return std::string(json::string_member(echo, "rejectionReason").value_or("it was taken"));
}

} // namespace

TEST_CASE("a session that names no machine of this host is refused, and its name stays free") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  auto peer = hub.peer();
  peer.initialize();
  const auto absent = tests::unique_name("absent");
  const auto session = "ahp-session:/" + tests::unique_name("refused");
  const std::pair<json::value, std::string> wrong[] = {
    {json::value("computer://" + absent), "There is no computer called " + absent},
    {"computer://", "computer:// is not a computer URI; a session runs in computer://<id>"},
    {"computer://a/state",
     "computer://a/state is not a computer URI; a session runs in computer://<id>"},
    {"box", "box is not a computer URI; a session runs in computer://<id>"},
    {5, "config.computer must be a string"},
    {"devcontainer:///srv/app", "Nothing here makes a computer from devcontainer:///srv/app"},
    {"disposable:claude", "Nothing here makes a computer from disposable:claude"},
  };
  for (const auto& [computer, words] : wrong) {
    CAPTURE(words);
    CHECK(tests::refused(peer, "createSession",
                         {{"channel", session}, {"config", {{"computer", computer}}}}) ==
          "-32602 " + words);
  }
  CHECK(peer.request("listSessions").at("items").as_array().empty());
  CHECK(peer.request("createSession", {{"channel", session}}) == json::value(nullptr));
}

TEST_CASE("a turn runs inside: host name, folder, status, both streams, bytes") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub({{"bodyMounts", true}}, {{"E2E_OF_THE_HUB", "outside"}});
  auto peer = hub.peer();
  peer.initialize();
  const tests::scratch files;
  const auto app = files.path() + "/app";
  std::filesystem::create_directories(app + "/deep/er");
  const auto name = tests::make_machine(
    peer, "run",
    {{"workdir", "/var"},
     {"mounts", json::array{files.path() + ":/all", app + ":/workspaces/app"}}});
  const auto record = tests::inspect(name);

  const auto in = tests::begin_session(peer, in_machine(name));
  auto turn = tests::run_turn(peer, in, "hostname; echo err >&2; exit 7");
  CHECK(turn.type == "chat/turnComplete");
  CHECK(turn.out == std::string(record.at("Config").at("Hostname").as_string()) + "\n");
  CHECK(turn.err == "err\n");
  CHECK(turn.code() == 7);
  CHECK(turn.failure() == "exit status 7");

  turn = tests::run_turn(peer, in, "printf 'a\\377\\000b'; pwd >&2; env >&2");
  CHECK(turn.out == std::string("a\xff\0b", 4));
  CHECK(turn.err.rfind("/var\n", 0) == 0); // no mount covers the hub's folder
  CHECK_FALSE(holds(turn.err, "E2E_OF_THE_HUB"));
  CHECK(turn.code() == 0);
  CHECK(tests::run_turn(peer, in, "kill -9 $$").code() == 137);

  // The longest mount wins.
  const auto mapped = tests::begin_session(
    peer, in_machine(name), {{"workingDirectories", json::array{"file://" + app + "/deep/er"}}});
  CHECK(tests::run_turn(peer, mapped, "pwd; touch inside").out == "/workspaces/app/deep/er\n");
  CHECK(std::filesystem::exists(app + "/deep/er/inside"));
}

TEST_CASE("a cancelled turn ends with all it started, children in sessions of their own too") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  auto peer = hub.peer();
  peer.initialize();
  const auto name = tests::make_machine(peer, "cancel");
  const auto in = tests::begin_session(peer, in_machine(name));
  const auto turn = tests::begin_turn(
    peer, in, "setsid sh -c 'trap \"\" TERM; sleep 7771 & sleep 7772' & echo rea''dy; sleep 7773");
  tests::wait_output(peer, in, "ready");
  // The marker that a turn's programs are found by is theirs alone.
  CHECK_FALSE(holds(json::serialize(tests::inspect(name)), "AHPD_RUN"));
  CHECK_FALSE(holds(tests::docker({"exec", name, "cat", "/proc/1/environ"}), "AHPD_RUN"));
  peer.dispatch(in.chat, {{"type", "chat/turnCancelled"}, {"turnId", turn}, {"duration", 1}});
  CHECK(tests::end_of_turn(peer, in, turn).type == "chat/turnCancelled");
  CHECK(tests::run_turn(peer, in, "echo next").out == "next\n"); // begins when all is gone
  CHECK_FALSE(holds(processes(name), "sleep 777"));
}

TEST_CASE("a machine that stops under a turn ends it with a sentence, and the hub serves on") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  auto peer = hub.peer();
  peer.initialize();
  const auto name = tests::make_machine(peer, "killed");
  const auto in = tests::begin_session(peer, in_machine(name));
  auto turn = tests::begin_turn(peer, in, "echo rea''dy; sleep 7774");
  tests::wait_output(peer, in, "ready");
  tests::docker({"kill", name});
  auto end = tests::end_of_turn(peer, in, turn);
  CHECK(end.out == "ready\n");
  CHECK(end.failure() == "how it ended is not known: " + name + " stopped while it ran");

  end = tests::run_turn(peer, in, "echo never");
  CHECK(end.type == "chat/error");
  CHECK_MESSAGE(holds(end.message, "is not running"), end.message);

  peer.request("x-ahpd/computers/start", {{"name", name}});
  CHECK(tests::run_turn(peer, in, "echo again").out == "again\n");

  turn = tests::begin_turn(peer, in, "echo rea''dy; sleep 7775");
  tests::wait_output(peer, in, "ready");
  peer.request("resourceDelete", {{"uri", "computer://" + name}});
  end = tests::end_of_turn(peer, in, turn);
  // A removal stops it first, so either is the truth when it is looked at.
  const auto lost = "how it ended is not known: " + name;
  CHECK((end.failure() == lost + " was removed while it ran" ||
         end.failure() == lost + " stopped while it ran"));
  CHECK(refused_turn(peer, in) == "There is no computer called " + name);
  CHECK(hub.machines() == 0);

  const auto here = tests::begin_session(peer, {});
  CHECK(tests::run_turn(peer, here, "echo served").out == "served\n");
}

TEST_CASE("the picker offers this host first, then the machines that run") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  auto peer = hub.peer();
  peer.initialize();
  const auto pick = [&](json::object more) {
    more["property"] = "computer";
    return peer.request("sessionConfigCompletions", std::move(more)).at("items");
  };
  const json::value this_host{{"value", ""}, {"label", "This host"}};
  CHECK(pick({}) == json::array{this_host});
  const auto one = tests::make_machine(peer, "one");
  const auto two = tests::make_machine(peer, "two");
  const auto row = [](const std::string& name) {
    return json::value{{"value", "computer://" + name},
                       {"label", name},
                       {"description", "debian:bookworm-slim \u00b7 running"}};
  };
  const auto rows = pick({}).as_array();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0] == this_host);
  CHECK(std::find(rows.begin(), rows.end(), row(one)) != rows.end());
  CHECK(pick({{"query", "ONE"}}) == json::array{row(one)});
  peer.request("x-ahpd/computers/stop", {{"name", one}});
  CHECK(pick({}) == json::array{this_host, row(two)});
  CHECK(pick({{"query", "one"}}).as_array().empty());

  const auto setting = peer.request("resolveSessionConfig").at("schema").at("properties");
  CHECK(setting.at("computer").at("type") == "string");
  CHECK(setting.at("computer").at("enumDynamic") == true);
  CHECK(setting.at("computer").at("sessionMutable") == false);
  const auto in = tests::begin_session(peer, in_machine(two));
  const auto state = peer.subscribe(in.uri);
  CHECK(state.at("config").at("values").at("computer") == json::value("computer://" + two));
  CHECK(state.at("config").at("schema").at("properties").at("computer") == setting.at("computer"));
}

TEST_CASE("what a turn leaves in the background of its machine ends with its session") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  auto peer = hub.peer();
  peer.initialize();
  const auto name = tests::make_machine(peer, "background");
  const auto in = tests::begin_session(peer, in_machine(name));
  tests::run_turn(peer, in,
                  "mkfifo /tmp/line; exec 3<>/tmp/line; (setsid sleep 7779 >/dev/null 2>&1 &)");
  CHECK(holds(processes(name), "sleep 7779"));
  // ends when nobody holds the line any more
  tests::program watch(
    {{"/usr/bin/env", "docker", "exec", name, "sh", "-c", "exec </tmp/line; echo open; exec cat"},
     {},
     {}});
  watch.wait_for_output("open");
  peer.request("disposeSession", {{"channel", in.uri}});
  CHECK(watch.wait() == 0);
}

TEST_CASE("a hub that was killed under a turn knows its machine, ends the turn and cleans up") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  std::string name;
  tests::session in;
  {
    auto peer = hub.peer();
    peer.initialize();
    name = tests::make_machine(peer, "crash");
    in = tests::begin_session(peer, in_machine(name));
    tests::begin_turn(peer, in, "setsid sleep 7776 & echo rea''dy; sleep 7777");
    tests::wait_output(peer, in, "ready");
    hub.process().kill();
    peer.wait_closed();
  }
  CHECK(holds(processes(name), "sleep 7776"));
  hub.process().start();
  auto peer = hub.peer();
  peer.initialize();
  const auto entries = peer.request("resourceList", {{"uri", "computer://"}}).at("entries");
  CHECK(entries == json::value{{{"name", name}, {"type", "directory"}}});
  CHECK(tests::read_text(peer, "computer://" + name + "/state") == "running\n");

  const auto state = peer.subscribe(in.chat);
  CHECK_FALSE(json::member(state, "activeTurn"));
  const auto& turns = state.at("turns").as_array();
  REQUIRE(turns.size() == 1);
  CHECK(turns[0].at("state") == "error");
  CHECK(holds(json::serialize(turns[0]), "The host stopped while this turn ran"));

  CHECK(tests::run_turn(peer, in, "echo next").out == "next\n");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (holds(processes(name), "sleep 777")) // each look is a program of its own and takes a while
    REQUIRE_MESSAGE(std::chrono::steady_clock::now() < deadline, processes(name));
}
