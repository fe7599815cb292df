// What the real hub makes of parameters of the wrong type.

#include "tests/programs/hub_support.hpp"

#include "protocol/jsonrpc/message.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace ahpd;

namespace {

struct params_fixture {
  tests::hub_process hub{{{"--plugin", "@ahpd/computer"}, {}, {}}};
};

/// A member of a method's params and the kind of value that it takes.
struct member_row {
  const char* method;
  const char* name; ///< "view.turns" is a member of a member
  const char* kind;
};

constexpr std::array members{
  member_row{"ping", "channel", "text"},
  member_row{"listSessions", "channel", "text"},
  member_row{"listSessions", "limit", "count"},
  member_row{"listSessions", "cursor", "text"},
  member_row{"subscribe", "channel", "text"},
  member_row{"subscribe", "view", "object"},
  member_row{"subscribe", "view.turns", "count"},
  member_row{"subscribe", "delivery", "object"},
  member_row{"subscribe", "delivery.maxLatencyMs", "count"},
  member_row{"createSession", "channel", "text"},
  member_row{"createSession", "provider", "text"},
  member_row{"createSession", "workingDirectories", "array"},
  member_row{"createSession", "config", "object"},
  member_row{"createSession", "config.computer", "text"},
  member_row{"createSession", "activeClient", "object"},
  member_row{"createSession", "progressToken", "token"},
  member_row{"disposeSession", "channel", "text"},
  member_row{"resolveSessionConfig", "provider", "text"},
  member_row{"resolveSessionConfig", "workingDirectory", "text"},
  member_row{"resolveSessionConfig", "config", "object"},
  member_row{"sessionConfigCompletions", "property", "text"},
  member_row{"sessionConfigCompletions", "query", "text"},
  member_row{"sessionConfigCompletions", "provider", "text"},
  member_row{"sessionConfigCompletions", "workingDirectory", "text"},
  member_row{"sessionConfigCompletions", "config", "object"},
  member_row{"createChat", "channel", "text"},
  member_row{"createChat", "chat", "text"},
  member_row{"createChat", "initialMessage", "object"},
  member_row{"createChat", "initialMessage.text", "text"},
  member_row{"createChat", "source", "object"},
  member_row{"createChat", "workingDirectories", "array"},
  member_row{"disposeChat", "channel", "text"},
  member_row{"fetchTurns", "channel", "text"},
  member_row{"fetchTurns", "cursor", "text"},
  member_row{"completions", "channel", "text"},
  member_row{"completions", "kind", "text"},
  member_row{"completions", "text", "text"},
  member_row{"completions", "offset", "count"},
  member_row{"authenticate", "resource", "text"},
  member_row{"authenticate", "token", "text"},
  member_row{"authenticate", "scopes", "array"},
  member_row{"authenticate", "expiresIn", "count"},
  member_row{"resourceRead", "uri", "text"},
  member_row{"resourceRead", "encoding", "text"},
  member_row{"resourceWrite", "uri", "text"},
  member_row{"resourceWrite", "data", "text"},
  member_row{"resourceWrite", "encoding", "text"},
  member_row{"resourceWrite", "contentType", "text"},
  member_row{"resourceWrite", "createOnly", "flag"},
  member_row{"resourceWrite", "mode", "text"},
  member_row{"resourceWrite", "position", "count"},
  member_row{"resourceWrite", "ifMatch", "text"},
  member_row{"resourceList", "uri", "text"},
  member_row{"resourceCopy", "source", "text"},
  member_row{"resourceCopy", "destination", "text"},
  member_row{"resourceCopy", "failIfExists", "flag"},
  member_row{"resourceMove", "source", "text"},
  member_row{"resourceMove", "destination", "text"},
  member_row{"resourceMove", "failIfExists", "flag"},
  member_row{"resourceDelete", "uri", "text"},
  member_row{"resourceDelete", "recursive", "flag"},
  member_row{"resourceResolve", "uri", "text"},
  member_row{"resourceResolve", "followSymlinks", "flag"},
  member_row{"resourceMkdir", "uri", "text"},
  member_row{"resourceRequest", "uri", "text"},
  member_row{"resourceRequest", "read", "flag"},
  member_row{"resourceRequest", "write", "flag"},
  member_row{"createResourceWatch", "uri", "text"},
  member_row{"createResourceWatch", "recursive", "flag"},
  member_row{"createResourceWatch", "excludes", "object"},
  member_row{"createResourceWatch", "includes", "object"},
  member_row{"x-ahpd/computers/create", "name", "text"},
  member_row{"x-ahpd/computers/create", "progressToken", "token"},
  member_row{"x-ahpd/computers/start", "name", "text"},
  member_row{"x-ahpd/computers/stop", "name", "text"},
  member_row{"x-ahpd/computers/restart", "name", "text"},
  member_row{"x-ahpd/computers/remove", "name", "text"},
};

/// Params that are right but for the member under test, and that would change nothing.
json::object right_params(const std::string& method) {
  if (method == "createSession")
    return {{"channel", "ahp-session:/never"}, {"provider", "none"}};
  if (method == "disposeSession")
    return {{"channel", "ahp-session:/never"}};
  if (method == "createChat")
    return {{"channel", "ahp-session:/never"}, {"chat", "ahp-chat:/never"}};
  if (method == "disposeChat" || method == "fetchTurns" || method == "subscribe")
    return {{"channel", "ahp-chat:/never"}};
  if (method == "completions")
    return {{"channel", "ahp-chat:/never"}, {"kind", "userMessage"}, {"text", "a"}, {"offset", 1}};
  if (method == "sessionConfigCompletions")
    return {{"property", "computer"}};
  if (method == "authenticate")
    return {{"resource", "https://example.org"}, {"token", "t"}};
  if (method == "resourceWrite")
    return {{"uri", "computer://never"}, {"data", "{}"}, {"encoding", "utf-8"}};
  if (method == "resourceCopy" || method == "resourceMove")
    return {{"source", "computer://never"}, {"destination", "computer://nowhere"}};
  if (method.rfind("resource", 0) == 0 || method == "createResourceWatch")
    return {{"uri", "computer://never"}};
  if (method.rfind("x-ahpd/", 0) == 0)
    return {{"name", "never"}, {"manifest", json::object{}}};
  return {};
}

std::vector<json::value> wrong_values(const std::string& kind) {
  std::vector<json::value> out;
  if (kind != "text" && kind != "token")
    out.emplace_back("text");
  if (kind != "count" && kind != "token")
    out.emplace_back(5);
  else
    out.emplace_back(kind == "count" ? json::value(-1) : json::value(true));
  if (kind == "count")
    out.emplace_back(1.5);
  if (kind != "flag")
    out.emplace_back(true);
  if (kind != "array")
    out.emplace_back(json::array{1});
  if (kind != "object")
    out.emplace_back(json::object{{"a", 1}});
  return out;
}

void put(json::object& params, const std::string& name, const json::value& wrong) {
  const auto dot = name.find('.');
  if (dot == std::string::npos)
    params[name] = wrong;
  else
    params[name.substr(0, dot)] = json::object{{name.substr(dot + 1), wrong}};
}

} // namespace

TEST_CASE_FIXTURE(params_fixture, "a member of the wrong type is refused by its name") {
  tests::ahp_peer peer(hub.url());
  peer.initialize();
  for (const auto& row : members)
    for (const auto& wrong : wrong_values(row.kind)) {
      auto params = right_params(row.method);
      put(params, row.name, wrong);
      const auto frame = peer.answer(peer.begin(row.method, params));
      const auto* why = json::member(frame, "error");
      INFO(row.method << " " << json::serialize(params) << " gives " << json::serialize(frame));
      REQUIRE(why);
      CHECK(why->at("code") == jsonrpc::invalid_params);
      CHECK(std::string(why->at("message").as_string()).find(row.name) != std::string::npos);
    }
}

TEST_CASE_FIXTURE(params_fixture, "an initialize of the wrong shape is refused, and can be sent "
                                  "again") {
  tests::ahp_peer peer(hub.url());
  const json::object right{{"clientId", "c"}, {"protocolVersions", {"1.0.0"}}};
  for (const auto& [name, kind] :
       std::vector<std::pair<std::string, std::string>>{{"clientId", "text"},
                                                        {"protocolVersions", "array"},
                                                        {"initialSubscriptions", "array"},
                                                        {"clientInfo", "object"},
                                                        {"capabilities", "object"},
                                                        {"locale", "text"},
                                                        {"channel", "text"}})
    for (const auto& wrong : wrong_values(kind)) {
      auto params = right;
      put(params, name, wrong);
      const auto why = peer.request_error("initialize", params);
      CHECK_MESSAGE(why.at("code") == jsonrpc::invalid_params, json::serialize(params));
      CHECK(std::string(why.at("message").as_string()).find(name) != std::string::npos);
    }
  for (const json::value& wrong :
       {json::value(json::array{1}), json::value(json::array{"1.0.0", nullptr})})
    for (const char* name : {"protocolVersions", "initialSubscriptions"}) {
      auto params = right;
      params[name] = wrong;
      CHECK(peer.request_error("initialize", params).at("code") == jsonrpc::invalid_params);
    }
  for (const char* missing : {"clientId", "protocolVersions"}) {
    auto params = right;
    params.erase(missing);
    CHECK(peer.request_error("initialize", params).at("code") == jsonrpc::invalid_params);
  }
  CHECK(peer.request("initialize", right).at("protocolVersion") == "1.0.0");
}
