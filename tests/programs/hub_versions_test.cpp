// Clients of every served version on one real hub.

#include "tests/programs/hub_support.hpp"

#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/reducers.hpp"
#include "protocol/jsonrpc/message.hpp"

#include <doctest/doctest.h>

#include <deque>

using namespace ahpd;

namespace {

struct versions_fixture {
  tests::hub_process hub;
  std::deque<tests::ahp_peer> peers;

  /// A client that offers these; it is initialized and follows the root channel.
  tests::ahp_peer& speaking(std::vector<std::string> offered) {
    tests::peer_options how;
    how.client_id = "speaks " + offered.front();
    how.versions = std::move(offered);
    auto& peer = peers.emplace_back(hub.url(), how);
    hello = peer.initialize({"ahp-root://"});
    return peer;
  }

  json::value hello; ///< what the newest was answered
};

json::value row_of(tests::ahp_peer& peer) {
  return peer.request("listSessions").at("items").at(0);
}

/// What a client makes of a chat by its snapshot and every action that came since.
json::value folded(const tests::ahp_peer& peer, json::value state, const std::string& chat) {
  for (const auto& envelope : peer.actions("", chat))
    ahp::reduce(ahp::channel_kind::chat, state, envelope.at("action"));
  return state;
}

const std::vector<std::string> all{"0.6.0", "0.7.0", "0.8.0", "0.9.0", "1.0.0"};

} // namespace

TEST_CASE_FIXTURE(versions_fixture, "the highest 1.x is spoken, else what a client prefers") {
  const auto chosen = [&](std::vector<std::string> offered) {
    speaking(std::move(offered));
    return std::string(hello.at("protocolVersion").as_string());
  };
  CHECK(chosen({"0.6.0", "0.8.0", "1.0.0", "0.9.0"}) == "1.0.0");
  CHECK(chosen({"0.6.0", "0.9.0", "0.8.0"}) == "0.6.0");
  CHECK(chosen({"0.7.3", "0.9.0"}) == "0.7.3");
  CHECK(chosen({"0.5.2", "0.8.1", "0.6.0"}) == "0.8.1");
  CHECK(chosen({"0.9.0", "0.8.0", "0.7.0", "0.6.0"}) == "0.9.0");
}

TEST_CASE_FIXTURE(versions_fixture, "initialize and the root state say what that version knows") {
  for (const auto& version : all) {
    CAPTURE(version);
    speaking({version});
    CHECK(hello.as_object().contains("_meta") == (version >= "0.9.0"));
    CHECK(hello.at("snapshots").at(0).at("state").at("agents").at(0).at("provider") == "shell");
  }
}

TEST_CASE_FIXTURE(versions_fixture, "clients of all versions follow one session and end with equal "
                                    "turns") {
  for (const auto& version : all)
    speaking({version});
  const auto session = tests::open_session(peers.front(), "ahp-session:/one",
                                           {{"workingDirectory", "file://" + hub.folder()}});
  std::vector<json::value> initial;
  for (auto& peer : peers) {
    const auto state = peer.subscribe(session.uri);
    CHECK(state.as_object().contains("workingDirectory") == (&peer == &peers.front()));
    CHECK(state.as_object().contains("workingDirectories") == (&peer != &peers.front()));
    initial.push_back(peer.subscribe(session.chat));
  }

  for (std::size_t i = 0; i < peers.size(); ++i) {
    const auto id = "t" + std::to_string(i);
    tests::run_turn(peers[i], session.chat, id, "echo out; echo err >&2; pwd");
    for (auto& peer : peers)
      if (&peer != &peers[i])
        CHECK(tests::type_of(tests::wait_turn_end(peer, session.chat, id)) == "chat/turnComplete");
  }
  const auto turns = peers.back().subscribe(session.chat).at("turns");
  CHECK(turns.as_array().size() == peers.size());
  for (std::size_t i = 0; i < peers.size(); ++i) {
    CAPTURE(all[i]);
    CHECK(peers[i].subscribe(session.chat).at("turns") == turns);
    CHECK(folded(peers[i], initial[i], session.chat).at("turns") == turns);
    CHECK(peers[i].actions("chat/turnStarted").size() == peers.size());
  }

  const auto oldest = row_of(peers[0]).as_object();
  CHECK(oldest.at("workingDirectory") == json::value("file://" + hub.folder()));
  CHECK_FALSE(oldest.contains("defaultChat"));
  CHECK(row_of(peers[1]).at("workingDirectories").as_array().size() == 1);
  CHECK(row_of(peers[4]).as_object().contains("defaultChat"));
  for (auto& peer : peers)
    CHECK_FALSE(peer.actions("session/chatUpdated").empty());
}

TEST_CASE_FIXTURE(versions_fixture, "a turn that fails has its error where that version looks") {
  for (const auto& version : all)
    speaking({version});
  const auto session = tests::open_session(peers.back(), "ahp-session:/one");
  for (auto& peer : peers)
    peer.subscribe(session.chat);
  peers.front().dispatch(session.chat, tests::turn_started("t", std::string("echo a\0b", 8)));
  for (std::size_t i = 0; i < peers.size(); ++i) {
    CAPTURE(all[i]);
    const auto end = tests::wait_turn_end(peers[i], session.chat, "t").at("action").as_object();
    CHECK(end.at("type") == "chat/error");
    const auto turn = peers[i].subscribe(session.chat).at("turns").at(0).as_object();
    const bool part = all[i] >= "0.9.0";
    CHECK(end.contains("part") == part);
    CHECK(end.contains("error") != part);
    CHECK(turn.contains("error") != part);
    const auto& error = part ? end.at("part").at("error") : end.at("error");
    CHECK(error.at("errorType") == "commandNotStarted");
    if (!part)
      CHECK(turn.at("error") == error);
    const auto& parts = turn.at("responseParts").as_array();
    CHECK((!parts.empty() && json::string_member(parts.back(), "kind") == "error") == part);
  }
}

TEST_CASE_FIXTURE(versions_fixture, "an action that came later is refused, in its sender's words") {
  auto& peer = speaking({"0.6.0"});
  const auto session = tests::open_session(peer, "ahp-session:/one");
  const auto refusal = [&](const std::string& channel, json::object action) {
    const auto seq = peer.dispatch(channel, action);
    const auto echo = peer.wait_action("", channel, [&](const json::value& e) {
      const auto* origin = json::member(e, "origin");
      return origin && origin->at("clientSeq") == json::value(seq);
    });
    CHECK(echo.at("action") == json::value(action));
    return std::string(json::string_member(echo, "rejectionReason").value_or(""));
  };
  CHECK(refusal(session.chat, {{"type", "chat/turnResume"}, {"turnId", "t"}})
          .find("came after the version") != std::string::npos);
  CHECK(refusal(session.chat, {{"type", "chat/isReadChanged"}, {"isRead", true}})
          .find("came after the version") != std::string::npos);
  CHECK(refusal(session.uri,
                {{"type", "session/customizationToggled"}, {"id", "none"}, {"enabled", false}})
          .find("no customization none") != std::string::npos);
}

TEST_CASE_FIXTURE(versions_fixture, "a fork is refused in a sentence, and nothing is made") {
  auto& peer = speaking({"0.8.0"});
  const auto session = tests::open_session(peer, "ahp-session:/one");
  auto error =
    peer.request_error("createSession", {{"channel", "ahp-session:/two"},
                                         {"fork", {{"session", session.uri}, {"turnId", "t"}}}});
  CHECK(error.at("code") == json::value(jsonrpc::invalid_params));
  CHECK(error.at("message").as_string().find("fork") == 0);
  CHECK(peer.request("listSessions").at("items").as_array().size() == 1);

  auto& oldest = speaking({"0.6.0"});
  error =
    oldest.request_error("createChat", {{"channel", session.uri},
                                        {"chat", "ahp-chat:/two"},
                                        {"source", {{"chat", session.chat}, {"turnId", "t"}}}});
  CHECK(error.at("message").as_string().find("source") == 0);
  error = oldest.request_error("createSession",
                               {{"channel", "ahp-session:/two"}, {"workingDirectory", 5}});
  CHECK(error.at("message") == json::value("workingDirectory must be a string"));
}
