#include "actors/hub/connection.hpp"

#include "actors/core/clock.hpp"
#include "actors/core/log.hpp"
#include "actors/core/run_here.hpp"
#include "actors/hub/call.hpp"
#include "actors/hub/catalogue.hpp"
#include "actors/hub/handshake.hpp"
#include "actors/hub/methods.hpp"
#include "actors/hub/root_config.hpp"
#include "actors/hub/sessions.hpp"
#include "protocol/ahp/changesets.hpp"
#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/file_uri.hpp"
#include "protocol/ahp/request_members.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/ahp/versions.hpp"
#include "protocol/jsonrpc/params.hpp"

namespace ahpd::hub {

namespace {

constexpr std::size_t most_calls = 64; ///< under way; further frames stay in the socket

/// Lets the socket read on, or remembers to when a call is over.
void grant(connection_ptr self) {
  auto& st = self->state;
  if (st.asked >= most_calls) {
    ++st.owed;
    return;
  }
  if (auto socket = st.socket.lock())
    socket->grant(1);
}

// ---- subscriptions ------------------------------------------------------------------------------

void subscribe(const call& c) {
  auto& st = c.self->state;
  jsonrpc::params in(c.params);
  const auto uri = in.text("channel");
  std::optional<std::uint64_t> turns;
  if (const auto* view = in.object_if("view"))
    turns = jsonrpc::params(*view).count_if("turns");
  if (st.subscriptions.size() >= most_subscriptions && !st.subscriptions.count(uri))
    return c.refuse(jsonrpc::invalid_params, "A connection holds at most " +
                                               std::to_string(most_subscriptions) +
                                               " subscriptions");
  if (const auto telemetry = ahp::find_telemetry(uri)) {
    c.answer(json::object{}); // first, for what follows is news of later
    return follow_telemetry(c.self, uri, *telemetry);
  }
  const auto slot = st.box->reserve();
  const auto failed = [c, slot](const caf::error& why) { c.refuse_in(slot, core::to_wire(why)); };
  with_owner(
    c.self, uri,
    [=](const caf::actor& owner, const std::string&) {
      c.self->request(owner, caf::infinite, core::follow{uri, c.self->state.box, turns, slot})
        .then(
          [=](const core::followed& shot) {
            auto& now = c.self->state;
            now.subscriptions[uri] = owner;
            c.answer_in(slot, "{\"snapshot\":" + snapshot_text(now, uri, shot) + "}");
          },
          failed);
    },
    failed);
}

void unsubscribe(connection_ptr self, const json::object& params) {
  auto& st = self->state;
  jsonrpc::params in(params);
  const auto i = st.subscriptions.find(in.text("channel"));
  if (i == st.subscriptions.end())
    return;
  if (i->second)
    self->send(i->second, core::unfollow{st.box, false, i->first});
  else
    st.host->telemetry.unfollow(*st.box, i->first);
  st.subscriptions.erase(i);
}

// ---- actions ------------------------------------------------------------------------------------

void dispatch_action(connection_ptr self, json::object params) {
  auto& st = self->state;
  params = ahp::accept_params(st.box->speaks(), "dispatchAction", std::move(params));
  jsonrpc::params in(params);
  const auto uri = in.text("channel");
  const auto seq = in.count_if("clientSeq");
  if (!in.problem().empty() || !seq)
    return core::log::debug("dispatchAction without a channel or clientSeq",
                            {{"client", st.box->client_id()}});
  const auto* action = params.if_contains("action");
  auto shared = std::make_shared<const json::value>(action ? *action : json::value(nullptr));
  const core::action_origin origin{st.box->client_id(), *seq, st.box, uri};
  const auto type = json::string_member(*shared, "type");
  if (!type)
    return st.host->order->refuse(*shared, origin, "action must be an object with a string type");
  if (!ahp::has_action(st.box->speaks(), *type))
    return st.host->order->refuse(*shared, origin,
                                  std::string(type->substr(0, 100)) +
                                    " came after the version that this connection speaks");
  if (uri == ahp::root_uri && *type == "root/configChanged")
    if (const auto why = change_root_config(st, *shared))
      return st.host->order->refuse(*shared, origin, *why);
  if (ahp::find_telemetry(uri))
    return st.host->order->refuse(*shared, origin, uri + " takes no actions");
  with_owner(
    self, uri,
    [self, uri, shared, origin](const caf::actor& owner, const std::string&) {
      self->send(owner, core::client_action{shared, origin});
    },
    [](const caf::error&) {
    }); // AHP "dispatchAction": an unknown channel is ignored, without an echo
}

// ---- frames -------------------------------------------------------------------------------------

/// What a method's row says before anything of it is read: known, served, in order, on its channel.
bool admitted(const call& c) {
  const auto* rule = find_method(c.method);
  if (!rule)
    return c.refuse(jsonrpc::method_not_found, "There is no method " + c.method.substr(0, 200)),
           false;
  if (rule->by == service::not_yet)
    return c.refuse(jsonrpc::method_not_found, std::string(rule->missing)), false;
  if (!c.self->state.initialized && rule->by != service::always)
    return c.refuse(jsonrpc::invalid_request,
                    "initialize comes first, and " + c.method + " came before it"),
           false;
  const auto* channel = c.params.if_contains("channel");
  const bool absent = !channel || channel->is_null();
  const bool text = channel && channel->is_string();
  if (rule->channel == channel_rule::root && !absent &&
      (!text || channel->get_string() != ahp::root_uri))
    return c.refuse(jsonrpc::invalid_params, "channel must be ahp-root:// for " + c.method), false;
  const bool named = rule->name.substr(0, 7) != "x-ahpd/"; // those name their machine by `name`
  if (rule->channel == channel_rule::any && named &&
      (!text || !ahp::plausible_uri(std::string_view(channel->get_string()))))
    return c.refuse(jsonrpc::invalid_params, "channel must be a URI of at most 2048 bytes"), false;
  if (const auto wrong = ahp::misshapen_member(c.method, c.params))
    return c.refuse(jsonrpc::invalid_params, *wrong), false;
  return true;
}

void on_request(connection_ptr self, jsonrpc::request&& r) {
  auto& st = self->state;
  ++st.asked;
  ++st.host->metrics.requests_total;
  auto params = ahp::accept_params(st.box->speaks(), r.method, std::move(r.params));
  const bool traced = st.host->telemetry.followed(ahp::signal::traces);
  const call c{self, std::move(r.id), std::move(r.method), std::move(params),
               traced ? core::now_ns() : 0};
  if (!admitted(c))
    return;
  if (c.method == "ping")
    return c.answer(nullptr);
  if (c.method == "initialize")
    return initialize(c);
  if (c.method == "reconnect")
    return reconnect(c);
  if (c.method == "subscribe")
    return subscribe(c);
  serve_request(c);
}

void on_frame(connection_ptr self, const std::string& text) {
  auto& st = self->state;
  ++st.host->metrics.frames_in_total;
  auto message = jsonrpc::parse(text);
  if (auto* request = std::get_if<jsonrpc::request>(&message))
    return on_request(self, std::move(*request));
  if (auto* bad = std::get_if<jsonrpc::malformed>(&message)) {
    ++st.host->metrics.errors_total;
    return st.box->push(
      std::make_shared<const std::string>(jsonrpc::error_frame(bad->id, bad->why)));
  }
  auto* told = std::get_if<jsonrpc::notification>(&message);
  if (!told || !st.initialized)
    return; // this host asks its clients nothing, so a response answers nothing
  if (told->method == "dispatchAction")
    dispatch_action(self, std::move(told->params));
  else if (told->method == "unsubscribe")
    unsubscribe(self, told->params);
}

} // namespace

connection_state::~connection_state() {
  if (!box)
    return;
  --host->metrics.connections;
  for (const auto& [uri, owner] : subscriptions)
    if (owner)
      caf::anon_send(owner, core::unfollow{box, true, uri});
    else
      host->telemetry.unfollow(*box, uri);
  box->close(1011, "the connection's actor ended");
}

void call::answer(const json::value& result) const {
  trace();
  const auto speaks = self->state.box->speaks();
  push(speaks == ahp::dialect::v1_0
         ? jsonrpc::result_frame(id, result)
         : jsonrpc::result_frame(id, ahp::adapt_result(speaks, method, result)));
}

void call::answer_text(const std::string& result) const {
  trace();
  push(R"({"jsonrpc":"2.0","id":)" + json::serialize(id) + ",\"result\":" + result + "}");
}

void call::refuse(const jsonrpc::error& why) const {
  ++self->state.host->metrics.errors_total;
  trace(why.code);
  push(jsonrpc::error_frame(id, why));
}

void call::answer_in(std::uint64_t slot, const std::string& result) const {
  trace();
  fill(slot, R"({"jsonrpc":"2.0","id":)" + json::serialize(id) + ",\"result\":" + result + "}");
}

void call::refuse_in(std::uint64_t slot, const jsonrpc::error& why) const {
  ++self->state.host->metrics.errors_total;
  trace(why.code);
  fill(slot, jsonrpc::error_frame(id, why));
}

void call::push(std::string frame) const {
  self->state.box->push(std::make_shared<const std::string>(std::move(frame)));
  over();
}

void call::fill(std::uint64_t slot, std::string frame) const {
  self->state.box->fill(slot, std::make_shared<const std::string>(std::move(frame)));
  over();
}

/// What was asked, and how long the answer took, for who follows the traces.
void call::trace(std::optional<int> error) const {
  if (began_ns == 0)
    return;
  otlp::span what{method,
                  began_ns,
                  core::now_ns(),
                  {{"rpc.system", "jsonrpc"},
                   {"rpc.method", method},
                   {"ahp.client.id", self->state.box->client_id()}}};
  if (const auto* uri = params.if_contains("channel"); uri && uri->is_string()) {
    what.attributes.emplace_back("ahp.channel", uri->get_string());
    if (auto session = ahp::session_id(std::string_view(uri->get_string())))
      what.attributes.emplace_back("ahp.session.id", std::move(*session));
  }
  if (error) {
    what.attributes.emplace_back("rpc.jsonrpc.error_code", std::to_string(*error));
    what.failed = true;
  }
  self->state.host->telemetry.export_span(std::move(what));
}

void call::over() const {
  auto& st = self->state;
  --st.asked;
  if (st.owed > 0 && st.asked < most_calls) {
    --st.owed;
    if (auto socket = st.socket.lock())
      socket->grant(1);
  }
}

void with_owner(connection_ptr self, const std::string& uri,
                std::function<void(const caf::actor&, const std::string&)> found,
                std::function<void(const caf::error&)> missing) {
  auto& st = self->state;
  if (const auto owner = st.host->channels.owner_of(uri))
    return found(owner, uri);
  if (ahp::is_telemetry(uri))
    return missing(core::refusal(ahp::not_found, ahp::unknown_telemetry(uri)));
  if (!ahp::session_id(uri) && ahp::scheme_of(uri) != "ahp-chat" && !ahp::parse_changeset_uri(uri))
    return missing(core::refusal(ahp::not_found, "There is no channel " + uri));
  self->request(st.host->sessions->get(), caf::infinite, open_channel{uri})
    .await([found](const opened& where) { found(where.owner, where.uri); }, missing);
}

caf::behavior connection_actor(caf::stateful_actor<connection_state>* self, services_ptr host,
                               std::shared_ptr<transport::websocket> socket) {
  auto& st = self->state;
  st.host = std::move(host);
  st.socket = socket;
  ++st.host->metrics.connections;
  const std::uint64_t number = ++st.host->metrics.connections_total;
  std::function<void(const std::string&)> tap;
  if (const auto wire = st.host->wire)
    tap = [wire, number](const std::string& frame) { wire->out(number, frame); };
  st.box = std::make_shared<core::outbox>(std::move(socket), std::move(tap));
  return {
    [self, number](const frame_in& frame) {
      if (const auto& wire = self->state.host->wire)
        wire->in(number, *frame.text);
      on_frame(self, *frame.text);
      grant(self);
    },
    [self](const socket_closed&) { self->quit(); },
    core::take_run_here(),
  };
}

} // namespace ahpd::hub
