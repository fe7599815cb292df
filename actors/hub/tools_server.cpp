#include "actors/hub/tools_server.hpp"

#include "actors/core/errors.hpp"
#include "actors/hub/door.hpp"
#include "actors/hub/services.hpp"
#include "protocol/mcp/server.hpp"
#include "protocol/mcp/tools.hpp"
#include "protocol/random.hpp"

#include <caf/all.hpp>

#include <algorithm>

namespace ahpd::hub {

namespace {

constexpr std::size_t most_calls = 16;  ///< that run at once
constexpr std::size_t most_streams = 8; ///< a further one ends the oldest

using reply = tools_directory::reply;

struct tools_request {
  transport::http_request what;
  reply answer;
};

/// An event stream began, or its peer is gone.
struct stream_began {
  std::shared_ptr<std::unique_ptr<transport::body_stream>> to;
  std::uint64_t id = 0;
};
struct stream_lost {
  std::uint64_t id = 0;
};

} // namespace

} // namespace ahpd::hub

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::tools_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::stream_began)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::stream_lost)

namespace ahpd::hub {

namespace {

transport::http_response over_http(mcp::answer what) {
  transport::http_response out{what.status, {}, std::move(what.body)};
  if (!out.body.empty())
    out.headers["Content-Type"] = "application/json";
  if (what.status == 401)
    out.headers["WWW-Authenticate"] = "Bearer";
  if (what.status == 405)
    out.headers["Allow"] = "GET, POST";
  return out;
}

std::string field(const transport::http_request& of, std::string_view name) {
  const auto found = of.headers.find(name);
  return found == of.headers.end() ? std::string() : found->second;
}

struct server_state {
  static inline const char* name = "tools server";

  std::shared_ptr<services> host;
  std::string id;
  caf::actor chat;
  tool_list tools;
  bool unsaid = false; ///< the list is not what was listed last
  std::map<std::uint64_t, std::unique_ptr<transport::body_stream>> streams;
  std::uint64_t last_stream = 0;
  std::multimap<std::string, std::string> calls; ///< that run: the request's id, the call's

  server_state() = default;
  server_state(const server_state&) = delete;
  server_state& operator=(const server_state&) = delete;
  ~server_state() {
    if (host)
      host->tools.remove(id);
  }
};

using self_ptr = caf::stateful_actor<server_state>*;

mcp::answer list(self_ptr self, const mcp::list_tools& what) {
  auto& st = self->state;
  st.unsaid = false;
  json::array shapes;
  for (const auto& tool : *st.tools)
    shapes.emplace_back(tool.shape);
  return mcp::listed(what.id, std::move(shapes));
}

void call(self_ptr self, mcp::call_tool what, const reply& answer) {
  auto& st = self->state;
  const auto tool = std::find_if(st.tools->begin(), st.tools->end(),
                                 [&](const auto& t) { return t.name == what.name; });
  if (tool == st.tools->end())
    return answer(over_http(mcp::no_tool(what.id, what.name)));
  if (st.calls.size() == most_calls)
    return answer(over_http(mcp::called(
      what.id, mcp::failure("There are already " + std::to_string(most_calls) +
                            " calls under way, which is the most this tools server will have"))));
  const auto running = st.calls.emplace(json::serialize(what.id), "tool:" + random_hex(8));
  const auto done = [self, running, answer, id = what.id](const json::object& result) {
    self->state.calls.erase(running);
    answer(over_http(mcp::called(id, result)));
  };
  self
    ->request(st.chat, caf::infinite,
              call_offered_tool{running->second, *tool, std::move(what.arguments)})
    .then([done](const tool_answer& got) { done(mcp::result(*got.result)); },
          [done](const caf::error& why) { done(mcp::failure(core::to_wire(why).message)); });
}

/// Ids count for each client of its own, so one that two running calls have names neither.
void cancel(self_ptr self, const mcp::cancel_request& what) {
  const auto named = json::serialize(what.id);
  if (self->state.calls.count(named) == 1)
    self->send(self->state.chat, give_up_call{self->state.calls.find(named)->second});
}

transport::http_response event_stream(self_ptr self) {
  const auto id = ++self->state.last_stream;
  transport::http_response out{
    200, {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}}, {}};
  out.goes_on = [to = caf::actor_cast<caf::actor>(self),
                 id](std::unique_ptr<transport::body_stream> body) {
    caf::anon_send(
      to,
      stream_began{std::make_shared<std::unique_ptr<transport::body_stream>>(std::move(body)), id});
    return [to, id] { caf::anon_send(to, stream_lost{id}); };
  };
  return out;
}

void serve(self_ptr self, const tools_request& asked) {
  const auto accept = field(asked.what, "Accept");
  const auto version = field(asked.what, "MCP-Protocol-Version");
  auto what = mcp::read({asked.what.method, accept, version, asked.what.body}, AHPD_VERSION);
  if (auto* now = std::get_if<mcp::answer>(&what))
    return asked.answer(over_http(std::move(*now)));
  if (const auto* wanted = std::get_if<mcp::list_tools>(&what))
    return asked.answer(over_http(list(self, *wanted)));
  if (auto* wanted = std::get_if<mcp::call_tool>(&what))
    return call(self, std::move(*wanted), asked.answer);
  if (const auto* wanted = std::get_if<mcp::cancel_request>(&what)) {
    cancel(self, *wanted);
    return asked.answer(over_http({202, {}}));
  }
  asked.answer(event_stream(self));
}

void begin_stream(self_ptr self, const stream_began& what) {
  auto& st = self->state;
  auto& streams = st.streams;
  if (streams.size() == most_streams)
    streams.erase(streams.begin());
  auto& body = streams[what.id] = std::move(*what.to);
  // What changed since the list was read would have been told on a stream that was open.
  if (st.unsaid)
    body->send(mcp::list_changed_event());
}

void change(self_ptr self, const session_tools& now) {
  auto& st = self->state;
  if (*now.tools == *st.tools)
    return;
  st.tools = now.tools;
  st.unsaid = true;
  for (const auto& [id, body] : st.streams)
    body->send(mcp::list_changed_event());
}

caf::behavior tools_server(self_ptr self, std::shared_ptr<services> host, const std::string& id,
                           const caf::actor& chat, tool_list tools) {
  auto& st = self->state;
  st.host = std::move(host);
  st.id = id;
  st.chat = chat;
  st.tools = std::move(tools);
  return {
    [self](const tools_request& what) { serve(self, what); },
    [self](const session_tools& now) { change(self, now); },
    [self](const stream_began& what) { begin_stream(self, what); },
    [self](const stream_lost& what) { self->state.streams.erase(what.id); },
  };
}

bool is_wildcard(const std::string& host) {
  return host == "0.0.0.0" || host == "::" || host == "*";
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::string authority(const std::string& host, std::uint16_t port) {
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" +
         std::to_string(port);
}

} // namespace

void tools_directory::listens_at(const std::string& host, std::uint16_t port) {
  std::lock_guard lock(guard_);
  host_ = host;
  port_ = port;
}

std::string tools_directory::listener() const {
  std::lock_guard lock(guard_);
  return port_ == 0 ? std::string() : authority(host_, port_);
}

std::optional<std::string> tools_directory::origin(bool from_machine) const {
  std::lock_guard lock(guard_);
  if (port_ == 0 || (from_machine && (is_wildcard(host_) || is_loopback(host_))))
    return std::nullopt;
  const auto host = !is_wildcard(host_) ? host_ : host_ == "::" ? "::1" : "127.0.0.1";
  return "http://" + authority(host, port_);
}

void tools_directory::serve(transport::http_request what, reply answer) const {
  const auto path = what.target.substr(0, what.target.find('?'));
  entry found;
  {
    std::lock_guard lock(guard_);
    const auto at = entries_.find(path.substr(std::min(prefix.size(), path.size())));
    if (at != entries_.end())
      found = at->second;
  }
  if (!found.server)
    return answer(over_http(mcp::no_server(path)));
  if (!bears(what, found.token))
    return answer(over_http(mcp::wrong_token()));
  caf::anon_send(found.server, tools_request{std::move(what), std::move(answer)});
}

void tools_directory::add(const std::string& id, const std::string& token,
                          const caf::actor& server) {
  std::lock_guard lock(guard_);
  entries_[id] = {token, server};
}

void tools_directory::remove(const std::string& id) {
  entry gone; // outside the lock
  std::lock_guard lock(guard_);
  if (const auto at = entries_.find(id); at != entries_.end()) {
    std::swap(gone, at->second);
    entries_.erase(at);
  }
}

tools_endpoint::~tools_endpoint() {
  if (server)
    caf::anon_send_exit(server, caf::exit_reason::user_shutdown);
}

std::unique_ptr<tools_endpoint> open_tools_server(caf::actor_system& system,
                                                  const std::shared_ptr<services>& host,
                                                  const caf::actor& chat, const std::string& origin,
                                                  tool_list tools) {
  auto out = std::make_unique<tools_endpoint>();
  const auto id = new_uuid();
  out->token = random_hex(32);
  out->url = origin + std::string(tools_directory::prefix) + id;
  out->server =
    caf::actor_cast<caf::actor>(system.spawn(tools_server, host, id, chat, std::move(tools)));
  host->tools.add(id, out->token, out->server);
  return out;
}

} // namespace ahpd::hub
