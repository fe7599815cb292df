// What a client sends, one frame a line: read, brought to the 1.0 model from each version, checked
// and folded into a document of each kind; and every document as each version has it.

#include "tests/fuzz/fuzz.hpp"

#include "protocol/ahp/actions.hpp"
#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/request_members.hpp"
#include "protocol/ahp/versions.hpp"
#include "protocol/jsonrpc/message.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace ahpd::fuzz {

namespace {

using ahp::channel_kind;
using ahp::dialect;

constexpr dialect versions[]{dialect::v1_0, dialect::v0_9, dialect::v0_8, dialect::v0_7,
                             dialect::v0_6};

using document = std::pair<channel_kind, json::value>;

/// A document of each kind with something in it that actions can name.
std::vector<document> documents() {
  static const std::vector<document> all = [] {
    std::vector<document> out;
    const auto add = [&out](channel_kind kind, const char* text) {
      out.emplace_back(kind, json::parse(text));
    };
    add(channel_kind::root, R"({"agents": [], "config": {"schema": {}, "values": {}}})");
    add(channel_kind::session,
        R"({"provider": "p", "title": "t", "status": 1, "lifecycle": "creating",
            "activeClients": [], "chats": [{"resource": "c", "title": "t", "status": 1}],
            "defaultChat": "c", "workingDirectories": ["file:///a", "file:///b"],
            "customizations": [{"type": "plugin", "id": "p", "children": [
              {"type": "mcpServer", "id": "m", "state": {"kind": "ready"}}]}],
            "config": {"schema": {"properties": {"k": {"sessionMutable": true}}}, "values": {}}})");
    add(channel_kind::chat,
        R"({"resource": "c", "title": "t", "status": 8, "turns": [{"id": "t1", "state": "complete",
            "responseParts": []}], "activeTurn": {"id": "t2", "startedAt":
            "2026-11-30T10:00:00.000Z", "message": {"text": "x"}, "responseParts": [
              {"kind": "markdown", "id": "p", "content": ""},
              {"kind": "inputRequest", "request": {"id": "i", "questions": []}},
              {"kind": "toolCall", "toolCall": {"toolCallId": "k", "status": "running",
               "contributor": {"kind": "client", "clientId": "me"}}},
              {"kind": "toolCall", "toolCall": {"toolCallId": "l", "toolInput": {"uri": "u"},
               "status": "pending-confirmation", "options": [{"id": "o"}]}}]},
            "queuedMessages": [{"id": "q", "message": {"text": "x"}}]})");
    add(channel_kind::terminal,
        R"({"title": "t", "content": [{"type": "command", "commandId": "c", "isComplete": false}],
            "claim": {"kind": "client", "clientId": "me"}})");
    add(channel_kind::changeset,
        R"({"status": "error", "error": {"message": "m"}, "files": [{"id": "f"}],
            "operations": [{"id": "o", "status": "idle"}]})");
    add(channel_kind::annotations,
        R"({"annotations": [{"id": "a", "origin": {"session": "s", "turnId": "t"},
                             "entries": [{"id": "e", "text": "x"}]}]})");
    add(channel_kind::resource_watch, R"({"root": "file:///a", "recursive": true})");
    add(channel_kind::automations, R"({"entries": [{"resource": "a", "runs": []}]})");
    add(channel_kind::automation_run,
        R"({"resource": "r", "lifecycle": {"status": "running"}, "sessions": ["s"],
            "operations": ["cancel"]})");
    add(channel_kind::computers, R"({"computers": {"box": {}}})");
    return out;
  }();
  return all;
}

void fold(const json::value& action, std::vector<document>& into) {
  const auto shared = std::make_shared<const json::value>(action);
  for (auto& [kind, state] : into) {
    const bool accepted = !ahp::refuse_action(kind, state, action, "me");
    const auto type = json::string_member(action, "type");
    must(!accepted || (type && ahp::find_action(*type)), "what nobody knows is refused");
    const auto* rule = type ? ahp::find_action(*type) : nullptr;
    if (rule && rule->kind != kind) {
      must(!accepted, "an action is refused on another kind of channel");
      continue;
    }
    const json::value before = state;
    if (!ahp::reduce(kind, state, action))
      must(json::equivalent(before, state), "a reducer that says no changed nothing");
    for (const auto version : versions)
      for (const auto& seen : ahp::adapt_action(version, shared, state)) {
        const auto word = json::string_member(*seen, "type");
        must(!word || ahp::has_action(version, *word), "no version sees what it has not");
      }
  }
}

void read(const std::string_view frame, std::vector<document>& into) {
  const auto message = jsonrpc::parse(frame);
  if (const auto* asked = std::get_if<jsonrpc::request>(&message)) {
    for (const auto version : versions) {
      const auto params = ahp::accept_params(version, asked->method, asked->params);
      ahp::misshapen_member(asked->method, params);
      ahp::adapt_notification(version, asked->method, params);
      ahp::adapt_result(version, asked->method, params);
    }
    const auto again =
      jsonrpc::parse(jsonrpc::request_frame(asked->id, asked->method, asked->params));
    const auto* same = std::get_if<jsonrpc::request>(&again);
    must(same && same->id == asked->id && same->params == asked->params,
         "a request that is written reads the same");
  } else if (const auto* told = std::get_if<jsonrpc::notification>(&message)) {
    json::value last;
    for (const auto version : versions) {
      const auto params = ahp::accept_params(version, told->method, told->params);
      const auto* action = params.if_contains("action");
      if (action && *action != last)
        fold(*action, into);
      if (action)
        last = *action;
    }
  } else if (const auto* bad = std::get_if<jsonrpc::malformed>(&message)) {
    must(!bad->why.message.empty(), "a malformed frame is refused in words");
    const auto answer = jsonrpc::parse(jsonrpc::error_frame(bad->id, bad->why));
    must(std::holds_alternative<jsonrpc::response>(answer) || bad->id.is_null(),
         "a refusal is a response");
  }
}

} // namespace

void take(std::string_view bytes) {
  auto state = documents();
  while (!bytes.empty())
    read(cut(bytes, '\n'), state);
  for (const auto& [kind, document] : state)
    for (const auto version : versions)
      ahp::adapt_state(version, kind, document);
  for (const auto& [kind, document] : state)
    if (kind == channel_kind::session)
      ahp::build::session_summary("s", document, 0);
}

} // namespace ahpd::fuzz
