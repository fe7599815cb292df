#include "tests/programs/acp_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace ahpd;
using namespace ahpd::tests;

namespace {

shell_session acp_session(ahp_peer& peer, json::object params = {}) {
  params["provider"] = "acp";
  return open_session(peer, "ahp-session:/a", std::move(params));
}

json::object confirmed(const std::string& turn, bool approved, const std::string& option = {}) {
  json::object out{{"type", "chat/toolCallConfirmed"},
                   {"turnId", turn},
                   {"toolCallId", "dangerous"},
                   {"approved", approved}};
  out[approved ? "confirmed" : "reason"] = approved ? "user-action" : "denied";
  if (!option.empty())
    out["selectedOptionId"] = option;
  return out;
}

/// The question of a turn that asks, and its mirror in the session.
json::value wait_question(ahp_peer& peer, const shell_session& in) {
  const auto asks = peer.wait_action("chat/toolCallReady", in.chat);
  CHECK_FALSE(asks.at("action").as_object().contains("confirmed"));
  const auto needed = peer.wait_action("session/inputNeededSet", in.uri);
  const auto& request = needed.at("action").at("request");
  CHECK(request.at("id") == json::value("dangerous:permission"));
  CHECK(request.at("chat") == json::value(in.chat));
  CHECK(request.at("kind") == json::value("toolConfirmation"));
  CHECK(request.at("toolCall").at("status") == json::value("pending-confirmation"));
  return asks;
}

} // namespace

TEST_CASE("an acp agent answers on this host, thoughts and words in their parts") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk, {{"COLOUR", "blue"}});
  auto peer = acp_peer(it.marked.hub);
  CHECK(it.marked.hub.announcement().find("@ahpd/agent-acp") != std::string::npos);
  const auto in = acp_session(peer);
  CHECK(say(peer, in, "t1", "say hello there") == "hello there");
  const auto state = peer.subscribe(in.chat);
  const auto& parts = state.at("turns").at(0).at("responseParts").as_array();
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].at("kind") == json::value("reasoning"));
  CHECK(parts[0].at("content") == json::value("thinking"));
  CHECK(say(peer, in, "t2", "env COLOUR") == "blue");
  CHECK(say(peer, in, "t3", "where").rfind(it.marked.hub.folder() + " ", 0) == 0);
  CHECK(say(peer, in, "t4", "count") == "count 4"); // one process and one session for all of them
  CHECK(it.marked.programs().size() == 1);
  peer.request("disposeSession", {{"channel", in.uri}});
  it.marked.wait_no_programs();
}

TEST_CASE("what an acp agent reports becomes calls, a plan, usage and settings") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk);
  auto peer = acp_peer(it.marked.hub);
  const auto in = acp_session(peer);
  CHECK(say(peer, in, "t1", "show") == "shown");
  const auto look = peer.actions("chat/toolCallComplete", in.chat);
  REQUIRE(look.size() == 2);
  CHECK(look[0].at("action").at("result").at("content").at(0).at("text") == json::value("seen"));
  CHECK(look[0].at("action").at("result").at("content").at(1).at("type") ==
        json::value("fileEdit"));
  CHECK(look[1].at("action").at("toolCallId") == json::value("t1:plan"));
  const auto usage = peer.actions("chat/usage", in.chat);
  REQUIRE_FALSE(usage.empty());
  CHECK(usage.back().at("action").at("usage").at("_meta").at("cost").at("amount") ==
        json::value(0.25));
  const auto session = peer.subscribe(in.uri);
  const auto& values = session.at("config").at("values");
  CHECK(values.at("permissionMode") == json::value("code"));
  CHECK(values.at("model") == json::value("small"));
  CHECK(session.at("title") == json::value("A title"));
  CHECK(session.at("customizations").at(0).at("children").at(0).at("uri") ==
        json::value("acp-command:acp/web"));

  // a person's title stays
  peer.dispatch(in.uri, {{"type", "session/titleChanged"}, {"title", "Mine"}});
  say(peer, in, "t2", "show");
  CHECK(peer.subscribe(in.uri).at("title") == json::value("Mine"));
}

TEST_CASE("settings that a client wants reach an acp agent") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk);
  auto peer = acp_peer(it.marked.hub);
  const auto in = acp_session(peer, {{"config", {{"permissionMode", "code"}}}});
  CHECK(say(peer, in, "t1", "mode") == "code small");
  peer.dispatch(in.uri, {{"type", "session/configChanged"},
                         {"config", {{"model", "big"}, {"permissionMode", "ask"}}}});
  peer.wait_action("session/configChanged", in.uri, [](const json::value& envelope) {
    return json::member(envelope.at("action").at("config"), "model") &&
           envelope.at("action").at("config").at("model") == json::value("big");
  });
  CHECK(say(peer, in, "t2", "mode") == "ask big");
}

TEST_CASE("the model of a record is what its agent starts with") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk, {}, {{"model", "big"}});
  auto peer = acp_peer(it.marked.hub);
  CHECK(say(peer, acp_session(peer), "t1", "mode") == "ask big");
}

TEST_CASE("a person's yes or no reaches an acp agent, and nothing becomes an always") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk);
  auto peer = acp_peer(it.marked.hub);
  const auto in = acp_session(peer);
  struct example {
    std::string prompt;
    json::object answer;
    std::string told;
  };
  const std::vector<example> examples{
    {"ask", confirmed("t0", true, "always"), "told selected always"},
    {"ask", confirmed("t1", true), "told selected yes"},
    {"ask", confirmed("t2", true, "no"), "told selected yes"}, // a no is no way to say yes
    {"ask", confirmed("t3", false), "told selected no"},
    {"ask always", confirmed("t4", true), "told cancelled "},
    {"ask always", confirmed("t5", false), "told cancelled "},
  };
  for (std::size_t i = 0; i < examples.size(); ++i) {
    CAPTURE(i);
    const auto turn = "t" + std::to_string(i);
    peer.dispatch(in.chat, turn_started(turn, examples[i].prompt));
    const auto asks = wait_question(peer, in);
    const auto& options = asks.at("action").at("options").as_array();
    CHECK(options.front().at("kind") == json::value("approve"));
    peer.dispatch(in.chat, examples[i].answer);
    peer.wait_action("session/inputNeededRemoved", in.uri);
    CHECK(type_of(wait_turn_end(peer, in.chat, turn)) == "chat/turnComplete");
    CHECK(answer_of(peer, in.chat, turn) == examples[i].told);
  }
  CHECK_FALSE(peer.subscribe(in.uri).as_object().contains("inputNeeded"));
}

TEST_CASE("of two clients the one that answers first is heard") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk);
  auto one = acp_peer(it.marked.hub, "one");
  auto two = acp_peer(it.marked.hub, "two");
  const auto in = acp_session(one);
  two.subscribe(in.chat);
  one.dispatch(in.chat, turn_started("t", "ask"));
  one.wait_action("chat/toolCallReady", in.chat);
  two.wait_action("chat/toolCallReady", in.chat);
  two.dispatch(in.chat, confirmed("t", false));
  wait_turn_end(two, in.chat, "t");
  one.dispatch(in.chat, confirmed("t", true));
  const auto echo = one.wait_action("chat/toolCallConfirmed", in.chat, [](const json::value& e) {
    return json::member(e, "rejectionReason") != nullptr;
  });
  CHECK(echo.at("action").at("approved") == json::value(true));
  CHECK(answer_of(one, in.chat, "t") == "told selected no");
}

TEST_CASE("cancelling ends a turn of an acp agent, which goes on with the next") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk);
  auto peer = acp_peer(it.marked.hub);
  const auto in = acp_session(peer);
  peer.dispatch(in.chat, turn_started("t1", "wait"));
  peer.wait_action("chat/delta", in.chat);
  peer.dispatch(in.chat, {{"type", "chat/turnCancelled"}, {"turnId", "t1"}, {"duration", 1}});
  CHECK(type_of(wait_turn_end(peer, in.chat, "t1")) == "chat/turnCancelled");
  CHECK(say(peer, in, "t2", "count") == "count 2"); // the same process

  // one that waits for a person is told that nobody answers, before it is cancelled
  peer.dispatch(in.chat, turn_started("t3", "ask"));
  wait_question(peer, in);
  peer.dispatch(in.chat, {{"type", "chat/turnCancelled"}, {"turnId", "t3"}, {"duration", 1}});
  wait_turn_end(peer, in.chat, "t3");
  peer.wait_action("session/inputNeededRemoved", in.uri);
  CHECK(say(peer, in, "t4", "count") == "count 4");
}

TEST_CASE("stop reasons of an acp agent are the ends of its turns") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk);
  auto peer = acp_peer(it.marked.hub);
  const auto in = acp_session(peer);
  for (const std::string why : {"max_tokens", "max_turn_requests", "refusal"})
    CHECK(failure(peer, in, why, "stop " + why) == why + ": acp stopped: " + why);
}

TEST_CASE("an acp agent reads and writes text files, by absolute paths alone") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk);
  auto peer = acp_peer(it.marked.hub);
  const auto in = acp_session(peer);
  const auto file = it.marked.hub.folder() + "/new/a.txt";
  CHECK(say(peer, in, "t1", "write " + file + " one\ntwo\nthree") == "written");
  CHECK(read_file(file) == "one\ntwo\nthree");
  CHECK(say(peer, in, "t2", "read " + file) == R"(read "one\ntwo\nthree")");
  CHECK(say(peer, in, "t3", "read " + file + " 2 1") == R"(read "two\n")");
  CHECK(say(peer, in, "t4", "read " + file + " 3 9") == R"(read "three")");
  CHECK(say(peer, in, "t5", "read " + file + " 9 9") == R"(read "")");
  CHECK(say(peer, in, "t6", "read a.txt").find("path must be an absolute path") !=
        std::string::npos);
  CHECK(say(peer, in, "t7", "read /nothing/here").find("refused -32002") == 0);
  CHECK(say(peer, in, "t8", "read /bin/sh").find("/bin/sh is no text file") != std::string::npos);
  CHECK(say(peer, in, "t9", "read /dev/zero").find("larger than 8 MiB") != std::string::npos);
}

TEST_CASE("an acp agent runs commands in terminals of the host's, which clients can follow") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk);
  acp_peer peer(it.marked.hub);
  const auto in = acp_session(peer);
  CHECK(say(peer, in, "t1", "run echo out; echo err >&2; exit 7") == R"([7,7,"out\nerr\n",false])");
  const auto done = peer.actions("chat/toolCallComplete", in.chat);
  REQUIRE(done.size() == 1);
  const auto& content = done[0].at("action").at("result").at("content").at(0);
  CHECK(content.at("type") == json::value("terminal"));
  CHECK(content.at("resource").as_string().starts_with("ahp-terminal:/"));
  // the end of the output alone, as many bytes as were asked for
  CHECK(say(peer, in, "t2", "args") == R"([3,3," b * v\n/usr\n",true])");
  CHECK(say(peer, in, "t3", "kill").rfind("killed ", 0) == 0);
  CHECK(peer.subscribe("ahp-root://").at("terminals").as_array().empty());
  CHECK(say(peer, in, "t4", "keep") == "kept");
  CHECK(peer.subscribe("ahp-root://").at("terminals").as_array().size() == 1);
  peer.request("disposeSession", {{"channel", in.uri}});
  it.marked.wait_no_programs();
}

TEST_CASE("after a hub was killed an acp agent goes on with its session") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk);
  shell_session in;
  {
    auto peer = acp_peer(it.marked.hub);
    in = acp_session(peer);
    CHECK(say(peer, in, "t1", "count") == "count 1");
  }
  it.marked.hub.kill();
  it.marked.hub.start();
  it.marked.wait_no_programs();
  auto peer = acp_peer(it.marked.hub);
  peer.subscribe(in.uri);
  peer.subscribe(in.chat);
  CHECK(say(peer, in, "t2", "count") == "count 2"); // and what was replayed is not said again
}

TEST_CASE("an acp agent that cannot load a session says so after a restart") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk, {{"ACP_NO_LOAD", "1"}});
  shell_session in;
  std::string id;
  {
    auto peer = acp_peer(it.marked.hub);
    in = acp_session(peer);
    id = say(peer, in, "t1", "where");
    id = id.substr(id.rfind(' ') + 1);
  }
  CHECK(it.marked.hub.stop() == 0);
  it.marked.wait_no_programs();
  it.marked.hub.start();
  auto peer = acp_peer(it.marked.hub);
  peer.subscribe(in.chat);
  CHECK(failure(peer, in, "t2", "count") ==
        "agentError: acp: this ACP server cannot load a session, so \"" + id +
          "\" cannot be resumed");
}

TEST_CASE("an agent that speaks only the draft of acp's version 2 answers too") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk, {}, {}, "acp-draft-agent.mjs");
  shell_session in;
  {
    acp_peer peer(it.marked.hub);
    in = acp_session(peer, {{"config", {{"permissionMode", "code"}}}});
    CHECK(say(peer, in, "t1", "say hello") == "hello");
    CHECK(say(peer, in, "t2", "mode") == "code");

    peer.dispatch(in.chat, turn_started("t3", "ask"));
    wait_question(peer, in);
    peer.dispatch(in.chat, confirmed("t3", true));
    wait_turn_end(peer, in.chat, "t3");
    CHECK(answer_of(peer, in.chat, "t3") == "told selected yes");

    peer.dispatch(in.chat, turn_started("t4", "wait"));
    peer.wait_action("chat/delta", in.chat);
    peer.dispatch(in.chat, {{"type", "chat/turnCancelled"}, {"turnId", "t4"}, {"duration", 1}});
    wait_turn_end(peer, in.chat, "t4");
    CHECK(failure(peer, in, "t5", "fail") == "error: acp: no more luck");
    CHECK(failure(peer, in, "t6", "refuse") == "agentError: acp: Internal error: not that");
  }
  it.marked.hub.kill();
  it.marked.hub.start();
  acp_peer peer(it.marked.hub);
  peer.subscribe(in.chat);
  CHECK(say(peer, in, "t7", "count") == "count 7");
}

TEST_CASE("an acp agent that wants to be signed in says what it offers") {
  const auto sdk = acp_sdk();
  if (!sdk)
    return skip("node and npm's @agentclientprotocol/sdk");
  acp_hub it(*sdk, {{"ACP_SIGN_IN", "1"}});
  auto peer = acp_peer(it.marked.hub);
  const auto in = acp_session(peer);
  CHECK(failure(peer, in, "t1", "count") ==
        "authRequired: acp: this ACP server wants to be signed in before it answers, and offers "
        "key, web; set the authenticate option to the one to use");
  it.marked.wait_no_programs();

  acp_hub with(*sdk, {{"ACP_SIGN_IN", "1"}}, {{"authenticate", {{"methodId", "key"}}}});
  auto other = acp_peer(with.marked.hub);
  CHECK(say(other, acp_session(other), "t1", "count") == "count 1");

  acp_hub wrong(*sdk, {{"ACP_SIGN_IN", "1"}}, {{"authenticate", {{"methodId", "dance"}}}});
  auto third = acp_peer(wrong.marked.hub);
  CHECK(failure(third, acp_session(third), "t1", "count") ==
        "authRequired: acp offers key, web, not dance");
}

TEST_CASE("a record with a secret loads, and its sessions are refused in a sentence") {
  marked_hub it(acp_options(
    {{"acp", R"({"engine": "acp", "config": {"command": "node", "env": {"K": {"$secret": "s"}}}})"},
     {"bad", R"({"engine": "acp"})"},
     {"cofold", R"({"engine": "cofold"})"},
     {"shell", R"({"engine": "acp", "config": {"command": "x"}})"}}));
  const auto said = it.hub.announcement();
  const auto agents = it.hub.config_directory() + "/agents/";
  CHECK(said.find(agents + "bad.json: config.command must name the program to run") !=
        std::string::npos);
  CHECK(said.find("engine cofold is not served by this version") != std::string::npos);
  CHECK(said.find("agent shell: the host has one of its own by that name") != std::string::npos);
  auto peer = acp_peer(it.hub);
  const auto root = peer.subscribe("ahp-root://");
  CHECK(root.at("agents").as_array().at(1).at("provider") == json::value("acp"));
  const auto error =
    peer.request_error("createSession", {{"channel", "ahp-session:/a"}, {"provider", "acp"}});
  CHECK(error.at("code") == json::value(-32602));
  CHECK(error.at("message") == json::value("acp: config.env.K names the secret s, and this version "
                                           "has no vault to read it from"));
}

TEST_CASE("a template whose program is on the PATH is an agent without a record") {
  scratch bin;
  const auto program = bin.path() + "/qwen";
  touch(program);
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  auto how = acp_options({});
  how.env["PATH"] = bin.path() + ":/usr/bin:/bin";
  marked_hub it(std::move(how));
  auto peer = acp_peer(it.hub);
  bool found = false;
  const auto root = peer.subscribe("ahp-root://");
  for (const auto& agent : root.at("agents").as_array())
    found = found || agent.at("provider") == json::value("qwen");
  CHECK(found);
}
