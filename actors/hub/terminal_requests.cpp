#include "actors/hub/call.hpp"
#include "actors/hub/session.hpp"
#include "actors/hub/terminals.hpp"
#include "protocol/ahp/codes.hpp"
#include "protocol/ahp/file_uri.hpp"
#include "protocol/ahp/shapes.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/jsonrpc/params.hpp"

namespace ahpd::hub {

namespace {

using ahp::shapes::kind;

constexpr runtimes::window_size default_window{80, 24};

std::string channel_of(const call& c) {
  return std::string(c.params.at("channel").get_string());
}

/// What is wrong with the members of a createTerminal; its claim is checked as an action's is.
std::optional<std::string> wrong_member(const call& c) {
  struct rule {
    const char* member;
    kind what;
    bool required;
  };
  for (const auto& [member, what, required] :
       {rule{"claim", kind::claim, true}, rule{"name", kind::label, false},
        rule{"cwd", kind::label, false}, rule{"cols", kind::cells, false},
        rule{"rows", kind::cells, false}})
    if (auto why = ahp::shapes::check_member({c.method, ""}, c.params, member, what, required))
      return why;
  if (ahp::scheme_of(channel_of(c)) != "ahp-terminal")
    return "channel must be an ahp-terminal: URI";
  return std::nullopt;
}

std::uint16_t cells_or(const call& c, const char* member, std::uint16_t otherwise) {
  const auto* given = c.params.if_contains(member);
  return given && given->is_number() ? given->to_number<std::uint16_t>() : otherwise;
}

void open_it(const call& c, open_terminal what) {
  const auto& host = *c.self->state.host;
  const auto& own = c.self->state.default_shell;
  what.argv = shell_argv(own.empty() ? host.shell : own, what.where.machine);
  c.self->request(host.terminals->get(), caf::infinite, std::move(what))
    .then([c](const terminal_opened&) { c.answer(nullptr); },
          [c](const caf::error& why) { c.refuse(why); });
}

/// A session's terminal runs where the session's programs do.
void open_in_session(const call& c, open_terminal what) {
  with_owner(
    c.self, std::string(what.claim->at("session").get_string()),
    [c, what](const caf::actor& owner, const std::string& session) {
      if (!ahp::session_id(session))
        return c.refuse(ahp::session_not_found, "No agent for session " + session);
      c.self->request(owner, caf::infinite, find_place{})
        .then(
          [c, what, session](const session_place& where) mutable {
            auto claim = what.claim->get_object();
            claim["session"] = session;
            what.claim = std::make_shared<const json::value>(std::move(claim));
            what.where = where;
            if (what.title.empty())
              what.title = where.machine; // else its program's name
            open_it(c, std::move(what));
          },
          [c](const caf::error& why) { c.refuse(why); });
    },
    [c](const caf::error& why) { c.refuse(why); });
}

} // namespace

void create_the_terminal(const call& c) {
  if (const auto why = wrong_member(c))
    return c.refuse(jsonrpc::invalid_params, *why);
  jsonrpc::params in(c.params);
  open_terminal what;
  what.uri = channel_of(c);
  what.title = in.text_if("name").value_or("");
  what.window = {cells_or(c, "cols", default_window.columns),
                 cells_or(c, "rows", default_window.rows)};
  if (const auto cwd = in.text_if("cwd")) {
    const auto path = ahp::file_path(*cwd);
    if (!path && (cwd->empty() || cwd->front() != '/'))
      return c.refuse(jsonrpc::invalid_params, "cwd must be a file: URI");
    what.directory = path.value_or(*cwd);
  }
  const auto& claim = c.params.at("claim");
  what.claim = std::make_shared<const json::value>(claim);
  if (json::string_member(claim, "kind") == "session")
    return open_in_session(c, std::move(what));
  if (json::string_member(claim, "clientId") != c.self->state.box->client_id())
    return c.refuse(jsonrpc::invalid_params, "claim.clientId must be this client's own");
  what.where.directory = c.self->state.host->default_directory;
  open_it(c, std::move(what));
}

void dispose_the_terminal(const call& c) {
  c.self
    ->request(c.self->state.host->terminals->get(), caf::infinite, close_terminal{channel_of(c)})
    .then([c] { c.answer(nullptr); }, [c](const caf::error& why) { c.refuse(why); });
}

} // namespace ahpd::hub
