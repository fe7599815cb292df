// What the real hub makes of frames and parameters that are wrong.

#include "tests/programs/hub_support.hpp"

#include "protocol/ahp/actions.hpp"
#include "protocol/jsonrpc/message.hpp"

#include <doctest/doctest.h>

using namespace ahpd;

namespace {

struct bad_input_fixture {
  tests::hub_process hub{{{"--plugin", "@ahpd/computer"}, {}, {}}};

  /// Sends a frame and gives the error that answers it.
  static json::value error_of(tests::ahp_peer& peer, std::string frame) {
    const auto before = peer.frames().size();
    peer.send_text(std::move(frame));
    peer.request("ping"); // answered behind it: the connection lives on
    for (auto i = before; i < peer.frames().size(); ++i)
      if (const auto* error = json::member(peer.frames()[i], "error"))
        return {{"id", peer.frames()[i].at("id")}, {"code", error->at("code")}};
    return nullptr;
  }
};

json::value error(const json::value& id, int code) {
  return {{"id", id}, {"code", code}};
}

} // namespace

TEST_CASE_FIXTURE(bad_input_fixture, "a frame that is no message is answered, and the connection "
                                     "lives on") {
  tests::ahp_peer peer(hub.url());
  peer.initialize();
  for (const char* frame : {"hello", "", "{", "{\"jsonrpc\":\"2.0\",}", "{} {}", "\xEF\xBB\xBF{}"})
    CHECK_MESSAGE(error_of(peer, frame) == error(nullptr, jsonrpc::parse_error), frame);
  for (const char* frame :
       {"[]", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", "5", "null", "\"ping\"", "{}",
        "{\"id\":null,\"method\":\"ping\"}", "{\"jsonrpc\":\"2.0\",\"method\":5}",
        "{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}"})
    CHECK_MESSAGE(error_of(peer, frame) == error(nullptr, jsonrpc::invalid_request), frame);
  for (const char* frame :
       {"{\"id\":77,\"method\":\"ping\"}", "{\"jsonrpc\":\"1.0\",\"id\":77,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"ping\",\"params\":[]}",
        "{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"ping\",\"params\":\"x\"}"})
    CHECK_MESSAGE(error_of(peer, frame) == error(77, jsonrpc::invalid_request), frame);
  CHECK(error_of(peer, "{\"jsonrpc\":\"2.0\",\"id\":\"mine\",\"method\":\"none\"}") ==
        error("mine", jsonrpc::method_not_found));
  CHECK(
    error_of(peer, "{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"" + std::string(300, 'm') + "\"}")
      .at("code") == jsonrpc::invalid_request);

  const std::string start = "{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"ping\",\"params\":";
  for (const char* level : {"[", "{\"a\":"})
    for (const int depth : {100, 100'000}) {
      std::string bomb = start;
      for (int i = 0; i < depth; ++i)
        bomb += level;
      const auto got = error_of(peer, bomb);
      REQUIRE(got.is_object());
      CHECK((got.at("code") == jsonrpc::invalid_request || got.at("code") == jsonrpc::parse_error));
    }
}

TEST_CASE_FIXTURE(bad_input_fixture, "unknown methods and channels are refused by name") {
  tests::ahp_peer peer(hub.url());
  peer.initialize();
  for (const char* method : {"none", "root/none", "Ping", "x-ahpd/none", "$/cancelRequest"}) {
    const auto why = peer.request_error(method);
    CHECK(why.at("code") == jsonrpc::method_not_found);
    CHECK(std::string(why.at("message").as_string()).find(method) != std::string::npos);
  }
  for (const char* method : {"runAutomation", "moveChat"})
    CHECK(peer.request_error(method, {{"channel", "x:/y"}}).at("code") ==
          jsonrpc::method_not_found);
  for (const char* method : {"dispatchAction", "unsubscribe"})
    CHECK(peer.request_error(method).at("code") == jsonrpc::invalid_request);
  CHECK(peer.request_error("listSessions", {{"channel", "ahp-session:/x"}}).at("code") ==
        jsonrpc::invalid_params);
  for (const char* method : {"none", "createSession", "action", "$/progress"})
    peer.notify(method, {{"channel", "ahp-session:/x"}});
  peer.send_text("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}"); // nothing was asked
  const auto before = peer.frames().size();
  peer.request("ping");
  CHECK(peer.frames().size() == before + 1);
  CHECK(peer.request("listSessions").at("items").as_array().empty());
}

TEST_CASE_FIXTURE(bad_input_fixture, "a frame past the limit, or that is no UTF-8, ends its "
                                     "connection alone") {
  tests::ahp_peer bystander(hub.url());
  bystander.initialize();
  const auto padded = [](std::size_t size) {
    const std::string start = "{\"jsonrpc\":\"2.0\",\"id\":\"big\",\"method\":\"ping\",\"params\":"
                              "{\"channel\":\"ahp-root://\",\"pad\":\"";
    return start + std::string(size - start.size() - 3, 'x') + "\"}}";
  };
  {
    tests::ahp_peer peer(hub.url());
    peer.send_text(padded(16u << 20));
    peer.wait_for("the answer", [](const json::value& f) { return f.at("id") == "big"; });
    peer.send_text(padded((16u << 20) + 1));
    CHECK(peer.wait_closed().code == 1009);
  }
  for (const char* text : {"\"\xFF\"", "\xC3", "\"\xED\xA0\x80\"", "\"\xC0\x80\""}) {
    tests::ahp_peer peer(hub.url());
    peer.initialize();
    peer.send_text(text);
    CHECK(peer.wait_closed().code == 1007);
  }
  CHECK(bystander.request("ping").is_null());
}

namespace {

struct actions_fixture : bad_input_fixture {
  tests::ahp_peer peer{hub.url()};
  tests::shell_session session;
  std::int64_t clock = 1000; ///< clientSeq

  actions_fixture() {
    peer.initialize();
    session = tests::open_session(peer, "ahp-session:/one");
  }

  std::int64_t current() {
    tests::ahp_peer other(hub.url());
    return other.initialize().at("serverSeq").as_int64();
  }

  /// The refusal of an action, which must repeat it.
  std::string refusal(const std::string& channel, const json::value& action) {
    peer.skip_to_now();
    peer.notify("dispatchAction",
                {{"channel", channel}, {"clientSeq", ++clock}, {"action", action}});
    const auto echo = peer.wait_for(json::serialize(action), [&](const json::value& f) {
      const auto* params = json::member(f, "params");
      const auto* origin = params ? json::member(*params, "origin") : nullptr;
      return origin && origin->at("clientSeq") == clock;
    });
    const auto& params = echo.at("params");
    CHECK(params.at("channel") == json::value(channel));
    CHECK(params.at("action") == action);
    const auto why = json::string_member(params, "rejectionReason");
    REQUIRE_MESSAGE(why, json::serialize(action) << " is refused");
    return std::string(*why);
  }
};

} // namespace

TEST_CASE_FIXTURE(actions_fixture, "an action that may not be is echoed with the reason, and "
                                   "changes nothing") {
  const auto before = std::pair(peer.subscribe(session.uri), peer.subscribe(session.chat));
  const auto seq = current();
  for (const auto type : ahp::action_types()) {
    const auto* rule = ahp::find_action(type);
    const json::value action{{"type", type}, {"turnId", "t1"}};
    const bool of_chat = rule->kind == ahp::channel_kind::chat;
    const bool of_session = rule->kind == ahp::channel_kind::session;
    if (rule->by == ahp::origin_rule::server_only || !of_chat)
      CHECK_FALSE(refusal(session.chat, action).empty());
    if (rule->by == ahp::origin_rule::server_only || !of_session)
      CHECK_FALSE(refusal(session.uri, action).empty());
  }
  const json::value message{{"text", "true"}, {"origin", {{"kind", "user"}}}};
  const std::string started = "2026-11-30T10:00:05.000Z";
  for (const json::value& action : std::initializer_list<json::value>{
         nullptr,
         5,
         "chat/turnStarted",
         json::array{},
         json::object{},
         json::object{{"type", 5}},
         json::object{{"type", nullptr}},
         json::object{{"type", ""}},
         json::object{{"type", "chat/none"}},
         json::object{{"type", std::string(5000, 'x')}},
         json::object{{"type", "chat/turnStarted"}},
         json::object{{"type", "chat/turnStarted"}, {"turnId", "t"}, {"startedAt", started}},
         json::object{{"type", "chat/turnStarted"},
                      {"turnId", 5},
                      {"startedAt", started},
                      {"message", message}},
         json::object{{"type", "chat/turnStarted"},
                      {"turnId", ""},
                      {"startedAt", started},
                      {"message", message}},
         json::object{{"type", "chat/turnStarted"}, {"turnId", "t"}, {"message", message}},
         json::object{{"type", "chat/turnStarted"},
                      {"turnId", "t"},
                      {"startedAt", started},
                      {"message", "true"}},
         json::object{{"type", "chat/turnStarted"},
                      {"turnId", "t"},
                      {"startedAt", started},
                      {"message", {{"text", 5}, {"origin", {{"kind", "user"}}}}}},
         json::object{{"type", "chat/turnStarted"},
                      {"turnId", "t"},
                      {"startedAt", started},
                      {"message", {{"text", "true"}}}},
         json::object{{"type", "chat/turnStarted"},
                      {"turnId", "t"},
                      {"startedAt", started},
                      {"message", {{"text", "true"}, {"origin", {{"kind", "agent"}}}}}},
         json::object{{"type", "chat/turnCancelled"}, {"turnId", "t"}},
         json::object{{"type", "chat/pendingMessageSet"}, {"kind", "queued"}, {"id", "q"}},
         json::object{{"type", "chat/pendingMessageSet"},
                      {"kind", "other"},
                      {"id", "q"},
                      {"message", message}},
         json::object{{"type", "chat/queuedMessagesReordered"}, {"order", "q"}},
         json::object{{"type", "chat/draftChanged"}, {"draft", 5}},
         json::object{{"type", "chat/truncated"}, {"turnId", 5}},
         json::object{{"type", "chat/turnResume"}, {"turnId", "t"}}})
    CHECK_FALSE(refusal(session.chat, action).empty());
  for (const json::value& action : std::initializer_list<json::value>{
         json::object{{"type", "session/titleChanged"}},
         json::object{{"type", "session/titleChanged"}, {"title", 5}},
         json::object{{"type", "session/isReadChanged"}, {"isRead", "yes"}},
         json::object{{"type", "session/activeClientSet"}, {"activeClient", json::object{}}},
         json::object{{"type", "session/activeClientSet"},
                      {"activeClient", {{"clientId", "other"}, {"tools", json::array{}}}}},
         json::object{{"type", "session/configChanged"}, {"config", {{"computer", "x"}}}},
         json::object{{"type", "session/workingDirectorySet"}, {"directory", "file:///"}}})
    CHECK_FALSE(refusal(session.uri, action).empty());
  CHECK_FALSE(
    refusal("ahp-root://", json::object{{"type", "root/agentsChanged"}, {"agents", json::array{}}})
      .empty());
  CHECK(current() == seq);
  CHECK(peer.subscribe(session.uri) == before.first);
  CHECK(peer.subscribe(session.chat) == before.second);
  tests::run_turn(peer, session.chat, "t1", "true");
}

TEST_CASE_FIXTURE(actions_fixture, "an action without a channel that is there is passed over") {
  const json::value action{{"type", "session/titleChanged"}, {"title", "x"}};
  const auto before = peer.frames().size();
  for (const char* channel : {"ahp-session:/none", "ahp-chat:/none", "ahp-terminal:/none", "x", ""})
    peer.notify("dispatchAction", {{"channel", channel}, {"clientSeq", 1}, {"action", action}});
  peer.notify("dispatchAction", {{"channel", 5}, {"clientSeq", 1}, {"action", action}});
  peer.notify("dispatchAction", {{"channel", session.uri}, {"action", action}});
  peer.notify("dispatchAction", {{"channel", session.uri}, {"clientSeq", "1"}, {"action", action}});
  peer.notify("dispatchAction", {{"channel", session.uri}, {"clientSeq", -1}, {"action", action}});
  peer.notify("unsubscribe", {{"channel", 5}});
  peer.notify("unsubscribe", {{"channel", "ahp-session:/none"}});
  peer.request("ping");
  CHECK(peer.frames().size() == before + 1);
  CHECK(peer.subscribe(session.uri).at("title") == "New session");
}
