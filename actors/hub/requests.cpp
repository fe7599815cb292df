#include "actors/hub/call.hpp"
#include "actors/hub/machines.hpp"
#include "actors/hub/session.hpp"
#include "actors/hub/session_config.hpp"
#include "actors/hub/sessions.hpp"
#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/shapes.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/jsonrpc/params.hpp"

namespace ahpd::hub {

namespace {

/// Asks an actor and answers the call with `result`, or with its refusal.
template <class Message>
void ask(const call& c, const caf::actor& whom, Message what, json::value result) {
  c.self->request(whom, caf::infinite, std::move(what))
    .then([c, result = std::move(result)]() { c.answer(result); },
          [c](const caf::error& why) { c.refuse(why); });
}

/// The same for an actor that gives the result itself.
template <class Message> void ask_json(const call& c, const caf::actor& whom, Message what) {
  c.self->request(whom, caf::infinite, std::move(what))
    .then([c](const json::shared& result) { c.answer(*result); },
          [c](const caf::error& why) { c.refuse(why); });
}

std::string channel_of(const call& c) {
  return std::string(c.params.at("channel").get_string());
}

// ---- sessions and chats -------------------------------------------------------------------------

void create_the_session(const call& c) {
  ask(c, c.self->state.host->sessions->get(),
      create_session{c.params, c.self->state.box->client_id()}, nullptr);
}

void list_the_sessions(const call& c) {
  jsonrpc::params in(c.params);
  const auto limit = in.count_if("limit");
  const auto cursor = in.text_if("cursor").value_or("");
  if (!in.problem().empty())
    return c.refuse(jsonrpc::invalid_params, in.problem());
  c.self->request(c.self->state.host->sessions->get(), caf::infinite, list_sessions{limit, cursor})
    .then(
      [c](const session_page& page) {
        json::object result{{"items", *page.items}};
        if (!page.next_cursor.empty())
          result["nextCursor"] = page.next_cursor;
        c.answer(result);
      },
      [c](const caf::error& why) { c.refuse(why); });
}

void create_the_chat(const call& c) {
  jsonrpc::params in(c.params);
  const auto uri = in.text("chat");
  const auto* message = in.object_if("initialMessage");
  const auto* source = in.object_if("source");
  if (!in.problem().empty())
    return c.refuse(jsonrpc::invalid_params, in.problem());
  if (source)
    return c.refuse(jsonrpc::invalid_params,
                    "source is not taken: this session's agent forks no chats");
  if (ahp::scheme_of(uri) != "ahp-chat" || !ahp::plausible_uri(uri))
    return c.refuse(jsonrpc::invalid_params, "chat must be an ahp-chat: URI");
  if (c.self->state.host->channels.find(uri))
    return c.refuse(ahp::already_exists, uri + " already exists");
  create_chat what{uri, nullptr, {c.self->state.box->client_id(), 0}};
  if (message) {
    json::object first = *message;
    if (!first.contains("origin"))
      first["origin"] = json::object{{"kind", "user"}};
    what.initial_message = std::make_shared<const json::value>(std::move(first));
    if (const auto why = ahp::shapes::check({c.method, "initialMessage"}, *what.initial_message,
                                            ahp::shapes::kind::user_message))
      return c.refuse(jsonrpc::invalid_params, *why);
  }
  with_owner(
    c.self, channel_of(c),
    [c, what](const caf::actor& owner, const std::string& session) {
      if (!ahp::session_id(session))
        return c.refuse(ahp::session_not_found, "No agent for session " + session);
      ask(c, owner, what, nullptr);
    },
    [c](const caf::error& why) { c.refuse(why); });
}

void dispose_the_chat(const call& c) {
  with_owner(
    c.self, channel_of(c),
    [c](const caf::actor& owner, const std::string& uri) {
      if (ahp::scheme_of(uri) != "ahp-chat")
        return c.refuse(jsonrpc::invalid_params, "channel must be a chat's URI");
      ask(c, owner, end_chat{}, nullptr);
    },
    [c](const caf::error& why) { c.refuse(why); });
}

void fetch_the_turns(const call& c) {
  jsonrpc::params in(c.params);
  const auto cursor = in.text_if("cursor").value_or("");
  if (!in.problem().empty())
    return c.refuse(jsonrpc::invalid_params, in.problem());
  with_owner(
    c.self, channel_of(c),
    [c, cursor](const caf::actor& owner, const std::string& uri) {
      if (ahp::scheme_of(uri) != "ahp-chat")
        return c.refuse(jsonrpc::invalid_params, "channel must be a chat's URI");
      ask(c, owner, fetch_turns{cursor}, json::object{});
    },
    [c](const caf::error& why) { c.refuse(why); });
}

void resolve_config(const call& c) {
  jsonrpc::params in(c.params);
  const auto provider = in.text_if("provider");
  const auto* config = in.object_if("config");
  if (!in.problem().empty())
    return c.refuse(jsonrpc::invalid_params, in.problem());
  const auto& host = *c.self->state.host;
  if (provider && !host.find_engine(*provider))
    return c.refuse(ahp::provider_not_found, "No provider called " + *provider);
  const auto schema = session_config_schema(host, provider.value_or(host.engines.front().provider));
  json::object values;
  for (const auto& [key, property] : schema.at("properties").get_object()) {
    const auto* given = config ? config->if_contains(key) : nullptr;
    if (given && given->is_string())
      values[key] = *given;
    else if (const auto* otherwise = json::member(property, "default"))
      values[key] = *otherwise;
  }
  c.answer({{"schema", schema}, {"values", std::move(values)}});
}

void complete_config(const call& c) {
  jsonrpc::params in(c.params);
  const auto property = in.text("property");
  const auto query = in.text_if("query").value_or("");
  const auto provider = in.text_if("provider").value_or("");
  if (!in.problem().empty())
    return c.refuse(jsonrpc::invalid_params, in.problem());
  if (property != "computer" || !c.self->state.host->computers)
    return c.answer({{"items", json::array{}}});
  // A picker that fails is an empty list, not an error (spec "Config and pickers").
  c.self
    ->request(c.self->state.host->machines->get(), caf::infinite, pick_computer{query, provider})
    .then(
      [c](const json::shared& rows) {
        c.answer({{"items", *rows}});
      },
      [c](const caf::error&) {
        c.answer({{"items", json::array{}}});
      });
}

// ---- resources ----------------------------------------------------------------------------------

/// The URI named `key`, of a scheme that somebody serves; else the call is refused.
std::optional<std::string> served_uri(const call& c, std::string_view key) {
  jsonrpc::params in(c.params);
  const auto uri = in.text(key);
  if (!in.problem().empty()) {
    c.refuse(jsonrpc::invalid_params, in.problem());
    return std::nullopt;
  }
  const auto scheme = ahp::scheme_of(uri);
  if (scheme.empty() || !ahp::plausible_uri(uri)) {
    c.refuse(jsonrpc::invalid_params, std::string(key) + " must be a URI with a scheme");
    return std::nullopt;
  }
  if (scheme != "computer" || !c.self->state.host->computers) {
    c.refuse(jsonrpc::method_not_found, "nothing here serves " + scheme + ":");
    return std::nullopt;
  }
  return uri;
}

std::string root_owner(const call& c) {
  return "root:" + c.self->state.host->host_name;
}

progress_sink sink_of(const call& c) {
  const auto* token = c.params.if_contains("progressToken");
  if (!token || token->is_null())
    return {};
  return {c.self->state.box, std::make_shared<const json::value>(*token)};
}

void read_resource(const call& c) {
  const auto uri = served_uri(c, "uri");
  if (!uri)
    return;
  jsonrpc::params in(c.params);
  const auto encoding = in.text_if("encoding").value_or("utf-8");
  if (encoding != "utf-8" && encoding != "base64")
    return c.refuse(jsonrpc::invalid_params, "encoding must be utf-8 or base64");
  c.self->request(c.self->state.host->machines->get(), caf::infinite, read_computer{*uri})
    .then(
      [c, encoding](const json::shared& result) {
        if (encoding == "utf-8")
          return c.answer(*result);
        auto copy = result->get_object();
        copy["data"] = ahp::base64_encode(std::string_view(copy.at("data").get_string()));
        copy["encoding"] = "base64";
        c.answer(copy);
      },
      [c](const caf::error& why) { c.refuse(why); });
}

void write_resource(const call& c) {
  const auto uri = served_uri(c, "uri");
  if (!uri)
    return;
  jsonrpc::params in(c.params);
  auto data = in.text_if("data");
  const auto encoding = in.text_if("encoding").value_or("utf-8");
  const auto mode = in.text_if("mode").value_or("truncate");
  in.flag_if("createOnly");
  std::string problem = in.problem();
  if (problem.empty() && !data)
    problem = "data must be a string";
  if (problem.empty() && encoding != "utf-8" && encoding != "base64")
    problem = "encoding must be utf-8 or base64";
  if (problem.empty() && mode != "truncate")
    problem = "mode must be truncate: a computer: resource is written whole";
  if (problem.empty() && encoding == "base64" && !(data = ahp::base64_decode(*data)))
    problem = "data must be base64, as encoding says";
  if (!problem.empty())
    return c.refuse(jsonrpc::invalid_params, problem);
  ask(c, c.self->state.host->machines->get(),
      write_computer{*uri, *data, root_owner(c), sink_of(c)}, json::object{});
}

void delete_resource(const call& c) {
  if (const auto uri = served_uri(c, "uri"))
    ask(c, c.self->state.host->machines->get(), delete_computer{*uri}, json::object{});
}

void list_resource(const call& c) {
  if (const auto uri = served_uri(c, "uri"))
    ask_json(c, c.self->state.host->machines->get(), list_computer{*uri});
}

void resolve_resource(const call& c) {
  if (const auto uri = served_uri(c, "uri"))
    ask_json(c, c.self->state.host->machines->get(), resolve_computer{*uri});
}

void move_resource(const call& c) {
  jsonrpc::params in(c.params);
  const auto from = in.text("source");
  const auto to = in.text("destination");
  if (!in.problem().empty())
    return c.refuse(jsonrpc::invalid_params, in.problem());
  if (ahp::scheme_of(from) != ahp::scheme_of(to))
    return c.refuse(jsonrpc::invalid_params,
                    from + " and " + to + " are served by different providers");
  if (served_uri(c, "source"))
    c.refuse(jsonrpc::method_not_found, "computer: does not answer " + c.method);
}

void lacking(const call& c) {
  if (served_uri(c, "uri"))
    c.refuse(jsonrpc::method_not_found, "computer: does not answer " + c.method);
}

void request_resource(const call& c) {
  jsonrpc::params in(c.params);
  const auto uri = in.text("uri");
  if (!in.problem().empty())
    return c.refuse(jsonrpc::invalid_params, in.problem());
  c.refuse(ahp::permission_denied, "This host does not mediate " + uri);
}

// ---- x-ahpd/computers/* -------------------------------------------------------------------------

/// The URI of the machine a command names; else the call is refused.
std::optional<std::string> named_computer(const call& c) {
  if (!c.self->state.host->computers) {
    c.refuse(jsonrpc::method_not_found, "nothing here serves computer:");
    return std::nullopt;
  }
  jsonrpc::params in(c.params);
  const auto name = in.text("name");
  std::string problem = in.problem();
  const auto uri = ahp::parse_computer_uri("computer://" + name);
  if (problem.empty() && (!uri || uri->name != name))
    problem = "name must be the name of a computer, as in computer://<name>";
  if (problem.empty())
    return "computer://" + name;
  c.refuse(jsonrpc::invalid_params, problem);
  return std::nullopt;
}

void command_create(const call& c) {
  const auto uri = named_computer(c);
  if (!uri)
    return;
  const auto* manifest = c.params.if_contains("manifest");
  if (!manifest || manifest->is_null())
    return c.refuse(jsonrpc::invalid_params, "manifest must be an object");
  ask(c, c.self->state.host->machines->get(),
      write_computer{*uri, json::serialize(*manifest), root_owner(c), sink_of(c)}, json::object{});
}

void command_state(const call& c, std::string word) {
  if (const auto uri = named_computer(c))
    ask(c, c.self->state.host->machines->get(),
        write_computer{*uri + "/state", std::move(word), root_owner(c), {}}, json::object{});
}

void command_remove(const call& c) {
  if (const auto uri = named_computer(c))
    ask(c, c.self->state.host->machines->get(), delete_computer{*uri}, json::object{});
}

void authenticate(const call& c) {
  jsonrpc::params in(c.params);
  const auto resource = in.text("resource");
  if (!in.problem().empty())
    return c.refuse(jsonrpc::invalid_params, in.problem());
  c.refuse(jsonrpc::invalid_params, resource + " is not a resource this host advertises");
}

const std::map<std::string_view, std::function<void(const call&)>>& handlers() {
  static const std::map<std::string_view, std::function<void(const call&)>> all{
    {"authenticate", authenticate},
    {"listSessions", list_the_sessions},
    {"createSession", create_the_session},
    {"disposeSession",
     [](const call& c) {
       ask(c, c.self->state.host->sessions->get(), end_session{channel_of(c)}, nullptr);
     }},
    {"resolveSessionConfig", resolve_config},
    {"sessionConfigCompletions", complete_config},
    {"createChat", create_the_chat},
    {"disposeChat", dispose_the_chat},
    {"fetchTurns", fetch_the_turns},
    {"createTerminal", create_the_terminal},
    {"disposeTerminal", dispose_the_terminal},
    {"completions",
     [](const call& c) {
       c.answer({{"items", json::array{}}});
     }},
    {"resourceRead", read_resource},
    {"resourceWrite", write_resource},
    {"resourceList", list_resource},
    {"resourceDelete", delete_resource},
    {"resourceResolve", resolve_resource},
    {"resourceCopy", move_resource},
    {"resourceMove", move_resource},
    {"resourceMkdir", lacking},
    {"createResourceWatch", lacking},
    {"resourceRequest", request_resource},
    {"x-ahpd/computers/create", command_create},
    {"x-ahpd/computers/start", [](const call& c) { command_state(c, "running"); }},
    {"x-ahpd/computers/stop", [](const call& c) { command_state(c, "stopped"); }},
    {"x-ahpd/computers/restart", [](const call& c) { command_state(c, "restarted"); }},
    {"x-ahpd/computers/remove", command_remove},
  };
  return all;
}

} // namespace

void serve_request(const call& c) {
  const auto i = handlers().find(c.method);
  if (i == handlers().end())
    return c.refuse(jsonrpc::invalid_request, c.method + " is a notification");
  i->second(c);
}

} // namespace ahpd::hub
