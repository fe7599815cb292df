#include "actors/hub/ask.hpp"
#include "actors/hub/call.hpp"
#include "actors/hub/changes.hpp"
#include "actors/hub/completions.hpp"
#include "actors/hub/machines.hpp"
#include "actors/hub/progress.hpp"
#include "actors/hub/resources.hpp"
#include "actors/hub/session.hpp"
#include "actors/hub/session_config.hpp"
#include "actors/hub/sessions.hpp"
#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/changesets.hpp"
#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/shapes.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/jsonrpc/params.hpp"

namespace ahpd::hub {

namespace {

std::string channel_of(const call& c) {
  return std::string(c.params.at("channel").get_string());
}

// ---- sessions and chats -------------------------------------------------------------------------

void create_the_session(const call& c) {
  ask(
    c, c.self->state.host->sessions->get(),
    create_session{c.params, c.self->state.box->client_id(), sink_for(c.self->state.box, c.params)},
    nullptr);
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

void invoke_the_operation(const call& c) {
  jsonrpc::params in(c.params);
  const auto operation = in.text("operationId");
  if (!in.problem().empty())
    return c.refuse(jsonrpc::invalid_params, in.problem());
  const auto uri = channel_of(c);
  if (!ahp::parse_changeset_uri(uri))
    return c.refuse(no_changeset(uri));
  with_owner(
    c.self, uri,
    [c, uri, operation](const caf::actor& owner, const std::string&) {
      ask_json(c, owner, invoke_operation{uri, operation});
    },
    [c, uri](const caf::error&) { c.refuse(no_changeset(uri)); });
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
    {"invokeChangesetOperation", invoke_the_operation},
    {"createTerminal", create_the_terminal},
    {"disposeTerminal", dispose_the_terminal},
    {"completions", complete_message},
  };
  return all;
}

} // namespace

void serve_request(const call& c) {
  if (c.method.rfind("x-ahpd/computers/", 0) == 0)
    return serve_computer_command(c);
  if (c.method.rfind("resource", 0) == 0 || c.method == "createResourceWatch")
    return serve_resource(c);
  const auto i = handlers().find(c.method);
  if (i == handlers().end())
    return c.refuse(jsonrpc::invalid_request, c.method + " is a notification");
  i->second(c);
}

} // namespace ahpd::hub
