#include "protocol/aio/checks.hpp"
#include "protocol/aio/openapi.hpp"
#include "protocol/aio/output_text.hpp"
#include "protocol/aio/request_log.hpp"
#include "protocol/aio/routes.hpp"
#include "protocol/aio/trace_context.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace ahpd;
using namespace ahpd::aio;

namespace {

constexpr field inner[] = {need("name", type::text, "")};
constexpr field fields[] = {
  need("command", type::text, "What to do."),
  may("limit", type::number, "Seconds.").between(0, 10),
  may("count", type::integer, "How many.").at_least(1).otherwise("3"),
  may("flag", type::flag, "").otherwise("false"),
  may("mode", type::text, "").one_of("a|b"),
  may("args", type::texts, ""),
  may("env", type::text_by_name, ""),
  may("who", type::object, "").holding(inner),
};

std::string first_error(const checked& got) {
  REQUIRE_FALSE(got.errors.empty());
  return json::text(got.errors[0], "message");
}

std::string body_error(const std::string& body) {
  return first_error(check_body(body, fields));
}

} // namespace

TEST_CASE("a body's members are what their fields say, defaults filled in and the rest dropped") {
  const auto got = check_body(
    R"({"command":"x","limit":null,"args":["a"],"env":{"A":"1"},"mode":"b","other":1})", fields);
  CHECK(got.errors.empty());
  CHECK(got.members == json::object{{"command", "x"},
                                    {"count", 3},
                                    {"flag", false},
                                    {"mode", "b"},
                                    {"args", json::array{"a"}},
                                    {"env", {{"A", "1"}}}});
}

TEST_CASE("what is wrong with a body is told with its place") {
  CHECK(body_error("{}") == "missing field `command` at line 1 column 2");
  CHECK(body_error("") == "missing field `command` at line 1 column 2");
  CHECK(body_error("{\n  \"count\": 1\n}\n") == "missing field `command` at line 3 column 1");
  CHECK(body_error(R"({"command":null})") == "invalid type: null, expected a string");
  CHECK(body_error(R"({"command":["a"]})") == "invalid type: sequence, expected a string");
  CHECK(body_error(R"({"command":"x","limit":11})") == "must be between 0 and 10");
  CHECK(body_error(R"({"command":"x","limit":1e999})") == "must be between 0 and 10");
  CHECK(body_error(R"({"command":"x","count":0})") == "must be 1 or more");
  CHECK(body_error(R"({"command":"x","count":1.5})") ==
        "invalid type: floating point `1.5E0`, expected an integer");
  CHECK(body_error(R"({"command":"x","mode":"c"})") ==
        "unknown variant `c`, expected one of `a`, `b`");
  CHECK(body_error(R"({"command":"x","args":["a",1]})") ==
        "invalid type: sequence, expected an array of strings");
  CHECK(body_error(R"({"command":"x","env":{"A":1}})") ==
        "invalid type: map, expected an object of strings");
  CHECK(body_error("7") == "invalid type: integer `7`, expected an object");
  CHECK(body_error("{\"command\":\"\xff\"}").find("not JSON") != std::string::npos);
  CHECK(check_body("{", fields).errors[0].at("type") == json::value("json_invalid"));
  CHECK(check_body(R"({"limit":"a","count":"b"})", fields).errors.size() == 3);
}

TEST_CASE("a query's texts become what their fields say") {
  const auto got = check_query("command=a+b%2Bc&count=7&count=8&flag=true&limit=0.5", fields);
  CHECK(got.errors.empty());
  CHECK(got.members ==
        json::object{{"command", "a b+c"}, {"limit", 0.5}, {"count", 8}, {"flag", true}});
  const auto wrong = [](const std::string& query) {
    return first_error(check_query("command=x&" + query, fields));
  };
  CHECK(wrong("count=x") == "invalid digit found in string");
  CHECK(wrong("count=") == "cannot parse integer from empty string");
  CHECK(wrong("count=99999999999999999999") == "number too large to fit in target type");
  CHECK(wrong("flag=yes") == "provided string was not `true` or `false`");
  CHECK(wrong("limit=nan") == "invalid float literal");
  CHECK(wrong("limit=-1") == "must be between 0 and 10");
  CHECK(check_query("", fields).errors[0] == json::value{{"location", {"query", "command"}},
                                                         {"message", "missing field `command`"},
                                                         {"type", "value_error.missing"}});
  CHECK(check_query("command=x&count=x", fields).errors[0].at("location") ==
        json::value(json::array{"query"}));
}

TEST_CASE("no two routes have a method and a path, or an operation, in common") {
  std::set<std::string> names, places;
  for (const auto& r : routes()) {
    CHECK_MESSAGE(names.insert(std::string(r.operation)).second, r.operation);
    CHECK_MESSAGE(places.insert(std::string(r.method) + " " + std::string(r.path)).second, r.path);
    for (const auto* of : {&r.query, &r.body})
      for (const auto& f : *of)
        CHECK_FALSE((f.required && !f.fallback.empty()));
  }
}

TEST_CASE("every route is found by its own path, and tells who has not its method") {
  for (const auto& r : routes()) {
    std::string path(r.path);
    for (auto open = path.find('{'); open != std::string::npos; open = path.find('{'))
      path.replace(open, path.find('}') - open + 1, "a%20b");
    const auto found = find_route(r.method, path + "?x=1", surface::full);
    REQUIRE(found.what);
    CHECK(found.what->operation == r.operation);
    for (const auto& [name, value] : found.values)
      CHECK(value == "a b");
    CHECK((find_route(r.method, path, surface::v2).what == nullptr) == r.path.starts_with("/v1/"));
  }
  CHECK(find_route("GET", "/v2/commands/sessions", surface::full).what->operation ==
        "listCommandSessions");
  CHECK(find_route("HEAD", "/health", surface::full).what->operation == "health");
  CHECK(find_route("PUT", "/v2/commands", surface::full).methods ==
        std::vector<std::string_view>{"POST"});
  for (const char* none : {"", "/", "/v2", "/v2/commands/", "/v2/commands/a/b/c", "/v2//sessions",
                           "/v2/commands/%zz", "/health/", "health"})
    CHECK_MESSAGE(find_route("GET", none, surface::full).what == nullptr, none);
}

TEST_CASE("a document describes what it is made from") {
  const auto all = openapi(document::all, surface::full, "1.2.3");
  CHECK(all.at("info").at("version") == json::value("1.2.3"));
  const auto& run = all.at("paths").at("/v2/commands").at("post");
  const auto& body = run.at("requestBody").at("content").at("application/json").at("schema");
  CHECK(body.at("required") == json::value(json::array{"command"}));
  CHECK(body.at("properties").at("timeout").at("anyOf").at(0).at("type") == json::value("number"));
  CHECK(body.at("properties").at("max_output_length").at("default").to_number<int>() == 50'000);
  CHECK(run.at("responses").as_object().contains("422"));
  const auto& read = all.at("paths").at("/v2/commands/{command_id}").at("get");
  CHECK(read.at("parameters").at(0).at("in") == json::value("path"));
  CHECK(read.at("parameters").at(1).at("name") == json::value("offset"));
  CHECK(all.at("paths").at("/health").at("get").at("security").as_array().empty());
  const auto only_v2 = openapi(document::all, surface::v2, "1");
  for (const auto& [path, item] : only_v2.at("paths").as_object())
    CHECK_FALSE(std::string_view(path.data(), path.size()).starts_with("/v1/"));
}

TEST_CASE("a log tells what came in, and no secret of it") {
  for (const char* name : {"api_key", "X-Api-Key", "Authorization", "accessToken", "db_password",
                           "Set-Cookie", "clientSecret", "input"})
    CHECK_MESSAGE(is_sensitive(name), name);
  for (const char* name : {"command", "path", "key", "user", "inputs"})
    CHECK_FALSE_MESSAGE(is_sensitive(name), name);
  CHECK(redacted("abc") ==
        json::object{{"redacted", true}, {"len", 3}, {"sha256", "ba7816bf8f01"}});
  const auto query = query_summary("api_key=abc&path=%2Ftmp");
  CHECK(query.at("path") == json::value("/tmp"));
  CHECK(query.at("api_key").at("sha256") == json::value("ba7816bf8f01"));
  const auto body =
    body_summary("application/json; charset=utf-8", true, R"({"a":[{"token":5}],"b":"x"})");
  CHECK(body.at("params").at("a").at(0).at("token").at("redacted") == json::value(true));
  CHECK(body.at("params").at("b") == json::value("x"));
  CHECK(body_summary("text/plain", true, "{}").at("reason") == json::value("content_type"));
  CHECK(body_summary("application/json", false, "{}").at("reason") ==
        json::value("no_content_length"));
  CHECK(body_summary("application/json", true, std::string(9000, ' ')).at("reason") ==
        json::value("too_large"));
  CHECK(body_summary("application/json", true, "{").at("reason") == json::value("not_json"));
}

TEST_CASE("a trace goes on from a caller's word for it") {
  const std::string id = "4bf92f3577b34da6a3ce929d0e0e4736", span = "00f067aa0ba902b7";
  const auto got = parse_traceparent("00-" + id + "-" + span + "-01");
  REQUIRE(got);
  CHECK(got->trace_id == id);
  CHECK(got->parent_id == span);
  CHECK(got->sampled);
  CHECK(traceparent(id, span, true) == "00-" + id + "-" + span + "-01");
  CHECK(parse_traceparent("cc-" + id + "-" + span + "-00-more"));
  for (const auto& wrong : std::vector<std::string>{
         "", "00-" + id + "-" + span, "ff-" + id + "-" + span + "-01",
         "00-" + std::string(32, '0') + "-" + span + "-01",
         "00-" + id + "-" + std::string(16, '0') + "-01", "00-" + id + "-" + span + "-01-more",
         "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + span + "-01", "00-" + id + "x" + span + "-01"})
    CHECK_FALSE_MESSAGE(parse_traceparent(wrong), wrong);
}

TEST_CASE("long text is cut in its middle, between characters") {
  CHECK(cut_middle("abcdef", 0) == "abcdef");
  CHECK(cut_middle("abcdef", 6) == "abcdef");
  CHECK(cut_middle("abcdefg", 4) == "ab\n...[truncated 3 characters]...\nfg");
  CHECK(cut_middle("äöüßäöü", 3) == "äö\n...[truncated 4 characters]...\nü");
  CHECK(cut_middle("\xff\xfe", 0) == "\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(characters("aä€") == 3);
}
