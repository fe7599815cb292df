#include "protocol/jsonrpc/message.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace json = ahpd::json;
using namespace ahpd::jsonrpc;

namespace {

/// What a frame that is no message answers with.
malformed broken(std::string_view frame, const limits& bounds = {}) {
  auto m = parse(frame, bounds);
  REQUIRE_MESSAGE(std::holds_alternative<malformed>(m), frame);
  return std::get<malformed>(m);
}

} // namespace

TEST_CASE("requests, notifications and responses are told apart") {
  auto m = parse(R"({"jsonrpc":"2.0","id":7,"method":"ping","params":{"channel":"ahp-root://"}})");
  REQUIRE(std::holds_alternative<request>(m));
  CHECK(std::get<request>(m).id == json::value(7));
  CHECK(std::get<request>(m).method == "ping");
  CHECK(std::get<request>(m).params.at("channel") == json::value("ahp-root://"));

  m = parse(R"({"jsonrpc":"2.0","id":"a-1","method":"ping"})");
  REQUIRE(std::holds_alternative<request>(m));
  CHECK(std::get<request>(m).id == json::value("a-1"));
  CHECK(std::get<request>(m).params.empty());

  m = parse(R"({"jsonrpc":"2.0","method":"unsubscribe","params":null})");
  REQUIRE(std::holds_alternative<notification>(m));
  CHECK(std::get<notification>(m).method == "unsubscribe");

  m = parse(R"({"jsonrpc":"2.0","id":1,"result":null})");
  REQUIRE(std::holds_alternative<response>(m));
  CHECK(std::get<json::value>(std::get<response>(m).outcome).is_null());

  m = parse(R"({"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-32601,"message":"no"}})");
  REQUIRE(std::holds_alternative<response>(m));
  CHECK(std::get<error>(std::get<response>(m).outcome).code == -32601);
  CHECK(std::get<error>(std::get<response>(m).outcome).message == "no");
  CHECK(std::get<error>(std::get<response>(m).outcome).data.is_null());

  m =
    parse(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no","data":{"at":3}}})");
  REQUIRE(std::holds_alternative<response>(m));
  CHECK(std::get<error>(std::get<response>(m).outcome).data.at("at") == json::value(3));
}

TEST_CASE(
  "each malformed frame gives its code, a sentence naming the member, and the id if it can") {
  struct row {
    const char* frame;
    int code;
    json::value id;
    const char* sentence;
  };
  const std::vector<row> rows{
    {"[]", invalid_request, nullptr, "batches are not served: send one message per frame"},
    {"7", invalid_request, nullptr, "a message must be a JSON object"},
    {R"({"id":1,"method":"ping"})", invalid_request, 1, R"(jsonrpc must be "2.0")"},
    {R"({"jsonrpc":2.0,"id":"x","method":"ping"})", invalid_request, "x",
     R"(jsonrpc must be "2.0")"},
    {R"({"jsonrpc":"1.0","id":1,"result":1})", invalid_request, nullptr,
     R"(jsonrpc must be "2.0")"},
    {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", invalid_request, nullptr,
     "id must be a number or a string of at most 256 bytes"},
    {R"({"jsonrpc":"2.0","id":[1],"method":"ping"})", invalid_request, nullptr,
     "id must be a number or a string of at most 256 bytes"},
    {R"({"jsonrpc":"2.0","id":1,"method":5})", invalid_request, 1,
     "method must be a string of 1 to 256 bytes"},
    {R"({"jsonrpc":"2.0","id":1,"method":""})", invalid_request, 1,
     "method must be a string of 1 to 256 bytes"},
    {R"({"jsonrpc":"2.0","id":1,"method":"m","params":[]})", invalid_request, 1,
     "params must be an object"},
    {R"({"jsonrpc":"2.0","id":1,"method":"m","result":1})", invalid_request, 1,
     "a message with a method must have no result and no error"},
    {R"({"jsonrpc":"2.0","id":1})", invalid_request, nullptr,
     "a message needs a method, a result or an error"},
    {R"({"jsonrpc":"2.0","id":1,"error":null})", invalid_request, nullptr,
     "a message needs a method, a result or an error"},
    {R"({"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"x"}})", invalid_request,
     nullptr, "a response must have a result or an error, not both"},
    {R"({"jsonrpc":"2.0","id":null,"result":1})", invalid_request, nullptr,
     "id of a response must be the number or string of its request"},
    {R"({"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"x"}})", invalid_request, nullptr,
     "error.code must be a 32-bit integer"},
    {R"({"jsonrpc":"2.0","id":1,"error":{"code":99999999999,"message":"x"}})", invalid_request,
     nullptr, "error.code must be a 32-bit integer"},
    {R"({"jsonrpc":"2.0","id":1,"error":{"code":1}})", invalid_request, nullptr,
     "error.message must be a string"},
  };
  for (const auto& r : rows) {
    CAPTURE(r.frame);
    const auto m = broken(r.frame);
    CHECK(m.why.code == r.code);
    CHECK(m.why.message == r.sentence);
    CHECK(m.id == r.id);
  }
}

TEST_CASE("text that is not JSON in UTF-8 is a parse error without an id") {
  for (const auto& frame :
       {std::string(R"({"jsonrpc":"2.0","id":1)"), std::string(""), std::string("{} {}"),
        std::string("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"),
        std::string("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc3\"}"),
        std::string("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}"),
        std::string(R"({"jsonrpc":"2.0","id":1,"method":"\ud800"})")}) {
    CAPTURE(frame);
    const auto m = broken(frame);
    CHECK(m.why.code == parse_error);
    CHECK(m.id.is_null());
    CHECK(m.why.message.rfind("the message is not JSON in UTF-8: ", 0) == 0);
  }
}

TEST_CASE("frames past a limit are refused") {
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  CHECK(std::holds_alternative<request>(parse(ping, {ping.size(), 64})));
  auto m = broken(ping, {ping.size() - 1, 64});
  CHECK(m.why.code == invalid_request);
  CHECK(m.why.message == "the message is 40 bytes long, and at most 39 are read");

  const auto nested = [](std::size_t depth) {
    return R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":)" + std::string(depth - 2, '[') +
           std::string(depth - 2, ']') + "}}";
  };
  CHECK(std::holds_alternative<request>(parse(nested(64))));
  m = broken(nested(65));
  CHECK(m.why.code == invalid_request);
  CHECK(m.why.message == "the message is nested deeper than 64 levels");
  CHECK(broken(std::string(1u << 20, '[')).why.code == invalid_request);

  const auto with_id = [](std::size_t n) {
    return R"({"jsonrpc":"2.0","method":"m","id":")" + std::string(n, 'x') + "\"}";
  };
  CHECK(std::holds_alternative<request>(parse(with_id(256))));
  CHECK(broken(with_id(257)).why.code == invalid_request);
}

TEST_CASE("frames are written whole and read back as they were") {
  const json::value params = json::object{
    {"channel", "ahp-root://"}, {"text", "\"q\" \n \xc3\xa9"}, {"n", 9007199254740991}};
  auto m = parse(request_frame(3, "m", params));
  REQUIRE(std::holds_alternative<request>(m));
  CHECK(json::value(std::get<request>(m).params) == params);
  CHECK(std::get<request>(m).id == json::value(3));
  CHECK(request_frame("s\"", "m", json::object{}) ==
        R"({"jsonrpc":"2.0","id":"s\"","method":"m","params":{}})");
  CHECK(notification_frame("action", json::object{{"a", 1}}) ==
        R"({"jsonrpc":"2.0","method":"action","params":{"a":1}})");
  CHECK(result_frame(1, nullptr) == R"({"jsonrpc":"2.0","id":1,"result":null})");
  CHECK(error_frame(nullptr, {-32700, "no \"x\"", nullptr}) ==
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no \"x\""}})");
  CHECK(
    error_frame(1, {-32005, "no", json::object{{"supportedVersions", json::array{"^1.0.0"}}}}) ==
    R"({"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"no",)"
    R"("data":{"supportedVersions":["^1.0.0"]}}})");
}

TEST_CASE("a large document is serialised whole") {
  json::array many;
  for (int i = 0; i < 20'000; ++i)
    many.push_back(
      json::object{{"i", i}, {"text", std::string(static_cast<std::size_t>(i % 97), 'x')}});
  const json::value params = json::object{{"items", many}};
  auto m = parse(notification_frame("m", params));
  REQUIRE(std::holds_alternative<notification>(m));
  CHECK(json::value(std::get<notification>(m).params) == params);
  std::string appended = "before ";
  append(appended, params);
  CHECK(appended == "before " + json::serialize(params));
}
