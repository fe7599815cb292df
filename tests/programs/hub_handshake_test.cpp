// The first words between a client and the real hub.

#include "tests/programs/hub_support.hpp"

#include "protocol/ahp/codes.hpp"
#include "protocol/jsonrpc/message.hpp"

#include <doctest/doctest.h>

using namespace ahpd;

namespace {

struct hub_fixture {
  tests::hub_process hub;

  tests::peer_options speaking(std::vector<std::string> versions) const {
    tests::peer_options out;
    out.versions = std::move(versions);
    return out;
  }

  std::string chosen(std::vector<std::string> versions) {
    tests::ahp_peer peer(hub.url(), speaking(std::move(versions)));
    return std::string(peer.initialize().at("protocolVersion").as_string());
  }
};

json::value code_of(const json::value& error) {
  return error.at("code");
}

} // namespace

TEST_CASE_FIXTURE(hub_fixture, "the version of a connection is an offered one, word for word") {
  CHECK(chosen({"1.0.0"}) == "1.0.0");
  CHECK(chosen({"0.9.0"}) == "0.9.0");
  CHECK(chosen({"0.9.0", "1.0.0", "1.3.7", "1.2.0", "2.0.0"}) == "1.3.7");
  CHECK(chosen({"0.9.3", "0.9.7"}) == "0.9.3");
  CHECK(chosen({"1.0", "v1.0.0", "01.0.0", "1.0.0-rc.1", "", "0.9.0"}) == "0.9.0");
}

TEST_CASE_FIXTURE(hub_fixture, "a client without a common version is told which are served, and "
                               "the connection ends") {
  for (const auto& offered :
       std::vector<std::vector<std::string>>{{"2.0.0", "0.5.2"}, {"nonsense"}, {}}) {
    tests::ahp_peer peer(hub.url(), speaking(offered));
    const auto error = peer.request_error(
      "initialize", {{"protocolVersions", json::value_from(offered)}, {"clientId", "old"}});
    CHECK(code_of(error) == ahp::unsupported_protocol_version);
    const auto& served = error.at("data").at("supportedVersions").as_array();
    CHECK(served.size() >= 2);
    CHECK(served.front() == "^1.0.0");
    peer.wait_closed();
  }
}

TEST_CASE_FIXTURE(hub_fixture, "initialize says who the host is and where it starts") {
  tests::ahp_peer peer(hub.url());
  const auto result = peer.initialize();
  CHECK(result.at("serverInfo").at("name") == "ahpd");
  CHECK(result.at("defaultDirectory") == json::value("file://" + hub.folder()));
  CHECK(result.at("snapshots").as_array().empty());
  CHECK(result.at("serverSeq").is_number());
  const auto& grants = result.at("_meta").at("ahpd.grants").as_object();
  for (const char* subject : {"session", "chat", "file", "config"})
    CHECK_MESSAGE(grants.contains(subject), subject);
  CHECK(grants.at("session").at("read") == json::value({"list", "state"}));
}

TEST_CASE("the computer plugin is announced when it is loaded, and only then") {
  const auto meta_with = [](std::vector<std::string> flags) {
    tests::hub_process hub({std::move(flags), {}, {}});
    tests::ahp_peer peer(hub.url());
    return peer.initialize().at("_meta").as_object();
  };
  const auto with = meta_with({"--plugin", "@ahpd/computer"});
  CHECK(with.at("ahpd.resourceProviders").at("computer").at("root") == "computer://");
  CHECK(with.at("ahpd.grants").as_object().contains("computer"));
  const auto without = meta_with({"--no-plugins"});
  CHECK_FALSE(without.contains("ahpd.resourceProviders"));
  CHECK_FALSE(without.at("ahpd.grants").as_object().contains("computer"));
}

TEST_CASE_FIXTURE(hub_fixture, "before initialize a ping is answered and nothing else") {
  tests::ahp_peer peer(hub.url());
  CHECK(peer.request("ping").is_null());
  for (const char* method : {"listSessions", "subscribe", "createSession", "disposeSession",
                             "fetchTurns", "resourceRead", "resolveSessionConfig"}) {
    const auto error = peer.request_error(method);
    CHECK_MESSAGE(code_of(error) == jsonrpc::invalid_request, method);
    CHECK(std::string(error.at("message").as_string()).find("initialize comes first") == 0);
  }
  peer.dispatch("ahp-root://", {{"type", "root/configChanged"}, {"config", json::object{}}});
  peer.notify("unsubscribe");
  CHECK(peer.request("ping").is_null());
  CHECK(peer.actions("").empty());
  CHECK(peer.initialize().at("protocolVersion") == "1.0.0");
}

TEST_CASE_FIXTURE(hub_fixture, "a second initialize is refused and changes nothing") {
  tests::ahp_peer peer(hub.url(), speaking({"0.9.0"}));
  peer.initialize();
  const auto error = peer.request_error(
    "initialize", {{"protocolVersions", {"1.0.0"}}, {"clientId", "someone else"}});
  CHECK(code_of(error) == jsonrpc::invalid_request);
  const auto session = tests::open_session(peer, "ahp-session:/one");
  peer.dispatch(session.chat, {{"type", "chat/draftChanged"}});
  const auto echo = peer.wait_action("chat/draftChanged", session.chat);
  CHECK(echo.at("origin").at("clientId") == "peer");
}

TEST_CASE_FIXTURE(hub_fixture,
                  "a client nobody knows cannot reconnect, and initializes on the same socket") {
  tests::ahp_peer peer(hub.url());
  const auto error = peer.request_error(
    "reconnect",
    {{"clientId", "peer"}, {"lastSeenServerSeq", 3}, {"subscriptions", {"ahp-root://"}}});
  CHECK(error.at("code").as_int64() < 0);
  CHECK(peer.initialize({"ahp-root://"}).at("snapshots").as_array().size() == 1);
}

TEST_CASE_FIXTURE(hub_fixture, "initial subscriptions give a snapshot each, unknown ones none") {
  tests::ahp_peer first(hub.url());
  first.initialize();
  const auto session = tests::open_session(first, "ahp-session:/one");
  tests::run_turn(first, session.chat, "t1", "echo hello");

  tests::peer_options how;
  how.client_id = "second";
  tests::ahp_peer second(hub.url(), how);
  const auto result =
    second.initialize({"ahp-session:/none", session.chat, "ahp-chat:/none", "ahp-root://",
                       "nonsense", "", "ahp-terminal:/none", session.uri});
  const auto& snapshots = result.at("snapshots").as_array();
  REQUIRE(snapshots.size() == 3);
  CHECK(snapshots[0].at("resource") == json::value(session.chat));
  CHECK(snapshots[0].at("state").at("turns").as_array().size() == 1);
  CHECK(snapshots[1].at("resource") == "ahp-root://");
  CHECK(snapshots[1].at("state").at("agents").at(0).at("provider") == "shell");
  CHECK(snapshots[2].at("resource") == json::value(session.uri));

  tests::run_turn(first, session.chat, "t2", "true");
  tests::wait_turn_end(second, session.chat, "t2");
  second.wait_notification("root/sessionSummaryChanged");
}

TEST_CASE_FIXTURE(hub_fixture, "a client of 0.9 is told nothing that 1.0 added") {
  tests::ahp_peer modern(hub.url());
  modern.initialize();
  auto how = speaking({"0.9.0"});
  how.client_id = "old";
  tests::ahp_peer old(hub.url(), how);
  old.initialize();
  const auto session = tests::open_session(modern, "ahp-session:/one");
  old.subscribe(session.uri);
  old.subscribe(session.chat);
  const auto row = [](tests::ahp_peer& peer) {
    return peer.request("listSessions").at("items").at(0).as_object();
  };
  CHECK(row(modern).contains("defaultChat"));
  CHECK_FALSE(row(old).contains("defaultChat"));
  CHECK_FALSE(row(old).contains("chats"));

  modern.dispatch(session.chat, {{"type", "chat/isReadChanged"}, {"isRead", true}});
  modern.wait_action("chat/isReadChanged", session.chat);
  tests::run_turn(modern, session.chat, "t1", "true");
  tests::wait_turn_end(old, session.chat, "t1");
  CHECK(old.actions("chat/isReadChanged").empty());
  CHECK(old.actions("chat/turnStarted").size() == 1);
}
