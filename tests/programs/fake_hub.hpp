#pragma once

#include "protocol/json.hpp"
#include "protocol/transport/server.hpp"

#include <boost/asio/io_context.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace ahpd::tests {

/// A hub whose part the test plays: it waits for what a client sends and answers by hand. The
/// socket works on a thread of its own; every wait has a limit that fails the test.
class fake_hub {
public:
  /// Lets only those in who bring `token`; empty: everybody.
  explicit fake_hub(std::string token = {});
  ~fake_hub();
  fake_hub(const fake_hub&) = delete;
  fake_hub& operator=(const fake_hub&) = delete;

  std::string url() const { return "ws://127.0.0.1:" + std::to_string(server_->port()); }

  /// The next message of the client, which must be of this method; the whole frame.
  json::value expect(const std::string& method);
  /// The next message must be a dispatched action of this type; the params of dispatchAction.
  json::value expect_action(const std::string& type);
  void answer(const json::value& request, const json::value& result);
  void refuse(const json::value& request, int code, const std::string& message);
  void notify(const std::string& method, const json::value& params);
  /// An action with the next serverSeq; with `answered` (params of dispatchAction) it is its echo.
  void action(const std::string& channel, const json::value& action,
              const json::value& answered = {});
  void reject(const json::value& dispatched, const std::string& reason);

  /// `initialize`, answered.
  void greet();
  /// Answers `initialize`, `createSession` and both subscriptions of `ahpd run`, and gives the
  /// params of the dispatched turn, echoed. `created` gets those of createSession.
  json::value greet_turn(json::value* created = nullptr);
  /// Answers a subscription with this state.
  json::value answer_subscription(const json::value& state);

  void drop(); ///< ends the client's connection
  std::string last_authorization();

  static constexpr const char* chat = "ahp-chat:/c1";
  std::int64_t seq() const { return seq_; }

private:
  void send(std::string text);

  std::string token_;
  boost::asio::io_context io_;
  std::shared_ptr<transport::server> server_;
  std::mutex mutex_; ///< guards what is below, up to the thread
  std::condition_variable changed_;
  std::shared_ptr<transport::websocket> socket_;
  std::deque<json::value> frames_;
  std::string authorization_;
  std::string last_client_; ///< the clientId of the last initialize
  std::int64_t seq_ = 100;
  std::thread thread_;
};

} // namespace ahpd::tests
