#pragma once

#include "protocol/json.hpp"
#include "protocol/transport/http.hpp"
#include "protocol/transport/websocket.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ahpd::tests {

struct peer_options {
  std::string client_id = "peer";
  std::string token; ///< sent as `Authorization: Bearer`; empty: none
  std::vector<std::string> versions{"1.0.0", "0.9.0"};
  transport::fields headers; ///< more of them for the upgrade
  transport::websocket_limits bounds;
  std::chrono::milliseconds limit{20'000}; ///< of every wait; past it the test fails
};

/// A synchronous AHP client for end-to-end tests. Everything happens in the calling thread, inside
/// the waits; every frame that came is kept in `frames()`. A request of the host is answered -32601
/// unless `on_request` is set.
class ahp_peer {
public:
  /// Connects to "ws://host:port[/path]". A refusal fails the test. Sends nothing.
  explicit ahp_peer(const std::string& url, peer_options how = {});
  ~ahp_peer();
  ahp_peer(const ahp_peer&) = delete;
  ahp_peer& operator=(const ahp_peer&) = delete;

  /// Dials where a refusal is expected and gives it; an open socket fails the test.
  static transport::http_response refused(const std::string& url, peer_options how = {});

  /// `initialize` with the options' versions and client id; its result.
  json::value initialize(const std::vector<std::string>& subscriptions = {});
  /// `reconnect` as the first message of a new peer with the same client id; its result.
  json::value reconnect(std::int64_t last_seen, const std::vector<std::string>& subscriptions);
  /// `subscribe`; the snapshot's state.
  json::value subscribe(const std::string& channel);

  /// Asks and waits for the answer; an error fails the test. `params.channel` is the root channel
  /// unless it is given.
  json::value request(const std::string& method, json::object params = {});
  /// Asks and waits for a refusal: its `error` object. A result fails the test.
  json::value request_error(const std::string& method, json::object params = {});
  /// Sends a request and gives its id, for `answer`.
  std::int64_t begin(const std::string& method, json::object params = {});
  /// Waits for the whole response frame of a request begun before.
  json::value answer(std::int64_t id);

  void notify(const std::string& method, json::object params = {});
  /// `dispatchAction` with the next clientSeq, which it gives.
  std::int64_t dispatch(const std::string& channel, json::object action);
  void send_text(std::string text); ///< as it is

  using test = std::function<bool(const json::value&)>;
  /// The first frame behind the last one that a `wait_` member gave that passes `wanted`. `what`
  /// names it in the failure. Frames that did not pass are skipped for later waits too.
  json::value wait_for(const std::string& what, const test& wanted);
  /// The params of the next notification `method`.
  json::value wait_notification(const std::string& method, const test& wanted = {});
  /// The envelope of the next action of `type`; any type or channel when that is empty.
  json::value wait_action(const std::string& type, const std::string& channel = {},
                          const test& wanted = {});
  transport::close_reason wait_closed();

  /// Lets the socket take in what has come by now, without waiting for more. Do not use it to wait.
  void poll();
  /// Waits start again at the next frame that comes, skipping all that came.
  void skip_to_now() { next_ = frames_.size(); }

  const std::vector<json::value>& frames() const { return frames_; }
  /// Envelopes of all actions of `type` that came; any type or channel when that is empty.
  std::vector<json::value> actions(const std::string& type, const std::string& channel = {}) const;
  const std::optional<transport::close_reason>& closed() const { return closed_; }
  void close(); ///< with a closing handshake, and waits for its end

  /// Answers a request of the host: the `result`. Not set: -32601.
  std::function<json::value(const std::string& method, const json::object& params)> on_request;

private:
  struct link;
  void take(std::string text);
  /// Runs the socket until `done`; fails the test with `what` at the limit or when the socket
  /// ended.
  void run_until(const std::string& what, const std::function<bool()>& done);

  peer_options how_;
  std::unique_ptr<link> link_;
  std::vector<json::value> frames_;
  std::optional<transport::close_reason> closed_;
  std::size_t next_ = 0; ///< where the next wait starts
  std::int64_t last_id_ = 0;
  std::int64_t last_seq_ = 0;
};

} // namespace ahpd::tests
