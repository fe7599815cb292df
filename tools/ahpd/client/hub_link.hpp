#pragma once

#include "protocol/json.hpp"
#include "protocol/transport/websocket.hpp"
#include "tools/ahpd/client/where.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ahpd::client {

/// One AHP connection. Everything happens in the calling thread, inside the calls that wait; they
/// throw connection_lost when the connection ends before.
class hub_link {
public:
  static constexpr std::chrono::seconds usual_limit{60};
  static constexpr std::chrono::seconds no_limit{0};

  hub_link();
  ~hub_link();
  hub_link(const hub_link&) = delete;
  hub_link& operator=(const hub_link&) = delete;

  /// Dials and introduces itself; again after the connection was lost. Throws client_failure.
  void connect(const hub_address& where, const std::vector<std::string>& subscriptions = {});

  /// Asks and waits for the answer. Throws hub_refusal for an error.
  json::value request(const std::string& method, json::object params,
                      std::chrono::seconds limit = usual_limit);

  /// Subscribes and gives the snapshot.
  json::value subscribe(const std::string& channel, json::object more = {});

  /// Sends an action; its clientSeq.
  std::int64_t dispatch(const std::string& channel, json::object action);

  /// Lets the connection work until `done`.
  void run_until(const std::function<bool()>& done, std::chrono::seconds limit = no_limit);

  const std::string& client_id() const { return client_id_; }
  boost::asio::io_context& io() { return io_; }

  /// Hears every notification of the hub.
  std::function<void(std::string_view method, const json::value& params)> on_notification;

private:
  void send(std::string text);
  void take(const std::string& text);

  boost::asio::io_context io_;
  std::string client_id_;
  std::shared_ptr<transport::websocket> socket_;
  std::optional<std::string> lost_; ///< why the connection ended
  std::int64_t last_id_ = 0;
  std::int64_t last_seq_ = 0;
  std::int64_t awaited_ = 0; ///< id of the request under way
  std::optional<json::value> answer_;
};

} // namespace ahpd::client
