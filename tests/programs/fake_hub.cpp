#include "tests/programs/fake_hub.hpp"

#include "protocol/jsonrpc/message.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace ahpd::tests {

namespace {

constexpr std::chrono::seconds limit{20};

} // namespace

fake_hub::fake_hub(std::string token) : token_(std::move(token)) {
  transport::server_handlers handlers;
  handlers.on_request = [](const transport::http_request&, const auto& reply) {
    reply({426, {}, "AHP only"});
  };
  handlers.on_upgrade = [this](const transport::http_request& what) -> transport::upgrade_answer {
    const auto given = what.headers.find("Authorization");
    const std::lock_guard lock(mutex_);
    authorization_ = given == what.headers.end() ? "" : given->second;
    if (!token_.empty() && authorization_ != "Bearer " + token_)
      return transport::http_response{401, {}, "A connection token is required"};
    return [this](std::shared_ptr<transport::websocket> open) {
      const std::lock_guard held(mutex_);
      socket_ = std::move(open);
      transport::websocket_events events;
      events.on_text = [this](const std::string& text) {
        std::string why;
        auto frame = json::parse_text(text, 64, why);
        const std::lock_guard taken(mutex_);
        socket_->grant(1);
        frames_.push_back(frame ? *frame : json::value(why));
        changed_.notify_all();
      };
      events.on_closed = [](const transport::close_reason&) {};
      return events;
    };
  };
  std::string error;
  server_ = transport::listen(io_, {}, handlers, {}, error);
  REQUIRE_MESSAGE(server_, error);
  thread_ = std::thread([this] { io_.run(); });
}

fake_hub::~fake_hub() {
  server_->close("the test is over");
  io_.stop();
  thread_.join();
}

json::value fake_hub::expect(const std::string& method) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, limit, [this] { return !frames_.empty(); }))
    FAIL("the client did not send " << method << " in time");
  auto frame = std::move(frames_.front());
  frames_.pop_front();
  REQUIRE_MESSAGE(json::string_member(frame, "method") == method, json::serialize(frame));
  return frame;
}

json::value fake_hub::expect_action(const std::string& type) {
  auto params = expect("dispatchAction").at("params");
  REQUIRE_MESSAGE(params.at("action").at("type") == json::string(type), json::serialize(params));
  return params;
}

void fake_hub::send(std::string text) {
  const std::lock_guard lock(mutex_);
  REQUIRE(socket_);
  socket_->send(std::make_shared<const std::string>(std::move(text)));
}

void fake_hub::answer(const json::value& request, const json::value& result) {
  send(jsonrpc::result_frame(request.at("id"), result));
}

void fake_hub::refuse(const json::value& request, int code, const std::string& message) {
  send(jsonrpc::error_frame(request.at("id"), {code, message, {}}));
}

void fake_hub::notify(const std::string& method, const json::value& params) {
  send(jsonrpc::notification_frame(method, params));
}

void fake_hub::action(const std::string& channel, const json::value& action,
                      const json::value& answered) {
  json::object params{{"channel", channel}, {"action", action}, {"serverSeq", ++seq_}};
  if (answered.is_object())
    params["origin"] = {{"clientId", last_client_}, {"clientSeq", answered.at("clientSeq")}};
  notify("action", params);
}

void fake_hub::reject(const json::value& dispatched, const std::string& reason) {
  notify("action",
         {{"channel", dispatched.at("channel")},
          {"action", dispatched.at("action")},
          {"serverSeq", seq_},
          {"origin", {{"clientId", last_client_}, {"clientSeq", dispatched.at("clientSeq")}}},
          {"rejectionReason", reason}});
}

void fake_hub::greet() {
  const auto hello = expect("initialize");
  last_client_ = std::string(hello.at("params").at("clientId").as_string());
  answer(hello, {{"protocolVersion", "1.0.0"}, {"serverSeq", seq_}, {"snapshots", json::array{}}});
}

json::value fake_hub::answer_subscription(const json::value& state) {
  const auto asked = expect("subscribe");
  const auto& channel = asked.at("params").at("channel");
  answer(asked, {{"snapshot", {{"resource", channel}, {"state", state}, {"fromSeq", seq_}}}});
  return asked.at("params");
}

json::value fake_hub::greet_turn(json::value* created) {
  greet();
  const auto create = expect("createSession");
  if (created)
    *created = create.at("params");
  answer(create, nullptr);
  answer_subscription({{"provider", "shell"},
                       {"title", "New session"},
                       {"status", 1},
                       {"lifecycle", "ready"},
                       {"activeClients", json::array{}},
                       {"chats", json::array{}},
                       {"defaultChat", chat}});
  answer_subscription({{"resource", chat},
                       {"title", "New session"},
                       {"status", 1},
                       {"modifiedAt", "2026-11-30T10:00:00.000Z"},
                       {"turns", json::array{}}});
  const auto turn = expect_action("chat/turnStarted");
  action(chat, turn.at("action"), turn);
  return turn;
}

void fake_hub::drop() {
  const std::lock_guard lock(mutex_);
  socket_->close(1012, "restarting");
}

std::string fake_hub::last_authorization() {
  const std::lock_guard lock(mutex_);
  return authorization_;
}

} // namespace ahpd::tests
