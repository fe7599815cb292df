#include "protocol/acp/handshake.hpp"
#include "protocol/acp/lines.hpp"
#include "protocol/acp/peer.hpp"

#include <doctest/doctest.h>

using namespace ahpd;
using acp::peer;

namespace {

using strings = std::vector<std::string>;

template <class T> T as(const peer::event& e) {
  REQUIRE(std::holds_alternative<T>(e));
  return std::get<T>(e);
}

} // namespace

TEST_CASE("acp lines come whole whatever pieces they arrive in") {
  const std::string stream = "{\"a\":1}\r\n\n  \n{\"b\":\"\xc3\xa4\"}\n{\"c\"";
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    acp::line_reader in;
    strings out;
    for (std::size_t at = 0; at < stream.size(); at += piece)
      for (auto& line : in.feed(stream.substr(at, piece)))
        out.push_back(line);
    CHECK(out == strings{"{\"a\":1}", "{\"b\":\"\xc3\xa4\"}"});
    CHECK(in.inside_line());
  }
}

TEST_CASE("an acp line past the bound ends the stream, and what came before it stands") {
  acp::line_reader in(4);
  CHECK(in.feed("1234\n12345\n1\n") == strings{"1234"});
  CHECK(in.too_long());
  CHECK(in.feed("1\n").empty());
  acp::line_reader endless(4);
  CHECK(endless.feed("123").empty());
  CHECK_FALSE(endless.too_long());
  CHECK(endless.feed("45").empty());
  CHECK(endless.too_long());
}

TEST_CASE("a request of ours is answered once") {
  peer p;
  strings heard;
  const auto frame =
    json::parse(p.ask("session/new", json::object{{"cwd", "/"}}, [&](acp::outcome o) {
      heard.push_back(json::serialize(std::get<json::value>(o)));
    }));
  CHECK(frame.at("method") == json::value("session/new"));
  const auto id = json::serialize(frame.at("id"));
  const auto reply = R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"x":1}})";
  as<peer::answered>(p.take(reply));
  CHECK(heard == strings{"{\"x\":1}"});
  const auto again = as<peer::fault>(p.take(reply));
  CHECK(again.why == "an answer came to " + id + ", which is no open request");
  CHECK(again.reply.empty());
  CHECK(heard.size() == 1);
  as<peer::fault>(p.take(R"({"jsonrpc":"2.0","id":"x","result":1})"));
  as<peer::fault>(p.take(R"({"jsonrpc":"2.0","id":1e300,"result":1})"));
}

TEST_CASE("an error of the agent reaches who asked") {
  peer p;
  int code = 0;
  p.ask("session/new", json::object{},
        [&](acp::outcome o) { code = std::get<jsonrpc::error>(o).code; });
  as<peer::answered>(p.take(
    R"({"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Authentication required"}})"));
  CHECK(code == acp::auth_required);
}

TEST_CASE("a request of the agent is answered once, whatever its id is") {
  for (const std::string id : {"7", "\"seven\"", "0"}) {
    peer p;
    const auto line =
      R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"fs/read_text_file","params":{"path":"/x"}})";
    const auto call = as<peer::call>(p.take(line));
    CHECK(call.params.at("path") == json::value("/x"));
    const auto twice = as<peer::fault>(p.take(line));
    CHECK(json::parse(twice.reply).at("error").at("code") == json::value(-32600));
    const auto frame = json::parse(p.answer(call.id, json::object{}));
    CHECK(json::serialize(frame.at("id")) == id);
    CHECK(p.answer(call.id, json::object{}).empty());
    CHECK(p.refuse(call.id, {}).empty());
  }
}

TEST_CASE("no more than a bounded number of requests wait") {
  peer p;
  for (std::size_t i = 0; i < peer::most_open; ++i)
    as<peer::call>(p.take(R"({"jsonrpc":"2.0","method":"m","id":)" + std::to_string(i) + "}"));
  const auto one_more = as<peer::fault>(p.take(R"({"jsonrpc":"2.0","method":"m","id":-1})"));
  CHECK(json::parse(one_more.reply).at("id") == json::value(-1));
}

TEST_CASE("what is no acp message is said in a sentence") {
  peer p;
  CHECK(as<peer::fault>(p.take("Loaded 3 tools")).garbage);
  CHECK(as<peer::fault>(p.take("{\"jsonrpc\":\"2.0\",\"method\":\"a\"")).garbage);
  CHECK_FALSE(as<peer::fault>(p.take("[]")).garbage);
  const auto bad = as<peer::fault>(p.take(R"({"jsonrpc":"2.0","id":3,"method":"m","params":4})"));
  CHECK(bad.why == "params must be an object");
  CHECK(json::parse(bad.reply).at("id") == json::value(3));
}

TEST_CASE("initialize offers what this host can do and takes what the agent says") {
  const auto asked = acp::initialize_params("1.2", {true, false});
  CHECK(asked.at("protocolVersion") == json::value(1));
  CHECK(asked.at("clientInfo") == json::value{{"name", "ahpd"}, {"version", "1.2"}});
  const auto& can = asked.at("clientCapabilities");
  CHECK(can.at("fs").at("readTextFile") == json::value(true));
  CHECK(can.at("terminal") == json::value(false));
  CHECK(can.at("session").at("configOptions").at("boolean").is_object());

  std::string problem;
  const auto agent = acp::read_initialize(
    json::parse(R"({"protocolVersion":1,"agentCapabilities":{"loadSession":true,
      "promptCapabilities":{"image":true},"sessionCapabilities":{"close":{}},
      "mcpCapabilities":{"http":true}},
      "authMethods":[{"id":"a","name":"A"},{"name":"no id"},{"id":"b"}]})"),
    problem);
  CHECK(problem.empty());
  CHECK(agent.load_session);
  CHECK(agent.image);
  CHECK_FALSE(agent.embedded);
  CHECK(agent.close_session);
  CHECK(agent.mcp_http);
  CHECK(agent.auth_methods == strings{"a", "b"});
  acp::read_initialize(json::parse(R"({"protocolVersion":9})"), problem);
  CHECK(problem == "it speaks version 9 of ACP, and this host speaks 1 and 2");
  acp::read_initialize(json::parse("{}"), problem);
  CHECK(problem == "its answer to initialize has no whole number protocolVersion");
}

TEST_CASE("an agent that speaks nothing but the draft is greeted in the draft") {
  jsonrpc::error why{-32022, "Unsupported protocol version",
                     json::parse(R"({"requested":1,"supported":[2]})")};
  CHECK(acp::wants_draft(why));
  why.data = json::parse(R"({"supported":[3]})");
  CHECK_FALSE(acp::wants_draft(why));
  CHECK_FALSE(acp::wants_draft({-32603, "no", json::parse(R"({"supported":[2]})")}));
  CHECK(acp::initialize_draft_params("1").at("info").at("name") == json::value("ahpd"));
  std::string problem;
  const auto agent =
    acp::read_initialize(json::parse(R"({"protocolVersion":2,"info":{"name":"x","version":"1"},
      "capabilities":{"session":{"prompt":{"image":{}}}},"authMethods":[{"type":"agent","methodId":"k"}]})"),
                         problem);
  CHECK(problem.empty());
  CHECK(agent.version == 2);
  CHECK(agent.image);
  CHECK_FALSE(agent.embedded);
  CHECK(agent.load_session);
  CHECK(agent.close_session);
  CHECK(agent.auth_methods == strings{"k"});
}

TEST_CASE("a session is opened in its folder, with the id of an earlier one to load it") {
  CHECK(json::value(acp::session_params("/w", {})) ==
        json::parse(R"({"cwd":"/w","mcpServers":[]})"));
  CHECK(acp::session_params("/w", {}, "s1").at("sessionId") == json::value("s1"));
  CHECK(json::value(acp::session_params("/w", {acp::http_server("ahp", "http://h/p", "t")})) ==
        json::parse(R"({"cwd":"/w","mcpServers":[{"type":"http","name":"ahp","url":"http://h/p",
          "headers":[{"name":"authorization","value":"Bearer t"}]}]})"));
}
