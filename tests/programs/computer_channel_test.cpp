// The channel x-ahpd-computers:// of the real hub, told by Docker's own events.

#include "tests/programs/computer_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ahpd;

namespace {

constexpr const char* channel = "x-ahpd-computers://";

const json::value* find_record(const json::value& state, const std::string& id) {
  for (const auto& row : state.at("records").as_array())
    if (row.at("id") == json::value(id))
      return &row.at("record");
  return nullptr;
}

/// The record in the next `what` of a machine that says `state`.
json::value wait_record(tests::ahp_peer& peer, const std::string& what, const std::string& id,
                        const std::string& state) {
  return peer
    .wait_action("x-ahpd-computers/" + what, channel,
                 [&](const json::value& envelope) {
                   const auto& action = envelope.at("action");
                   return action.at("id") == json::value(id) &&
                          action.at("record").at("state") == json::value(state);
                 })
    .at("action")
    .at("record");
}

void wait_gone(tests::ahp_peer& peer, const std::string& id) {
  peer.wait_action("x-ahpd-computers/removed", channel, [&](const json::value& envelope) {
    return envelope.at("action").at("id") == json::value(id);
  });
}

/// Every `changed` differs from what was known of its machine before.
void check_differences(const json::value& snapshot, const tests::ahp_peer& peer) {
  std::map<std::string, json::value> known;
  for (const auto& row : snapshot.at("records").as_array())
    known[std::string(row.at("id").as_string())] = row.at("record");
  for (const auto& frame : peer.frames()) {
    const auto* params = json::member(frame, "params");
    if (!params || json::string_member(*params, "channel") != channel)
      continue;
    const auto& action = params->at("action");
    const std::string id(action.at("id").as_string());
    const auto type = json::string_member(action, "type");
    const auto* record = json::member(action, "record");
    if (type == "x-ahpd-computers/added")
      CHECK_FALSE(known.count(id));
    if (type == "x-ahpd-computers/changed") {
      REQUIRE(known.count(id));
      CHECK_FALSE(known[id] == *record);
    }
    if (type == "x-ahpd-computers/removed")
      CHECK(known.erase(id) == 1);
    else
      known[id] = *record;
  }
}

} // namespace

TEST_CASE("commands and writes are told as added, changed and removed") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  auto peer = hub.peer();
  peer.initialize();
  const auto first = tests::make_machine(peer, "first");
  auto watcher = hub.peer("watcher");
  watcher.initialize();
  const auto snapshot = watcher.subscribe(channel);
  const auto* record = find_record(snapshot, first);
  REQUIRE(record);
  CHECK(record->as_object().size() == 2);
  CHECK(record->at("state") == "running");
  CHECK(record->at("status").at("Name") == json::value("/" + first));
  CHECK(record->at("status").at("State").at("Running") == true);

  const auto second = tests::unique_name("second");
  CHECK(peer.request("x-ahpd/computers/create",
                     {{"name", second}, {"manifest", {{"memory", "64m"}}}}) == json::object{});
  CHECK(wait_record(watcher, "added", second, "running").at("status").at("Name") ==
        json::value("/" + second));
  const auto ask = [&](const char* verb) {
    CHECK(peer.request(std::string("x-ahpd/computers/") + verb, {{"name", second}}) ==
          json::object{});
  };
  ask("stop");
  const auto stopped = wait_record(watcher, "changed", second, "stopped");
  CHECK(stopped.at("status").at("State").at("Status") == "exited");
  ask("start");
  wait_record(watcher, "changed", second, "running");
  ask("restart");
  wait_record(watcher, "changed", second, "running");
  ask("remove");
  wait_gone(watcher, second);

  peer.request("resourceWrite", tests::write_params("computer://" + first + "/state", "stopped"));
  wait_record(watcher, "changed", first, "stopped");
  peer.request("resourceDelete", {{"uri", "computer://" + first}});
  wait_gone(watcher, first);
  check_differences(snapshot, watcher);
  CHECK(hub.machines() == 0);
  CHECK(
    tests::refused(watcher, "resourceList", {{"uri", "computer://" + first}}).rfind("-32008", 0) ==
    0);
}

TEST_CASE("what is done outside is told at once") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  auto peer = hub.peer();
  peer.initialize();
  const auto snapshot = peer.subscribe(channel);
  const auto name = tests::make_machine(peer, "box");
  wait_record(peer, "added", name, "running");
  tests::docker({"stop", name});
  wait_record(peer, "changed", name, "stopped");
  tests::docker({"start", name});
  wait_record(peer, "changed", name, "running");
  tests::docker({"kill", name});
  CHECK(wait_record(peer, "changed", name, "stopped").at("status").at("State").at("ExitCode") ==
        137);
  const auto renamed = tests::unique_name("renamed");
  tests::docker({"rename", name, renamed});
  peer.wait_for("the renamed machine", [&](const json::value&) {
    const auto added = peer.actions("x-ahpd-computers/added", channel);
    const auto removed = peer.actions("x-ahpd-computers/removed", channel);
    return added.size() == 2 && removed.size() == 1;
  });
  tests::docker({"rm", "-f", renamed});
  wait_gone(peer, renamed);
  check_differences(snapshot, peer);
  CHECK(peer.request("resourceList", {{"uri", "computer://"}}).at("entries").as_array().empty());
}

TEST_CASE("two hubs on one Docker see only their own machines") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub one;
  tests::computer_hub two;
  auto peer_one = one.peer();
  auto peer_two = two.peer();
  peer_one.initialize();
  peer_two.initialize();
  const auto before = peer_two.subscribe(channel);
  CHECK(before.at("records").as_array().empty());
  const auto mine = tests::make_machine(peer_one, "mine");
  const auto theirs = tests::make_machine(peer_two, "theirs");
  wait_record(peer_two, "added", theirs, "running");
  CHECK(tests::refused(peer_two, "resourceDelete", {{"uri", "computer://" + mine}}) ==
        "-32008 There is no computer called " + mine + " on this host");
  tests::docker({"kill", mine});
  peer_one.request("resourceDelete", {{"uri", "computer://" + mine}});
  peer_two.request("resourceDelete", {{"uri", "computer://" + theirs}});
  wait_gone(peer_two, theirs);
  for (const auto& frame : peer_two.frames())
    CHECK(json::serialize(frame).find("\"id\":\"" + mine) == std::string::npos);
}

TEST_CASE("commands that were sent without waiting are done in their order") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  auto peer = hub.peer();
  peer.initialize();
  const auto name = tests::unique_name("order");
  const json::object named{{"name", name}};
  const json::object made{{"name", name}, {"manifest", json::object{}}};
  const auto create = peer.begin("x-ahpd/computers/create", made);
  const auto again = peer.begin("x-ahpd/computers/create", made);
  CHECK(peer.answer(create).at("result") == json::object{});
  CHECK(peer.answer(again).at("error").at("code") == -32010);
  const auto stop = peer.begin("x-ahpd/computers/stop", named);
  const auto start = peer.begin("x-ahpd/computers/start", named);
  const auto remove = peer.begin("x-ahpd/computers/remove", named);
  const auto late = peer.begin("x-ahpd/computers/start", named);
  for (const auto id : {stop, start, remove})
    CHECK(peer.answer(id).at("result") == json::object{});
  CHECK(peer.answer(late).at("error").at("message") ==
        json::value("There is no computer called " + name + " on this host"));
}
