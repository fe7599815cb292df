#include "protocol/mcp/server.hpp"
#include "protocol/mcp/tools.hpp"

#include <doctest/doctest.h>

using namespace ahpd;

namespace {

mcp::request post(std::string_view body, std::string_view version = {}) {
  return mcp::read({"POST", "application/json, text/event-stream", version, body}, "1.2");
}

template <class T> T as(mcp::request what) {
  REQUIRE(std::holds_alternative<T>(what));
  return std::get<T>(std::move(what));
}

/// "<status> <code> <sentence>" of a refusal.
std::string refusal(const mcp::answer& what) {
  const auto error = json::parse(what.body).at("error");
  return std::to_string(what.status) + " " + json::serialize(error.at("code")) + " " +
         std::string(error.at("message").as_string());
}

std::string refusal(mcp::request what) {
  return refusal(as<mcp::answer>(std::move(what)));
}

json::value result_of(mcp::request what) {
  const auto got = as<mcp::answer>(std::move(what));
  CHECK(got.status == 200);
  return json::parse(got.body).at("result");
}

std::string request(const std::string& method, const std::string& params = "{}") {
  return R"({"jsonrpc":"2.0","id":7,"method":")" + method + R"(","params":)" + params + "}";
}

} // namespace

TEST_CASE("an mcp handshake is answered with the one revision, and a ping with nothing") {
  const auto hello =
    result_of(post(request("initialize", R"({"protocolVersion":"2099-01-01"})"), "2099-01-01"));
  CHECK(hello == json::parse(R"({"protocolVersion":"2025-06-18",
    "capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"ahpd","version":"1.2"}})"));
  CHECK(result_of(post(request("ping"))) == json::parse("{}"));
}

TEST_CASE("what is asked of an mcp server's tools is taken apart") {
  CHECK(as<mcp::list_tools>(post(request("tools/list"), "2025-06-18")).id == json::value(7));
  const auto call =
    as<mcp::call_tool>(post(request("tools/call", R"({"name":"a__b","arguments":{"x":1}})")));
  CHECK(call.id == json::value(7));
  CHECK(call.name == "a__b");
  CHECK(json::value(call.arguments) == json::parse(R"({"x":1})"));
  CHECK(as<mcp::call_tool>(post(request("tools/call", R"({"name":"n"})"))).arguments.empty());
  const auto gave_up = as<mcp::cancel_request>(post(
    R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q","reason":"r"}})"));
  CHECK(gave_up.id == json::value("q"));
  as<mcp::listen>(mcp::read({"GET", "Text/Event-Stream", {}, {}}, ""));
}

TEST_CASE("notifications and answers to nothing are accepted over mcp") {
  for (const auto* body : {R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
                           R"({"jsonrpc":"2.0","method":"notifications/cancelled"})",
                           R"({"jsonrpc":"2.0","id":1,"result":{}})"}) {
    const auto got = as<mcp::answer>(post(body));
    CHECK(got.status == 202);
    CHECK(got.body.empty());
  }
}

TEST_CASE("what an mcp server refuses has its status, its code and a sentence") {
  CHECK(refusal(mcp::no_server("/ahp-mcp/x")) == "404 -32001 No tools server at /ahp-mcp/x");
  CHECK(refusal(mcp::wrong_token()) ==
        "401 -32001 This tools server answers only its own session's token");
  CHECK(refusal(mcp::no_tool(7, "n")) == "200 -32602 No tool named n");
  CHECK(refusal(post("{")).rfind("400 -32700 ", 0) == 0);
  CHECK(refusal(post("[]")).rfind("400 -32600 ", 0) == 0);
  CHECK(refusal(post(R"({"id":1,"method":"ping"})")).rfind("400 -32600 ", 0) == 0);
  CHECK(refusal(post(request("ping"), "2025-03-26")) ==
        "400 -32600 MCP-Protocol-Version must be 2025-06-18");
  CHECK(refusal(post(request("resources/list"))) ==
        "200 -32601 This tools server serves no resources/list");
  CHECK(refusal(post(request("tools/call", R"({"name":1})"))) ==
        "200 -32602 params.name must be the name of a tool");
  CHECK(refusal(post(request("tools/call", R"({"name":"n","arguments":[]})"))) ==
        "200 -32602 params.arguments must be an object");
  for (const auto& [method, accept] : {std::pair{"GET", "application/json"},
                                       {"DELETE", "text/event-stream"},
                                       {"HEAD", "text/event-stream"},
                                       {"PUT", "*/*"}})
    CHECK(refusal(mcp::read({method, accept, {}, "{}"}, "")) ==
          "405 -32000 A tools server takes POST, and GET for text/event-stream");
}

TEST_CASE("a client's tool is listed under a name that models' providers take") {
  CHECK(mcp::client_tool_name("ed", "add") == "ed__add");
  CHECK(mcp::client_tool_name("ed.1", "a b/ä") == "ed_1__a_b___");
  const auto longest = mcp::client_tool_name(std::string(200, 'c'), "add");
  CHECK(longest.size() == mcp::longest_name);
  CHECK(longest.ends_with("cc__add"));
  const auto whole = json::parse(R"({"name":"add","title":"Add","description":"Adds",
    "inputSchema":{"type":"object","required":["x"]},"outputSchema":{"type":"object"},
    "annotations":{"readOnlyHint":true},"_meta":{"a":1}})");
  auto expected = whole;
  expected.as_object()["name"] = "ed__add";
  CHECK(json::equivalent(mcp::tool(whole, "ed__add"), expected));
  CHECK(
    json::equivalent(mcp::tool(json::parse(R"({"name":"x","title":1,"inputSchema":{"type":"array"},
      "outputSchema":true,"annotations":"a"})"),
                               "x"),
                     json::parse(R"({"name":"x","inputSchema":{"type":"object"}})")));
}

TEST_CASE("the result of a client's tool is what mcp calls it") {
  const auto out = [](const char* text) { return json::value(mcp::result(json::parse(text))); };
  CHECK(json::equivalent(
    out(R"({"success":true,"pastTenseMessage":"Did","structuredContent":{"a":1},"content":[
      {"type":"text","text":"t"},
      {"type":"embeddedResource","data":"AA==","contentType":"image/png"},
      {"type":"embeddedResource","data":"AA==","contentType":"application/zip"},
      {"type":"resource","uri":"file:///w/a.txt","contentType":"text/plain"},
      {"type":"fileEdit","x":1}]})"),
    json::parse(R"({"structuredContent":{"a":1},"content":[
      {"type":"text","text":"t"},
      {"type":"image","data":"AA==","mimeType":"image/png"},
      {"type":"resource","resource":{"uri":"ahp-tool-result:/","mimeType":"application/zip",
        "blob":"AA=="}},
      {"type":"resource_link","uri":"file:///w/a.txt","name":"a.txt","mimeType":"text/plain"},
      {"type":"text","text":"{\"type\":\"fileEdit\",\"x\":1}"}]})")));
  CHECK(json::equivalent(out(R"({"success":true,"pastTenseMessage":{"markdown":"Did"}})"),
                         json::parse(R"({"content":[{"type":"text","text":"Did"}]})")));
  CHECK(
    json::equivalent(out(R"({"success":false,"pastTenseMessage":"Did","error":{"message":"No"}})"),
                     json::parse(R"({"isError":true,"content":[{"type":"text","text":"No"}]})")));
  CHECK(json::equivalent(mcp::failure("No"), out(R"({"error":{"message":"No"}})")));
}

TEST_CASE("an event says that the list of tools changed") {
  CHECK(mcp::list_changed_event().rfind("event: message\ndata: {", 0) == 0);
  CHECK(mcp::list_changed_event().ends_with("}\n\n"));
  CHECK(mcp::list_changed_event().find("notifications/tools/list_changed") != std::string::npos);
}
