#include "actors/hub/handshake.hpp"

#include "actors/hub/catalogue.hpp"
#include "actors/hub/command_turn.hpp"
#include "actors/hub/completions.hpp"
#include "actors/hub/metrics_exporter.hpp"
#include "actors/hub/root_config.hpp"
#include "actors/hub/session.hpp"
#include "actors/hub/sessions.hpp"
#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/file_uri.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/jsonrpc/params.hpp"

namespace ahpd::hub {

namespace {

constexpr std::size_t longest_client_id = 256;
constexpr std::size_t most_versions = 64;

/// More than this is not replayed: snapshots are shorter, or the client is one that cannot keep up.
constexpr std::size_t most_replayed = 4u << 20;

/// Snapshots that so much overtook that they cannot be brought to one number are taken again.
constexpr int most_tries = 3;

/// The strings of an array, or a problem that names it.
std::vector<std::string> texts(const json::array* list, std::string_view name, std::size_t most,
                               std::string& problem) {
  std::vector<std::string> out;
  if (!list && problem.empty())
    problem = std::string(name) + " must be an array of strings";
  if (list && list->size() > most && problem.empty())
    problem = std::string(name) + " must hold at most " + std::to_string(most) + " strings";
  for (const auto& item : list ? *list : json::array{}) {
    if (item.is_string())
      out.emplace_back(item.get_string());
    else if (problem.empty())
      problem = std::string(name) + " must be an array of strings";
  }
  return out;
}

std::string checked_client_id(jsonrpc::params& in, std::string& problem) {
  auto id = in.text("clientId");
  if (problem.empty())
    problem = in.problem();
  if (problem.empty() && id.size() > longest_client_id)
    problem = "clientId must have at most " + std::to_string(longest_client_id) + " bytes";
  return id;
}

// ---- snapshots of several channels --------------------------------------------------------------

/// Snapshots that are being taken, one channel after the other. No other frame of the connection is
/// read meanwhile.
struct snapshots {
  call c;
  std::uint64_t slot = 0;
  std::vector<std::string> wanted;
  std::vector<std::string> uris; ///< of `shots`
  std::vector<core::followed> shots;
  int tries = 0;
  /// Called with the number that all are true at, and `Snapshot[]` as JSON text.
  std::function<void(std::uint64_t, const std::string&)> done;
};

void take_snapshot(const std::shared_ptr<snapshots>& s, std::size_t i);

void finish(const std::shared_ptr<snapshots>& s) {
  auto& st = s->c.self->state;
  const auto seq = st.host->order->settle(*st.box, s->shots);
  if (!seq) {
    if (++s->tries == most_tries)
      return s->c.refuse_in(s->slot,
                            jsonrpc::error{jsonrpc::internal_error,
                                           "The channels change too fast to be followed at once; "
                                           "subscribe to them one by one",
                                           nullptr});
    s->uris.clear();
    s->shots.clear();
    return take_snapshot(s, 0);
  }
  std::string text;
  for (std::size_t i = 0; i < s->shots.size(); ++i)
    text += (i > 0 ? "," : "") + snapshot_text(st, s->uris[i], s->shots[i]);
  s->done(*seq, "[" + text + "]");
}

void take_snapshot(const std::shared_ptr<snapshots>& s, std::size_t i) {
  if (i == s->wanted.size())
    return finish(s);
  const auto& uri = s->wanted[i];
  if (const auto telemetry = ahp::find_telemetry(uri)) {
    follow_telemetry(s->c.self, uri, *telemetry);
    return take_snapshot(s, i + 1);
  }
  // A channel that is not there is left out: for the client it is gone.
  const auto missing = [s, i](const caf::error&) { take_snapshot(s, i + 1); };
  with_owner(
    s->c.self, uri,
    [=](const caf::actor& owner, const std::string&) {
      auto* self = s->c.self;
      self->request(owner, caf::infinite, core::follow{uri, self->state.box, {}, 0})
        .await(
          [=](const core::followed& shot) {
            s->c.self->state.subscriptions[uri] = owner;
            s->uris.push_back(uri);
            s->shots.push_back(shot);
            take_snapshot(s, i + 1);
          },
          missing);
    },
    missing);
}

void answer_initialize(const call& c, std::uint64_t slot, const std::string& version,
                       std::uint64_t seq, const std::string& snapshots) {
  const auto& host = *c.self->state.host;
  json::object result{{"protocolVersion", version},
                      {"serverSeq", seq},
                      {"serverInfo", {{"name", "ahpd"}, {"version", AHPD_VERSION}}},
                      {"defaultDirectory", ahp::file_uri(host.default_directory)},
                      {"terminalCommandPrefix", terminal_command_prefix},
                      {"telemetry", ahp::telemetry_capabilities()},
                      {"_meta", host_meta(host)}};
  if (host.files)
    result["completionTriggerCharacters"] = json::array{completion_trigger};
  auto text = json::serialize(ahp::adapt_result(c.self->state.box->speaks(), "initialize", result));
  text.pop_back();
  c.answer_in(slot, text + ",\"snapshots\":" + snapshots + "}");
}

// ---- reconnect ----------------------------------------------------------------------------------

/// A `reconnect` that is being answered: its channels are found one after the other.
struct returning {
  call c;
  std::uint64_t slot = 0;
  std::uint64_t last_seen = 0;
  std::vector<std::string> wanted;
  std::vector<std::pair<std::string, std::shared_ptr<core::channel>>> channels;
  std::vector<caf::actor> owners; ///< of those
  json::array missing;
};

void append_envelope(std::string& list, std::string_view action, const core::missed& what) {
  list += (list.empty() ? "" : ",") +
          ahp::build::action_envelope(what.spelling, action, what.seq, what.from);
}

/// Missed actions as `speaks` has them: ActionEnvelopes in JSON text, with commas between them.
std::string envelopes(ahp::dialect speaks, const std::vector<core::missed>& actions) {
  std::string list;
  for (const auto& what : actions) {
    if (speaks == ahp::dialect::v1_0) {
      append_envelope(list, *what.action, what);
      continue;
    }
    const auto action = std::make_shared<const json::value>(json::parse(*what.action));
    for (const auto& adapted : ahp::adapt_action(speaks, action, nullptr))
      append_envelope(list, json::serialize(*adapted), what);
  }
  return list;
}

void tell_settled(const call& c) {
  auto& st = c.self->state;
  c.self->send(st.host->sessions->get(), client_settled{st.box->client_id()});
}

void answer_replay(const std::shared_ptr<returning>& r, const std::vector<core::missed>& actions) {
  auto& st = r->c.self->state;
  for (std::size_t i = 0; i < r->channels.size(); ++i)
    st.subscriptions[r->channels[i].first] = r->owners[i];
  tell_settled(r->c);
  r->c.answer_in(r->slot, R"({"type":"replay","actions":[)" + envelopes(st.box->speaks(), actions) +
                            R"(],"missing":)" + json::serialize(r->missing) + "}");
}

void answer_snapshots(const std::shared_ptr<returning>& r) {
  auto s = std::make_shared<snapshots>();
  s->c = r->c;
  s->slot = r->slot;
  for (const auto& [uri, where] : r->channels)
    s->wanted.push_back(uri);
  s->done = [r](std::uint64_t, const std::string& list) {
    tell_settled(r->c);
    r->c.answer_in(r->slot, R"({"type":"snapshot","snapshots":)" + list + "}");
  };
  take_snapshot(s, 0);
}

void find_channel(const std::shared_ptr<returning>& r, std::size_t i) {
  auto& st = r->c.self->state;
  if (i == r->wanted.size()) {
    const auto actions = st.host->order->resume(r->channels, st.box, r->last_seen, most_replayed);
    return actions ? answer_replay(r, *actions) : answer_snapshots(r);
  }
  const auto& uri = r->wanted[i];
  if (const auto telemetry = ahp::find_telemetry(uri)) {
    follow_telemetry(r->c.self, uri, *telemetry);
    return find_channel(r, i + 1);
  }
  const auto missing = [r, i, uri](const caf::error&) {
    r->missing.emplace_back(uri);
    find_channel(r, i + 1);
  };
  with_owner(
    r->c.self, uri,
    [=](const caf::actor& owner, const std::string& ours) {
      const auto channel = r->c.self->state.host->channels.find(ours);
      if (!channel)
        return missing({});
      r->channels.emplace_back(uri, channel);
      r->owners.push_back(owner);
      find_channel(r, i + 1);
    },
    missing);
}

} // namespace

void follow_telemetry(connection_ptr self, const std::string& uri,
                      const ahp::telemetry_channel& what) {
  auto& st = self->state;
  st.subscriptions[uri] = {};
  st.host->telemetry.follow(what, st.box, uri);
  if (what.signal == ahp::signal::metrics)
    self->send(st.host->exporter->get(), metrics_wanted{});
}

std::string snapshot_text(const connection_state& st, const std::string& uri,
                          const core::followed& shot) {
  if (shot.kind == ahp::channel_kind::root)
    shot.state->at("config").as_object()["values"] = root_config_values(st);
  const auto speaks = st.box->speaks();
  return "{\"resource\":" + json::serialize(json::string(uri)) + ",\"state\":" +
         json::serialize(ahp::adapt_state(speaks, shot.kind, std::move(*shot.state))) +
         ",\"fromSeq\":" + std::to_string(shot.from_seq) + "}";
}

void initialize(const call& c) {
  auto& st = c.self->state;
  if (st.initialized)
    return c.refuse(jsonrpc::invalid_request, "This connection is initialized already");
  jsonrpc::params in(c.params);
  const auto* versions = in.array_if("protocolVersions");
  const auto* wanted = in.array_if("initialSubscriptions");
  in.object_if("clientInfo");
  in.object_if("capabilities");
  in.text_if("locale");
  std::string problem;
  const auto client = checked_client_id(in, problem);
  const auto offered = texts(versions, "protocolVersions", most_versions, problem);
  const json::array none;
  auto s = std::make_shared<snapshots>();
  s->wanted = texts(wanted ? wanted : &none, "initialSubscriptions", most_subscriptions, problem);
  if (!problem.empty())
    return c.refuse(jsonrpc::invalid_params, problem);
  const auto chosen = ahp::negotiate(offered);
  if (!chosen) {
    c.refuse(ahp::unsupported_protocol_version, "No protocol version in common",
             {{"supportedVersions", ahp::supported_versions()}});
    return st.box->close(1000, "no protocol version in common");
  }
  st.initialized = true;
  st.box->introduce(client, chosen->speaks);
  // What it configured before counts again if it goes on with `reconnect`.
  auto memory = st.host->clients.find(client).value_or(core::client_memory{});
  memory.speaks = chosen->speaks;
  st.host->clients.remember(client, std::move(memory));
  s->c = c;
  s->slot = st.box->reserve();
  s->done = [c, slot = s->slot, version = chosen->version](std::uint64_t seq,
                                                           const std::string& list) {
    answer_initialize(c, slot, version, seq, list);
  };
  take_snapshot(s, 0);
}

void reconnect(const call& c) {
  auto& st = c.self->state;
  jsonrpc::params in(c.params);
  const auto* wanted = in.array_if("subscriptions");
  auto r = std::make_shared<returning>();
  const auto seen = in.count_if("lastSeenServerSeq");
  std::string problem;
  const auto client = checked_client_id(in, problem);
  if (problem.empty() && !seen)
    problem = "lastSeenServerSeq must be a number";
  r->wanted = texts(wanted, "subscriptions", most_subscriptions, problem);
  if (!problem.empty())
    return c.refuse(jsonrpc::invalid_params, problem);
  if (st.initialized && (client != st.box->client_id() || !st.subscriptions.empty()))
    return c.refuse(jsonrpc::invalid_request,
                    "reconnect comes first on a connection, or right behind initialize");
  const auto memory = st.host->clients.find(client);
  if (!st.initialized) {
    if (!memory)
      return c.refuse(ahp::not_found,
                      "This host does not know the client " + client + " any more; initialize");
    st.initialized = true;
    st.box->introduce(client, memory->speaks);
    st.host->clients.remember(client, *memory);
  }
  if (memory)
    st.default_shell = memory->default_shell;
  r->c = c;
  r->slot = st.box->reserve();
  r->last_seen = *seen;
  find_channel(r, 0);
}

} // namespace ahpd::hub
