#include "tests/support/ahp_peer.hpp"

#include "protocol/jsonrpc/message.hpp"
#include "protocol/transport/client.hpp"

#include <doctest/doctest.h>

#include <boost/asio/io_context.hpp>

#include <regex>

namespace ahpd::tests {

namespace {

constexpr const char* root = "ahp-root://";

struct address {
  transport::target where;
  std::string path = "/";
};

address parse_url(const std::string& url) {
  static const std::regex shape(R"(^ws://(\[[^\]]+\]|[^:/]+):(\d+)(/.*)?$)");
  std::smatch m;
  REQUIRE_MESSAGE(std::regex_match(url, m, shape), url << " is ws://host:port[/path]");
  address out;
  out.where.host = m[1];
  out.where.port = static_cast<std::uint16_t>(std::stoul(m[2]));
  if (m[3].matched)
    out.path = m[3];
  return out;
}

transport::http_request upgrade_of(const address& to, const peer_options& how) {
  transport::http_request out;
  out.target = to.path;
  out.headers = how.headers;
  if (!how.token.empty())
    out.headers["Authorization"] = "Bearer " + how.token;
  return out;
}

/// The last frames, for a failure's text.
std::string tail(const std::vector<json::value>& frames) {
  std::string out;
  for (std::size_t i = frames.size() > 12 ? frames.size() - 12 : 0; i < frames.size(); ++i)
    out += "\n  " + json::serialize(frames[i]).substr(0, 400);
  return out.empty() ? "\n  (none)" : out;
}

bool is_action(const json::value& frame, const std::string& type, const std::string& channel) {
  if (json::string_member(frame, "method") != "action")
    return false;
  const auto* params = json::member(frame, "params");
  const auto* action = params ? json::member(*params, "action") : nullptr;
  return action && (type.empty() || json::string_member(*action, "type") == type) &&
         (channel.empty() || json::string_member(*params, "channel") == channel);
}

} // namespace

struct ahp_peer::link {
  boost::asio::io_context io;
  std::shared_ptr<transport::websocket> socket;
  std::optional<transport::http_response> refusal;

  void dial(const std::string& url, const peer_options& how,
            std::function<transport::websocket_events()> events) {
    const auto to = parse_url(url);
    transport::dial_websocket(
      io, to.where, upgrade_of(to, how), how.bounds,
      [this, events = std::move(events)](std::shared_ptr<transport::websocket> open) {
        socket = std::move(open);
        return events();
      },
      [this](transport::http_response why) { refusal = std::move(why); });
  }

  /// Runs handlers until `done`, or gives false at the limit.
  bool run(std::chrono::milliseconds limit, const std::function<bool()>& done) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!done()) {
      if (std::chrono::steady_clock::now() >= until)
        return false;
      io.restart();
      if (io.run_one_until(until) == 0 && io.stopped() && !done())
        return false; // nothing is left that could still happen
    }
    return true;
  }
};

ahp_peer::ahp_peer(const std::string& url, peer_options how)
    : how_(std::move(how)), link_(std::make_unique<link>()) {
  link_->dial(url, how_, [this] {
    transport::websocket_events events;
    events.on_text = [this](std::string text) { take(std::move(text)); };
    events.on_closed = [this](transport::close_reason why) { closed_ = std::move(why); };
    return events;
  });
  link_->run(how_.limit, [this] { return link_->socket || link_->refusal; });
  if (link_->refusal)
    FAIL(url << " refused the connection: " << link_->refusal->status << " "
             << link_->refusal->body);
  REQUIRE_MESSAGE(link_->socket, url << " opens a WebSocket in time");
}

ahp_peer::~ahp_peer() {
  if (!link_->socket || closed_)
    return;
  link_->socket->close(1000, "");
  link_->run(std::chrono::seconds(5), [this] { return closed_.has_value(); });
}

transport::http_response ahp_peer::refused(const std::string& url, peer_options how) {
  link dialled;
  dialled.dial(url, how, [] {
    return transport::websocket_events{[](std::string) {}, {}, [](auto) {}};
  });
  dialled.run(how.limit, [&] { return dialled.socket || dialled.refusal; });
  if (dialled.socket)
    FAIL(url << " opened a WebSocket, and a refusal was expected");
  REQUIRE_MESSAGE(dialled.refusal, url << " answers in time");
  return *dialled.refusal;
}

void ahp_peer::take(std::string text) {
  std::string why;
  auto frame = json::parse_text(text, 128, why);
  REQUIRE_MESSAGE(frame, "a frame of the host is JSON: " << why << ": " << text);
  link_->socket->grant(1);
  const auto method = json::string_member(*frame, "method");
  const auto* id = json::member(*frame, "id");
  if (method && id) {
    const auto* params = json::member(*frame, "params");
    const json::object none;
    const auto& given = params && params->is_object() ? params->get_object() : none;
    link_->socket->send(std::make_shared<const std::string>(
      on_request ? jsonrpc::result_frame(*id, on_request(std::string(*method), given))
                 : jsonrpc::error_frame(*id, {jsonrpc::method_not_found, "no handler here", {}})));
  }
  frames_.push_back(std::move(*frame));
}

void ahp_peer::run_until(const std::string& what, const std::function<bool()>& done) {
  const bool reached = link_->run(how_.limit, [&] { return done() || closed_; });
  if (done())
    return;
  if (closed_)
    FAIL("the host closed with " << closed_->code << " '" << closed_->text << "' before " << what
                                 << "; last frames:" << tail(frames_));
  FAIL(what << " did not come in time (" << (reached ? "ended" : "limit")
            << "); last frames:" << tail(frames_));
}

void ahp_peer::send_text(std::string text) {
  link_->socket->send(std::make_shared<const std::string>(std::move(text)));
}

std::int64_t ahp_peer::begin(const std::string& method, json::object params) {
  if (!params.contains("channel"))
    params["channel"] = root;
  send_text(jsonrpc::request_frame(++last_id_, method, params));
  return last_id_;
}

json::value ahp_peer::answer(std::int64_t id) {
  std::size_t seen = 0;
  const json::value* found = nullptr;
  run_until("the answer to request " + std::to_string(id), [&] {
    for (; !found && seen < frames_.size(); ++seen) {
      const auto* got = json::member(frames_[seen], "id");
      if (!json::member(frames_[seen], "method") && got && got->is_int64() &&
          got->get_int64() == id)
        found = &frames_[seen];
    }
    return found != nullptr;
  });
  return *found;
}

json::value ahp_peer::request(const std::string& method, json::object params) {
  auto frame = answer(begin(method, std::move(params)));
  if (const auto* error = json::member(frame, "error"))
    FAIL(method << " was refused: " << json::serialize(*error));
  REQUIRE(frame.get_object().contains("result"));
  return frame.get_object().at("result");
}

json::value ahp_peer::request_error(const std::string& method, json::object params) {
  auto frame = answer(begin(method, std::move(params)));
  const auto* error = json::member(frame, "error");
  if (!error)
    FAIL(method << " answered where a refusal was expected: " << json::serialize(frame));
  return *error;
}

json::value ahp_peer::initialize(const std::vector<std::string>& subscriptions) {
  json::object params{{"protocolVersions", json::value_from(how_.versions)},
                      {"clientId", how_.client_id},
                      {"clientInfo", {{"name", "ahpd-tests"}, {"version", "1"}}},
                      {"capabilities", json::object{}}};
  if (!subscriptions.empty())
    params["initialSubscriptions"] = json::value_from(subscriptions);
  return request("initialize", std::move(params));
}

json::value ahp_peer::reconnect(std::int64_t last_seen,
                                const std::vector<std::string>& subscriptions) {
  return request("reconnect", {{"clientId", how_.client_id},
                               {"lastSeenServerSeq", last_seen},
                               {"subscriptions", json::value_from(subscriptions)}});
}

json::value ahp_peer::subscribe(const std::string& channel) {
  auto result = request("subscribe", {{"channel", channel}});
  const auto* snapshot = json::member(result, "snapshot");
  const auto* state = snapshot ? json::member(*snapshot, "state") : nullptr;
  REQUIRE_MESSAGE(state, channel << " gives a snapshot: " << json::serialize(result));
  return *state;
}

void ahp_peer::notify(const std::string& method, json::object params) {
  if (!params.contains("channel"))
    params["channel"] = root;
  send_text(jsonrpc::notification_frame(method, params));
}

std::int64_t ahp_peer::dispatch(const std::string& channel, json::object action) {
  notify("dispatchAction",
         {{"channel", channel}, {"clientSeq", ++last_seq_}, {"action", std::move(action)}});
  return last_seq_;
}

json::value ahp_peer::wait_for(const std::string& what, const test& wanted) {
  std::optional<std::size_t> found;
  run_until(what, [&] {
    while (!found && next_ < frames_.size()) {
      if (wanted(frames_[next_]))
        found = next_;
      ++next_;
    }
    return found.has_value();
  });
  return frames_[*found];
}

json::value ahp_peer::wait_notification(const std::string& method, const test& wanted) {
  auto frame = wait_for(method, [&](const json::value& f) {
    const auto* params = json::member(f, "params");
    return json::string_member(f, "method") == method && params && (!wanted || wanted(*params));
  });
  return *json::member(frame, "params");
}

json::value ahp_peer::wait_action(const std::string& type, const std::string& channel,
                                  const test& wanted) {
  auto frame = wait_for("the action " + type, [&](const json::value& f) {
    return is_action(f, type, channel) && (!wanted || wanted(*json::member(f, "params")));
  });
  return *json::member(frame, "params");
}

std::vector<json::value> ahp_peer::actions(const std::string& type,
                                           const std::string& channel) const {
  std::vector<json::value> out;
  for (const auto& frame : frames_)
    if (is_action(frame, type, channel))
      out.push_back(*json::member(frame, "params"));
  return out;
}

transport::close_reason ahp_peer::wait_closed() {
  run_until("the end of the connection", [this] { return closed_.has_value(); });
  return *closed_;
}

void ahp_peer::poll() {
  link_->io.restart();
  link_->io.poll();
}

void ahp_peer::close() {
  link_->socket->close(1000, "");
  wait_closed();
}

} // namespace ahpd::tests
