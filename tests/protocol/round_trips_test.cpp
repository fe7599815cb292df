#include "protocol/ahp/builders.hpp"
#include "protocol/jsonrpc/message.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <variant>

namespace fs = std::filesystem;
namespace json = ahpd::json;
namespace jsonrpc = ahpd::jsonrpc;
namespace build = ahpd::ahp::build;

// Documents are kept as trees here, so of group B it is `preservedOutput` that is asserted.
// Messages and envelopes are the two types that are taken apart and put together again.

namespace {

json::value parsed(const std::string& text) {
  std::string error;
  auto v = json::parse_text(text, 64, error);
  REQUIRE_MESSAGE(v, error);
  return *v;
}

json::value through_message(const json::value& input) {
  const auto m = jsonrpc::parse(json::serialize(input));
  if (const auto* r = std::get_if<jsonrpc::request>(&m))
    return parsed(jsonrpc::request_frame(r->id, r->method, r->params));
  if (const auto* n = std::get_if<jsonrpc::notification>(&m))
    return parsed(jsonrpc::notification_frame(n->method, n->params));
  REQUIRE(std::holds_alternative<jsonrpc::response>(m));
  const auto& r = std::get<jsonrpc::response>(m);
  if (const auto* why = std::get_if<jsonrpc::error>(&r.outcome))
    return parsed(jsonrpc::error_frame(r.id, *why));
  return parsed(jsonrpc::result_frame(r.id, std::get<json::value>(r.outcome)));
}

json::value through_envelope(const json::value& input) {
  std::optional<build::origin> from;
  if (const auto* origin = json::member(input, "origin"))
    from = {std::string(origin->at("clientId").as_string()),
            static_cast<std::uint64_t>(origin->at("clientSeq").as_int64())};
  const auto channel = std::string(input.at("channel").as_string());
  const auto seq = static_cast<std::uint64_t>(input.at("serverSeq").as_int64());
  const auto action = json::serialize(input.at("action"));
  return parsed(build::action_frame(channel, action, seq, from)).at("params");
}

json::value through_tree(const json::value& input) {
  std::string text;
  jsonrpc::append(text, input);
  return parsed(text);
}

} // namespace

TEST_CASE("every public round trip keeps its document") {
  const auto shared = ahpd::tests::shared_folder();
  if (!shared)
    return ahpd::tests::skip("shared folder with the public cases");
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(*shared) / "ahp/0.6/round-trips")) {
    CAPTURE(entry.path().string());
    const auto test = parsed(ahpd::tests::read_file(entry.path().string()));
    const auto type = json::string_member(test, "type");
    const auto& input = test.at("input");
    const auto output = type == "JsonRpcMessage"   ? through_message(input)
                        : type == "ActionEnvelope" ? through_envelope(input)
                                                   : through_tree(input);
    const bool keeps = json::string_member(test, "group") == "B";
    CHECK(output == (keeps ? test.at("preservedOutput") : test.at("acceptableOutputs").at(0)));
    ++count;
  }
  CHECK(count == 26);
}
