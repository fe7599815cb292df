#include "tools/ahpd/client/hub_link.hpp"

#include "protocol/jsonrpc/message.hpp"
#include "protocol/random.hpp"
#include "protocol/transport/client.hpp"
#include "tools/ahpd/client/failure.hpp"

#include <boost/asio/steady_timer.hpp>

namespace ahpd::client {

namespace {

constexpr std::chrono::seconds dial_limit{15};
constexpr std::chrono::seconds closing_limit{2};
constexpr std::size_t frame_depth = 128;

/// A hub of many long turns may send large snapshots.
transport::websocket_limits bounds() {
  transport::websocket_limits out;
  out.inbound_bytes = 64u << 20;
  return out;
}

transport::http_request upgrade_to(const hub_address& where) {
  transport::http_request out;
  out.target = where.path;
  if (!where.token.empty())
    out.headers["Authorization"] = "Bearer " + where.token;
  return out;
}

client_failure refused_by(const hub_address& where, const transport::http_response& why) {
  if (why.status == 401)
    return {exit_refused,
            where.shown + " asks for a token, and " +
              (where.token.empty() ? "none was given" : "does not know this one"),
            "Give it with --token-file FILE or in AHPD_TOKEN."};
  if (why.status == 0)
    return {exit_refused, "nothing answers at " + where.shown + " (" + why.body + ")",
            where.local ? "See `ahpd status`; start a hub with `ahpd start`."
                        : "Check the URL, and that the hub runs and can be reached."};
  return {exit_refused,
          where.shown + " answers " + std::to_string(why.status) +
            ", not AHP: " + why.body.substr(0, 200),
          "Check the URL; a hub speaks WebSocket."};
}

} // namespace

hub_link::hub_link() : client_id_("ahpd-" + new_uuid()) {}

hub_link::~hub_link() {
  on_notification = nullptr; // what it hears with may be gone already
  if (!socket_ || lost_)
    return;
  socket_->close(1000, "");
  try {
    run_until([] { return false; }, closing_limit);
  } catch (const connection_lost&) { // the end that is waited for
  } catch (const client_failure&) {
  }
}

void hub_link::connect(const hub_address& where, const std::vector<std::string>& subscriptions) {
  socket_.reset();
  lost_.reset();
  const auto refusal = std::make_shared<std::optional<transport::http_response>>();
  transport::dial_websocket(
    io_, where.to, upgrade_to(where), bounds(),
    [this](std::shared_ptr<transport::websocket> open) {
      socket_ = std::move(open);
      transport::websocket_events events;
      events.on_text = [this](const std::string& text) { take(text); };
      events.on_closed = [this](const transport::close_reason& why) {
        lost_ = why.text.empty() ? "code " + std::to_string(why.code) : why.text;
      };
      return events;
    },
    [refusal](transport::http_response why) { *refusal = std::move(why); });
  try {
    run_until([&] { return socket_ || *refusal; }, dial_limit);
  } catch (const connection_lost& gone) {
    throw client_failure{exit_refused, "the connection to " + where.shown + " ended: " + gone.why,
                         ""};
  }
  if (*refusal)
    throw refused_by(where, **refusal);
  json::object params{{"channel", "ahp-root://"},
                      {"protocolVersions", {"1.0.0", "0.9.0"}},
                      {"clientId", client_id_},
                      {"clientInfo", {{"name", "ahpd"}, {"version", AHPD_VERSION}}},
                      {"capabilities", json::object{}}};
  if (!subscriptions.empty())
    params["initialSubscriptions"] = json::value_from(subscriptions);
  request("initialize", std::move(params));
}

void hub_link::send(std::string text) {
  if (!socket_ || lost_)
    throw connection_lost{lost_.value_or("it is not open yet")};
  socket_->send(std::make_shared<const std::string>(std::move(text)));
}

json::value hub_link::request(const std::string& method, json::object params,
                              std::chrono::seconds limit) {
  awaited_ = ++last_id_;
  answer_.reset();
  send(jsonrpc::request_frame(awaited_, method, params));
  run_until([this] { return answer_.has_value(); }, limit);
  if (const auto* error = json::member(*answer_, "error")) {
    const auto* code = json::member(*error, "code");
    throw hub_refusal{code && code->is_int64() ? static_cast<int>(code->get_int64()) : 0,
                      std::string(json::string_member(*error, "message").value_or("no reason"))};
  }
  const auto* result = json::member(*answer_, "result");
  return result ? *result : json::value();
}

json::value hub_link::subscribe(const std::string& channel, json::object more) {
  more["channel"] = channel;
  auto result = request("subscribe", std::move(more));
  const auto* snapshot = json::member(result, "snapshot");
  if (!snapshot || !json::member(*snapshot, "state"))
    throw client_failure{exit_refused, "the hub gave no state of " + channel, ""};
  return *snapshot;
}

std::int64_t hub_link::dispatch(const std::string& channel, json::object action) {
  const json::object params{
    {"channel", channel}, {"clientSeq", ++last_seq_}, {"action", std::move(action)}};
  send(jsonrpc::notification_frame("dispatchAction", params));
  return last_seq_;
}

void hub_link::run_until(const std::function<bool()>& done, std::chrono::seconds limit) {
  const auto late = std::make_shared<bool>(false); // the timer's handler may outlive this call
  boost::asio::steady_timer timer(io_);
  if (limit != no_limit) {
    timer.expires_after(limit);
    timer.async_wait([late](boost::system::error_code ec) { *late = !ec; });
  }
  while (!done()) {
    if (lost_)
      throw connection_lost{*lost_};
    if (*late)
      throw client_failure{exit_refused,
                           "the hub did not answer within " + std::to_string(limit.count()) + " s",
                           "See `ahpd status` and the hub's log."};
    io_.restart();
    if (io_.run_one() == 0 && !done())
      throw connection_lost{"the connection is closed"};
  }
}

void hub_link::take(const std::string& text) {
  socket_->grant(1);
  std::string why;
  const auto frame = json::parse_text(text, frame_depth, why);
  if (!frame)
    throw client_failure{exit_refused, "the hub sent what is not JSON: " + why, ""};
  const auto* id = json::member(*frame, "id");
  const auto method = json::string_member(*frame, "method");
  if (!method) {
    if (id && id->is_int64() && id->get_int64() == awaited_)
      answer_ = *frame;
  } else if (id) {
    send(jsonrpc::error_frame(*id, {jsonrpc::method_not_found, "this client serves nothing", {}}));
  } else if (const auto* params = json::member(*frame, "params"); params && on_notification) {
    on_notification(*method, *params);
  }
}

} // namespace ahpd::client
