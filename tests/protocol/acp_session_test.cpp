#include "protocol/acp/permission.hpp"
#include "protocol/acp/prompt.hpp"
#include "protocol/acp/settings.hpp"
#include "protocol/ahp/uris.hpp"

#include <doctest/doctest.h>

using namespace ahpd;

namespace {

const auto options = json::parse(R"([
  {"optionId":"n","name":"No","kind":"reject_once"},
  {"optionId":"Y","name":"Always","kind":"allow_always"},
  {"optionId":"y","name":"Yes","kind":"allow_once"},
  {"optionId":"N","kind":"reject_always"},
  {"optionId":"?","name":"What","kind":"dance"}])");

json::array prompt(const char* attachments, acp::agent_facts agent = {}) {
  json::value message{{"text", "hi"}, {"attachments", json::parse(attachments)}};
  auto out = acp::prompt_of(message, agent);
  CHECK(out.front() == json::parse(R"({"type":"text","text":"hi"})"));
  return out;
}

} // namespace

TEST_CASE("permission options are shown approvals first") {
  CHECK(json::value(acp::confirmation_options(&options)) == json::parse(R"([
    {"id":"Y","label":"Always","kind":"approve","group":1},
    {"id":"y","label":"Yes","kind":"approve","group":1},
    {"id":"n","label":"No","kind":"deny","group":2},
    {"id":"N","label":"N","kind":"deny","group":2}])"));
  CHECK(acp::confirmation_options(nullptr).empty());
}

TEST_CASE("the picked option is answered when it fits, and nothing becomes an always by itself") {
  CHECK(acp::option_for(&options, true, "Y") == "Y");
  CHECK(acp::option_for(&options, true, "") == "y");
  CHECK(acp::option_for(&options, true, "n") == "y"); // a no cannot answer a yes
  CHECK(acp::option_for(&options, false, "") == "n");
  CHECK(acp::option_for(&options, false, "N") == "N");
  CHECK(acp::option_for(&options, false, "nobody's") == "n");
  const auto always = json::parse(
    R"([{"optionId":"Y","kind":"allow_always"},{"optionId":"N","kind":"reject_always"}])");
  CHECK_FALSE(acp::option_for(&always, true, ""));
  CHECK_FALSE(acp::option_for(&always, false, ""));
  CHECK_FALSE(acp::option_for(nullptr, true, ""));
}

TEST_CASE("a question is about the call it names, or is one of its own") {
  const auto call = [](const char* params) {
    return acp::questioned_call(json::parse(params).as_object(), "q1");
  };
  CHECK(call(R"({"toolCall":{"toolCallId":"c"},"title":"T"})") ==
        json::parse(R"({"toolCallId":"c"})"));
  CHECK(call(R"({"title":"T","subject":{"type":"tool_call","toolCall":{"toolCallId":"c"}}})") ==
        json::parse(R"({"toolCallId":"c","title":"T"})"));
  CHECK(json::equivalent(
    call(R"({"title":"T","subject":{"type":"command","command":"rm x","cwd":"/"}})"),
    json::parse(R"({"toolCallId":"q1","title":"T","kind":"execute","rawInput":"rm x"})")));
  CHECK(call(R"({"title":"T"})") == json::parse(R"({"toolCallId":"q1","title":"T"})"));
}

TEST_CASE("attachments go to an agent as what it takes") {
  acp::agent_facts rich;
  rich.image = rich.embedded = true;
  CHECK(
    prompt(
      R"([{"type":"resource","uri":"file:///a","label":"a","contentType":"text/plain","sizeHint":4}])")
      [1] ==
    json::parse(
      R"({"type":"resource_link","uri":"file:///a","name":"a","mimeType":"text/plain","size":4})"));
  CHECK(prompt(R"([{"type":"simple","label":"l","modelRepresentation":"words"}])")[1] ==
        json::parse(R"({"type":"text","text":"words"})"));
  CHECK(prompt(R"([{"type":"chat","resource":"ahp-chat:/x","label":"earlier"}])")[1] ==
        json::parse(R"({"type":"resource_link","uri":"ahp-chat:/x","name":"earlier"})"));
  const auto* image =
    R"([{"type":"embeddedResource","data":"/w==","contentType":"image/png","label":"p"}])";
  CHECK(prompt(image, rich)[1] ==
        json::parse(R"({"type":"image","data":"/w==","mimeType":"image/png"})"));
  CHECK(prompt(image)[1].at("text") ==
        json::value(
          "(The attachment p was left out: it is image/png, which this agent does not take.)"));
  const auto* note =
    R"([{"type":"embeddedResource","data":"aGk=","contentType":"text/plain","label":"n"}])";
  CHECK(prompt(note, rich)[1].at("resource") ==
        json::parse(R"({"uri":"attachment:n","mimeType":"text/plain","text":"hi"})"));
  CHECK(prompt(note)[1].at("text") == json::value("n:\nhi"));
  CHECK(prompt(R"([{"type":"dance"}])").size() == 1);
}

TEST_CASE("an agent's mode, model and options are settings") {
  acp::settings s("p");
  s.take_opened(
    json::parse(R"({"modes":{"currentModeId":"ask","availableModes":[{"id":"ask"},{"id":"code"}]},
    "configOptions":[
      {"id":"m","type":"select","category":"model","currentValue":"big","options":[{"value":"big"},{"value":"small"}]},
      {"id":"e","type":"select","category":"thought_level","currentValue":"low",
       "options":[{"group":"g","name":"G","options":[{"value":"low"},{"value":"high"}]}]},
      {"id":"web","type":"boolean","currentValue":false},
      {"id":"odd","currentValue":4}]})"));
  const auto got = s.drain();
  REQUIRE(got.size() == 1);
  CHECK(json::equivalent(got[0], json::parse(R"({"type":"session/configChanged","config":
    {"model":"big","acp.e":"low","acp.web":false,"permissionMode":"ask"}})")));
  CHECK(s.drain().empty());

  const auto asks = [&](const char* key, const json::value& value) {
    const auto request = s.change(key, value);
    return request ? request->method + " " + json::serialize(request->params) : std::string();
  };
  CHECK(asks("permissionMode", "code") == R"(session/set_mode {"modeId":"code"})");
  CHECK(asks("permissionMode", "ask").empty()); // it is that
  CHECK(asks("permissionMode", "fly").empty()); // no such choice
  CHECK(asks("model", "small") == R"(session/set_config_option {"configId":"m","value":"small"})");
  CHECK(asks("acp.e", "high") == R"(session/set_config_option {"configId":"e","value":"high"})");
  CHECK(asks("acp.web", true) ==
        R"(session/set_config_option {"configId":"web","type":"boolean","value":true})");
  CHECK(asks("acp.web", "true").empty());
  CHECK(asks("unknown", "x").empty());
  s.answered("permissionMode", "code", jsonrpc::error{});
  CHECK(s.drain().at(0).at("config") == json::parse(R"({"permissionMode":"ask"})"));
  s.answered("permissionMode", "code", json::value(nullptr));
  CHECK(asks("permissionMode", "ask") == R"(session/set_mode {"modeId":"ask"})");
}

TEST_CASE("the draft names options otherwise and tells its commands when it opens") {
  acp::settings s("p");
  s.take_opened(json::parse(R"({"configOptions":[{"configId":"m","type":"select","category":"mode",
    "currentValue":"a","options":[{"value":"a"},{"value":"b"}]}],
    "availableCommands":[{"type":"command","name":"web","description":"Searches"}]})"));
  const auto got = s.drain();
  REQUIRE(got.size() == 2);
  CHECK(got[0].at("config") == json::parse(R"({"permissionMode":"a"})"));
  CHECK(got[1].at("type") == json::value("session/customizationsChanged"));
  CHECK(s.change("permissionMode", "b")->params.at("configId") == json::value("m"));
}

TEST_CASE("updates about the session are session actions, and the last of each counts") {
  acp::settings s("p");
  CHECK(s.take(json::parse(R"({"sessionUpdate":"current_mode_update","currentModeId":"a"})")));
  CHECK(s.take(json::parse(R"({"sessionUpdate":"current_mode_update","currentModeId":"b"})")));
  CHECK(s.take(json::parse(R"({"sessionUpdate":"config_option_update","configOptions":[
    {"id":"x","category":"mode","currentValue":"c"}]})")));
  CHECK(s.take(json::parse(R"({"sessionUpdate":"available_commands_update","availableCommands":[
    {"name":"web","description":"Searches"},{"description":"no name"}]})")));
  CHECK(s.take(json::parse(R"({"sessionUpdate":"session_info_update","title":"T"})")));
  CHECK(s.take(json::parse(R"({"sessionUpdate":"session_info_update","title":null})")));
  CHECK_FALSE(s.take(json::parse(R"({"sessionUpdate":"agent_message_chunk"})")));
  CHECK_FALSE(s.take(json::parse(R"({"sessionUpdate":"dance"})")));
  const auto got = s.drain();
  REQUIRE(got.size() == 3);
  CHECK(got[0].at("config") == json::parse(R"({"permissionMode":"c"})"));
  const auto& container = got[1].at("customizations").at(0);
  CHECK(container.at("type") == json::value("plugin"));
  CHECK(container.at("children") == json::parse(R"([{"type":"prompt","id":"acp-command:p/web",
    "uri":"acp-command:p/web","name":"web","description":"Searches"}])"));
  CHECK(got[2] == json::parse(R"({"type":"session/titleChanged","title":"T"})"));
}
