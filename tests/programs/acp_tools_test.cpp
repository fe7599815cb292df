// The tools of clients, as an agent finds and calls them: with the Agent Client Protocol's own
// library, and through the Model Context Protocol's own client.

#include "tests/programs/acp_support.hpp"
#include "tests/programs/computer_support.hpp"

#include "protocol/transport/client.hpp"

#include <doctest/doctest.h>

#include <boost/asio/io_context.hpp>

#include <filesystem>

using namespace ahpd;
using namespace ahpd::tests;

namespace {

namespace fs = std::filesystem;

std::optional<std::string> mcp_sdk() {
  static const auto folder = npm_package("@modelcontextprotocol/sdk", "1.20.0");
  return folder;
}

/// A hub whose agent `acp` reaches its tools.
struct tools_hub {
  explicit tools_hub(std::vector<std::string> flags = {},
                     std::map<std::string, std::string> env = {}, json::object more = {})
      : hub(options(std::move(flags), std::move(env), std::move(more))) {}

  hub_options options(std::vector<std::string> flags, std::map<std::string, std::string> env,
                      json::object more) {
    fs::create_directory(folder.path() + "/node_modules");
    const auto link = [&](const std::string& sdk, const std::string& scope) {
      fs::create_symlink(sdk + "/node_modules/" + scope, folder.path() + "/node_modules/" + scope);
    };
    link(*acp_sdk(), "@agentclientprotocol");
    link(*mcp_sdk(), "@modelcontextprotocol");
    fs::copy(fixture("acp-tools-agent.mjs"), folder.path());
    auto how = acp_options({{"acp", node_record("acp", {folder.path() + "/acp-tools-agent.mjs"},
                                                std::move(env), std::move(more))}});
    how.flags = std::move(flags);
    return how;
  }

  scratch folder;
  hub_process hub;
};

bool lacks_parts() {
  return !acp_sdk() || !mcp_sdk();
}
const char* const parts = "node and npm's @agentclientprotocol/sdk and @modelcontextprotocol/sdk";

json::object definition(const std::string& name) {
  return {{"name", name},
          {"title", "Does " + name},
          {"description", "What " + name + " does"},
          {"inputSchema", {{"type", "object"}, {"properties", {{"x", {{"type", "number"}}}}}}}};
}

/// Publishes tools as the peer's own.
void publish(ahp_peer& peer, const shell_session& in, const std::string& client,
             const std::vector<std::string>& names) {
  json::array tools;
  for (const auto& name : names)
    tools.emplace_back(definition(name));
  peer.dispatch(in.uri, {{"type", "session/activeClientSet"},
                         {"activeClient", {{"clientId", client}, {"tools", std::move(tools)}}}});
  peer.wait_action("session/activeClientSet", in.uri);
}

shell_session acp_session(ahp_peer& peer) {
  return open_session(peer, "ahp-session:/tools", {{"provider", "acp"}});
}

/// The id of the next call that waits for a client.
std::string wait_call(ahp_peer& peer, const std::string& chat) {
  const auto start = peer.wait_action("chat/toolCallStart", chat, [](const json::value& envelope) {
    return json::member(envelope.at("action"), "contributor") != nullptr;
  });
  std::string id(start.at("action").at("toolCallId").as_string());
  peer.wait_action("chat/toolCallReady", chat, [&](const json::value& envelope) {
    return envelope.at("action").at("toolCallId") == json::value(id);
  });
  return id;
}

json::object completed(const std::string& turn, const std::string& call, json::object result) {
  result.emplace("pastTenseMessage", "Did it");
  return {{"type", "chat/toolCallComplete"},
          {"turnId", turn},
          {"toolCallId", call},
          {"result", std::move(result)}};
}

/// What the agent said in a turn that was begun: JSON.
json::value said(ahp_peer& peer, const shell_session& in, const std::string& turn) {
  const auto ended = wait_turn_end(peer, in.chat, turn);
  REQUIRE_MESSAGE(type_of(ended) == "chat/turnComplete", json::serialize(ended));
  return json::parse(answer_of(peer, in.chat, turn));
}

json::value asked(ahp_peer& peer, const shell_session& in, const std::string& turn,
                  const std::string& prompt) {
  return json::parse(say(peer, in, turn, prompt));
}

/// The text of a failed result.
std::string failure_text(const json::value& result) {
  REQUIRE_MESSAGE(json::member(result, "isError"), json::serialize(result));
  return std::string(result.at("content").at(0).at("text").as_string());
}

transport::http_response http(std::uint16_t port, transport::http_request what) {
  boost::asio::io_context io;
  const auto client = transport::make_http_client(io, {"127.0.0.1", port, false, {}, {}, {}, {}});
  std::optional<transport::http_result> got;
  const auto pending = client->send(
    std::move(what), {}, [&](transport::http_result result) { got = std::move(result); });
  while (!got && io.run_one_for(std::chrono::seconds(20)) > 0) {
  }
  REQUIRE((got && got->response));
  return *got->response;
}

} // namespace

TEST_CASE("an acp agent finds the tools of a client and calls one, which the client runs") {
  if (lacks_parts())
    return skip(parts);
  tools_hub it;
  auto peer = acp_peer(it.hub, "ed");
  const auto in = acp_session(peer);
  publish(peer, in, "ed", {"add", "look"});
  const auto tools = asked(peer, in, "t1", "list");
  REQUIRE(tools.as_array().size() == 2);
  CHECK(tools.at(0).at("name") == json::value("ed__add"));
  CHECK(tools.at(0).at("title") == json::value("Does add"));
  CHECK(tools.at(0).at("inputSchema").at("properties").as_object().contains("x"));
  CHECK(tools.at(1).at("name") == json::value("ed__look"));

  peer.dispatch(in.chat, turn_started("t2", R"(call ed__add {"x":2})"));
  const auto start = peer.wait_action("chat/toolCallStart", in.chat).at("action");
  CHECK(start.at("turnId") == json::value("t2"));
  CHECK(start.at("toolName") == json::value("add"));
  CHECK(start.at("displayName") == json::value("Does add"));
  CHECK(start.at("contributor") == json::value{{"kind", "client"}, {"clientId", "ed"}});
  const auto ready = peer.wait_action("chat/toolCallReady", in.chat).at("action");
  CHECK(ready.at("confirmed") == json::value("not-needed"));
  CHECK(ready.at("toolInput") == json::value(R"({"x":2})"));
  const auto needed = peer.wait_action("session/inputNeededSet", in.uri).at("action").at("request");
  CHECK(needed.at("kind") == json::value("toolClientExecution"));
  CHECK(needed.at("clientId") == json::value("ed"));
  CHECK(needed.at("toolCall").at("status") == json::value("running"));
  const std::string id(start.at("toolCallId").as_string());
  peer.dispatch(in.chat, completed("t2", id,
                                   {{"success", true},
                                    {"content", {{{"type", "text"}, {"text", "4"}}}},
                                    {"structuredContent", {{"sum", 4}}}}));
  CHECK(peer.wait_action("session/inputNeededRemoved", in.uri).at("action").at("id") ==
        needed.at("id"));
  CHECK(said(peer, in, "t2") ==
        json::parse(R"({"content":[{"type":"text","text":"4"}],"structuredContent":{"sum":4}})"));
  // The agent reports the call too, and clients see it once.
  CHECK(peer.actions("chat/toolCallStart", in.chat).size() == 1);

  CHECK(asked(peer, in, "t3", "call ed__none {}")
          .at("message")
          .as_string()
          .find("No tool named ed__none") != std::string::npos);
  const auto pong = asked(peer, in, "t4", "ping");
  CHECK(pong.at("pong") == json::value(json::object{}));
  CHECK(pong.at("server").at("name") == json::value("ahpd"));
  CHECK(pong.at("can") == json::parse(R"({"tools":{"listChanged":true}})"));
}

TEST_CASE("a call of a client's tool that goes wrong fails for the agent in a sentence") {
  if (lacks_parts())
    return skip(parts);
  tools_hub it;
  auto peer = acp_peer(it.hub, "ed");
  const auto in = acp_session(peer);
  publish(peer, in, "ed", {"add"});

  peer.dispatch(in.chat, turn_started("t1", "call ed__add"));
  const auto first = wait_call(peer, in.chat);
  auto other = acp_peer(it.hub, "someone");
  other.subscribe(in.chat);
  other.dispatch(in.chat, completed("t1", first, {{"success", true}}));
  other.wait_action("chat/toolCallComplete", in.chat, [](const json::value& envelope) {
    return json::member(envelope, "rejectionReason") != nullptr; // not its to answer
  });
  peer.dispatch(in.chat,
                completed("t1", first, {{"success", false}, {"error", {{"message", "No"}}}}));
  CHECK(failure_text(said(peer, in, "t1")) == "No");

  // a client that does not know the tool
  peer.dispatch(in.chat, turn_started("t2", "call ed__add"));
  peer.dispatch(in.chat, {{"type", "chat/toolCallConfirmed"},
                          {"turnId", "t2"},
                          {"toolCallId", wait_call(peer, in.chat)},
                          {"approved", false},
                          {"reason", "denied"}});
  CHECK(failure_text(said(peer, in, "t2")) == "ed does not run the tool add");

  // a result that a person keeps back
  peer.dispatch(in.chat, turn_started("t3", "call ed__add"));
  const auto third = wait_call(peer, in.chat);
  auto waits = completed("t3", third, {{"success", true}});
  waits["requiresResultConfirmation"] = true;
  peer.dispatch(in.chat, waits);
  peer.dispatch(in.chat, {{"type", "chat/toolCallResultConfirmed"},
                          {"turnId", "t3"},
                          {"toolCallId", third},
                          {"approved", false}});
  CHECK(failure_text(said(peer, in, "t3")) == "The result of add was denied");

  // a turn that is cancelled
  peer.dispatch(in.chat, turn_started("t4", "call ed__add"));
  wait_call(peer, in.chat);
  peer.dispatch(in.chat, {{"type", "chat/turnCancelled"}, {"turnId", "t4"}, {"duration", 1}});
  CHECK(type_of(wait_turn_end(peer, in.chat, "t4")) == "chat/turnCancelled");
  CHECK(asked(peer, in, "t5", "list").as_array().size() == 1); // the same process goes on

  // an agent that gives up
  peer.dispatch(in.chat, turn_started("t6", "give-up ed__add"));
  const auto given = wait_call(peer, in.chat);
  publish(peer, in, "ed", {"add", "look"});
  const auto ended = peer.wait_action("chat/toolCallComplete", in.chat).at("action");
  CHECK(ended.at("toolCallId") == json::value(given));
  CHECK(ended.at("result").at("error").at("message") ==
        json::value("The agent does not wait for this tool any more"));
  CHECK(said(peer, in, "t6") == json::value{{"gaveUp", true}});
}

TEST_CASE("a client that does not run its tool in time fails the call") {
  if (lacks_parts())
    return skip(parts);
  tools_hub it({"--client-tool-timeout-ms", "50"});
  auto peer = acp_peer(it.hub, "ed");
  const auto in = acp_session(peer);
  publish(peer, in, "ed", {"add"});
  peer.dispatch(in.chat, turn_started("t1", "call ed__add"));
  CHECK(failure_text(said(peer, in, "t1")) == "The client did not run this tool within 50 ms");
  const auto ended = peer.actions("chat/toolCallComplete", in.chat);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].at("action").at("result").at("success") == json::value(false));
}

TEST_CASE("the calls of a client that leaves fail, and its tools go") {
  if (lacks_parts())
    return skip(parts);
  tools_hub it;
  auto peer = acp_peer(it.hub, "person");
  const auto in = acp_session(peer);
  const auto left = "ed left before it had run this tool";
  int turn = 0;
  const auto called = [&] {
    const auto id = "t" + std::to_string(++turn);
    peer.dispatch(in.chat, turn_started(id, "call ed__add"));
    wait_call(peer, in.chat);
    return id;
  };
  {
    auto editor = acp_peer(it.hub, "ed");
    editor.subscribe(in.uri);
    publish(editor, in, "ed", {"add"});
    const auto removed = called();
    editor.dispatch(in.uri, {{"type", "session/activeClientRemoved"}, {"clientId", "ed"}});
    editor.request("ping");
    CHECK(failure_text(said(peer, in, removed)) == left);

    publish(editor, in, "ed", {"add"});
    const auto unfollowed = called();
    editor.notify("unsubscribe", {{"channel", in.uri}});
    editor.request("ping"); // which sends it
    CHECK(failure_text(said(peer, in, unfollowed)) == left);

    editor.subscribe(in.uri);
    publish(editor, in, "ed", {"add"});
  }
  const auto gone = called(); // its connection is lost, and it may come back
  peer_options how;
  how.client_id = "ed";
  ahp_peer back(it.hub.url(), how);
  back.reconnect(0, {});
  CHECK(failure_text(said(peer, in, gone)) == left);
  CHECK(asked(peer, in, "t9", "list").as_array().empty());
}

TEST_CASE("an agent is told when the tools change") {
  if (lacks_parts())
    return skip(parts);
  tools_hub it;
  auto peer = acp_peer(it.hub, "ed");
  const auto in = acp_session(peer);
  publish(peer, in, "ed", {"add"});
  CHECK(asked(peer, in, "t1", "list").as_array().size() == 1);
  publish(peer, in, "ed", {"add"}); // nothing changed
  peer.dispatch(in.chat, turn_started("t2", "changed"));
  publish(peer, in, "ed", {"add", "look"});
  CHECK(said(peer, in, "t2") == json::parse(R"(["ed__add","ed__look"])"));
}

TEST_CASE("a person's yes comes before the call, and is a call of its own") {
  if (lacks_parts())
    return skip(parts);
  tools_hub it;
  auto peer = acp_peer(it.hub, "ed");
  const auto in = acp_session(peer);
  publish(peer, in, "ed", {"add"});
  peer.dispatch(in.chat, turn_started("t1", "ask ed__add"));
  const auto asks = peer.wait_action("chat/toolCallReady", in.chat).at("action");
  CHECK_FALSE(asks.as_object().contains("confirmed"));
  peer.dispatch(in.chat, {{"type", "chat/toolCallConfirmed"},
                          {"turnId", "t1"},
                          {"toolCallId", asks.at("toolCallId")},
                          {"approved", true},
                          {"confirmed", "user-action"}});
  peer.dispatch(in.chat, completed("t1", wait_call(peer, in.chat), {{"success", true}}));
  CHECK(said(peer, in, "t1").at("content").at(0).at("text") == json::value("Did it"));
}

TEST_CASE("a tools server answers only its own session's token, and ends with the session") {
  if (lacks_parts())
    return skip(parts);
  tools_hub it({"--connection-token", "door"});
  peer_options how;
  how.token = "door";
  how.limit = std::chrono::seconds(60);
  ahp_peer peer(it.hub.url(), how);
  peer.initialize();
  const auto in = acp_session(peer);
  const auto offered = asked(peer, in, "t1", "offered");
  REQUIRE(offered.as_array().size() == 1);
  CHECK(offered.at(0).at("type") == json::value("http"));
  CHECK(offered.at(0).at("name") == json::value("ahp"));
  const std::string url(offered.at(0).at("url").as_string());
  const auto origin = "http://127.0.0.1:" + std::to_string(it.hub.port());
  REQUIRE(url.rfind(origin + "/ahp-mcp/", 0) == 0);
  const auto path = url.substr(origin.size());
  const auto& header = offered.at(0).at("headers").at(0);
  CHECK(header.at("name") == json::value("authorization"));
  const std::string token(header.at("value").as_string());

  const auto post = [&](const std::string& to, const std::string& bearer, const std::string& body,
                        const std::string& method = "POST", transport::fields more = {}) {
    if (!bearer.empty())
      more["Authorization"] = bearer;
    const auto got = http(it.hub.port(), {method, to, std::move(more), body, {}});
    if (got.body.empty())
      return std::to_string(got.status);
    const auto frame = json::parse(got.body);
    const auto* error = json::member(frame, "error");
    return std::to_string(got.status) + " " +
           (error ? json::serialize(error->at("code")) + " " +
                      std::string(error->at("message").as_string())
                  : json::serialize(frame.at("result")));
  };
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  CHECK(post(path, token, ping) == "200 {}");
  CHECK(post(path, token, R"({"jsonrpc":"2.0","method":"notifications/initialized"})") == "202");
  for (const auto& wrong : {std::string(), std::string("Bearer door"), token + "x",
                            token.substr(0, token.size() - 1), std::string("Bearer ")})
    CHECK(post(path, wrong, "{", "DELETE") ==
          "401 -32001 This tools server answers only its own session's token");
  CHECK(post(path + "?tkn=door", "", ping) ==
        "401 -32001 This tools server answers only its own session's token");
  for (const std::string nowhere : {"/ahp-mcp/", "/ahp-mcp/x", "/ahp-mcp/00000000-0000-0000"})
    CHECK(post(nowhere, token, ping) == "404 -32001 No tools server at " + nowhere);
  CHECK(post(path, token, "{").rfind("400 -32700 ", 0) == 0);
  CHECK(post(path, token, "[]").rfind("400 -32600 ", 0) == 0);
  CHECK(post(path, token, ping, "POST", {{"MCP-Protocol-Version", "2024-11-05"}}) ==
        "400 -32600 MCP-Protocol-Version must be 2025-06-18");
  CHECK(post(path, token, "", "DELETE").rfind("405 -32000 ", 0) == 0);
  CHECK(post(path, token, "", "GET").rfind("405 -32000 ", 0) == 0);
  CHECK(post(path, token, R"({"jsonrpc":"2.0","id":1,"method":"x"})").rfind("200 -32601 ", 0) == 0);
  CHECK(
    http(it.hub.port(), {"POST", path, {{"Authorization", token}}, std::string(2u << 20, ' '), {}})
      .status == 413);
  CHECK(
    post(path, token, R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n"}})") ==
    "200 -32602 No tool named n");
  CHECK(it.hub.log().find(token.substr(7)) == std::string::npos);

  peer.request("disposeSession", {{"channel", in.uri}});
  std::string after;
  do // the session's parts end one after the other
    after = post(path, token, ping);
  while (after == "200 {}");
  CHECK(after == "404 -32001 No tools server at " + path);
}

TEST_CASE("an agent is offered no tools that its record or its handshake does not take") {
  if (lacks_parts())
    return skip(parts);
  const auto offered = [](std::map<std::string, std::string> env, json::object more) {
    tools_hub it({}, std::move(env), std::move(more));
    auto peer = acp_peer(it.hub);
    return say(peer, acp_session(peer), "t1", "offered");
  };
  CHECK(offered({{"ACP_NO_MCP", "1"}}, {}) == "[]");
  CHECK(offered({}, {{"hostTools", false}}) == "[]");
  CHECK(offered({}, {{"hostTools", true}}) != "[]");
}

TEST_CASE("two chats of a session call the same tool, each in its own turn") {
  if (lacks_parts())
    return skip(parts);
  tools_hub it;
  auto peer = acp_peer(it.hub, "ed");
  const auto in = acp_session(peer);
  publish(peer, in, "ed", {"add"});
  const shell_session other{in.uri, "ahp-chat:/second"};
  peer.request("createChat", {{"channel", in.uri}, {"chat", other.chat}});
  peer.subscribe(other.chat);
  peer.dispatch(in.chat, turn_started("t1", "call ed__add"));
  const auto first = wait_call(peer, in.chat);
  peer.dispatch(other.chat, turn_started("u1", "call ed__add"));
  const auto second = wait_call(peer, other.chat);
  const auto with = [](const char* words) {
    return json::object{{"success", true}, {"content", {{{"type", "text"}, {"text", words}}}}};
  };
  peer.dispatch(other.chat, completed("u1", second, with("of the second")));
  CHECK(said(peer, other, "u1").at("content").at(0).at("text") == json::value("of the second"));
  peer.dispatch(in.chat, completed("t1", first, with("of the first")));
  CHECK(said(peer, in, "t1").at("content").at(0).at("text") == json::value("of the first"));
}

namespace {

/// Where containers reach this host; empty: nowhere.
std::string bridge() {
  return engine_answers() ? docker({"network", "inspect", "bridge", "--format",
                                    "{{(index .IPAM.Config 0).Gateway}}"})
                          : std::string();
}

/// A hub that listens at an address, and a session of the agent in a machine of it.
struct machine_tools {
  explicit machine_tools(const std::string& address)
      : hub(options(address)),
        left("ahpd.host=" + first_line(hub.config_directory() + "/host-id")) {}

  static hub_options options(const std::string& address) {
    auto how = acp_options({{"acp", node_record("acp", {"/srv/acp.mjs"})}});
    how.config = R"({"plugins": ["@ahpd/agent-acp",
      {"name": "@ahpd/computer", "options": {"image": "node:22", "bodyMounts": true}}]})";
    how.flags = {"--host", address, "--without-connection-token"};
    return how;
  }
  static std::string first_line(const std::string& path) {
    const auto text = read_file(path);
    return text.substr(0, text.find('\n'));
  }

  shell_session session(ahp_peer& peer) const {
    json::object manifest{{"mounts",
                           {fixture("acp-tools-agent.mjs") + ":/srv/acp.mjs:ro",
                            *acp_sdk() + "/node_modules:/srv/node_modules:ro",
                            *mcp_sdk() + "/node_modules:/node_modules:ro"}},
                          {"workdir", "/srv"}};
    const auto machine = make_machine(peer, "tools", std::move(manifest));
    return open_session(peer, "ahp-session:/" + unique_name("s"),
                        {{"provider", "acp"}, {"config", {{"computer", "computer://" + machine}}}});
  }

  hub_process hub;
  label_guard left;
};

ahp_peer& greeted(ahp_peer& peer) {
  peer.initialize();
  return peer;
}

} // namespace

TEST_CASE("an agent in a machine calls a client's tool where the hub can be reached from there") {
  const auto address = bridge();
  if (address.empty() || !node_image())
    return skip("a Docker Engine with node:22 and a bridge");
  if (lacks_parts())
    return skip(parts);
  machine_tools it(address);
  peer_options how;
  how.client_id = "ed";
  how.limit = std::chrono::seconds(60);
  ahp_peer peer("ws://" + address + ":" + std::to_string(it.hub.port()), how);
  const auto in = it.session(greeted(peer));
  publish(peer, in, "ed", {"add"});
  peer.dispatch(in.chat, turn_started("t1", R"(call ed__add {"x":2})"));
  peer.dispatch(in.chat, completed("t1", wait_call(peer, in.chat), {{"success", true}}));
  CHECK(said(peer, in, "t1").at("content").at(0).at("text") == json::value("Did it"));
}

TEST_CASE(
  "an agent in a machine that cannot reach the hub is offered no tools, and the log says so") {
  if (!node_image())
    return skip("a Docker Engine with node:22");
  if (lacks_parts())
    return skip(parts);
  for (const std::string host : {"127.0.0.1", "0.0.0.0"}) {
    machine_tools it(host);
    peer_options how;
    how.limit = std::chrono::seconds(60);
    ahp_peer peer(it.hub.url(), how);
    CHECK(say(peer, it.session(greeted(peer)), "t1", "offered") == "[]");
    const auto where = host + ":" + std::to_string(it.hub.port());
    CHECK_MESSAGE(it.hub.log().find(" cannot reach the daemon at " + where +
                                    ", so they were left out") != std::string::npos,
                  it.hub.log());
  }
}
