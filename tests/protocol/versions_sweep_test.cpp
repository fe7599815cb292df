// Every public case through every dialect: what a peer of 0.6 gets is of the shapes that the public
// schema of 0.6 has, and what it sends comes back to it as it was.

#include "tests/protocol/versions_support.hpp"

#include "protocol/ahp/reducers.hpp"
#include "tests/support/support.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

namespace fs = std::filesystem;
namespace json = ahpd::json;
using namespace ahpd::ahp;
using namespace ahpd::tests;

namespace {

// ---- a checker of the part of JSON Schema that the public files use -----------------------------

class schema {
public:
  explicit schema(const std::string& path) : definitions_(parsed(read_file(path)).at("$defs")) {}

  /// What is wrong with `v` as a `name`; empty: nothing.
  std::string check(const std::string& name, const json::value& v) const {
    return check(definitions_.at(name), v, name);
  }

  const json::object& definitions() const { return definitions_.as_object(); }

private:
  /// Members that the schema requires although they are absent when undefined (its own caveats).
  static bool relaxed(const std::string& where, std::string_view member) {
    static const std::set<std::pair<std::string, std::string_view>> all{
      {"Turn", "usage"},
      {"ActiveTurn", "usage"},
      {"SessionActivityChangedAction", "activity"},
      {"SessionMetaChangedAction", "_meta"},
      {"SessionChangesetsChangedAction", "changesets"},
      {"ChangesetOperationsChangedAction", "operations"},
    };
    return all.count({where.substr(0, where.find('.')), member}) > 0;
  }

  std::string check(const json::value& rule, const json::value& v, const std::string& where) const {
    const auto* rules = rule.if_object();
    if (!rules || v.is_null())
      return {}; // null is absent
    if (const auto ref = json::string_member(rule, "$ref")) {
      const std::string name(ref->substr(ref->rfind('/') + 1));
      if (name == "SessionStatus") // published too narrow: it is a set of bits
        return v.is_number() ? "" : where + " must be a number";
      const auto* found = definitions_.as_object().if_contains(name);
      return found ? check(*found, v, name) : "";
    }
    if (const auto* any = json::member(rule, "oneOf"))
      return one_of(any->as_array(), v, where);
    if (const auto* fixed = json::member(rule, "const"); fixed && *fixed != v)
      return where + " must be " + json::serialize(*fixed);
    if (const auto* words = json::member(rule, "enum")) {
      const auto& all = words->as_array();
      if (std::find(all.begin(), all.end(), v) == all.end())
        return where + " must be one of " + json::serialize(*words);
    }
    if (const auto type = json::string_member(rule, "type"); type && !is(v, *type))
      return where + " must be of type " + std::string(*type);
    if (const auto* items = json::member(rule, "items"); items && v.is_array())
      for (const auto& item : v.get_array())
        if (auto why = check(*items, item, where + "[]"); !why.empty())
          return why;
    return v.is_object() ? members(rule, v, where) : "";
  }

  std::string members(const json::value& rule, const json::value& v,
                      const std::string& where) const {
    if (const auto* required = json::member(rule, "required"))
      for (const auto& name : required->as_array())
        if (!json::member(v, std::string_view(name.as_string())) &&
            !relaxed(where, std::string_view(name.as_string())))
          return where + " needs " + std::string(name.as_string());
    if (const auto* properties = json::member(rule, "properties"))
      for (const auto& [key, property] : properties->as_object())
        if (const auto* member = json::member(v, key))
          if (auto why = property_of(property, *member, where + "." + std::string(key));
              !why.empty())
            return why;
    if (const auto* others = json::member(rule, "additionalProperties"))
      for (const auto& [key, member] : v.as_object())
        if (auto why = check(*others, member, where + "." + std::string(key)); !why.empty())
          return why;
    return {};
  }

  /// Objects that the schema has no name for have all their members published as strings.
  std::string property_of(const json::value& rule, const json::value& v,
                          const std::string& where) const {
    if (!json::member(rule, "properties"))
      return check(rule, v, where);
    return v.is_object() ? "" : where + " must be of type object";
  }

  std::string one_of(const json::array& any, const json::value& v, const std::string& where) const {
    std::string all = where + " is none of its kinds:";
    for (const auto& rule : any) {
      const auto why = check(rule, v, where);
      if (why.empty())
        return {};
      all += " " + why + ";";
    }
    return all;
  }

  static bool is(const json::value& v, std::string_view type) {
    return type == "object"    ? v.is_object()
           : type == "array"   ? v.is_array()
           : type == "string"  ? v.is_string()
           : type == "boolean" ? v.is_bool()
           : type == "number"  ? v.is_number()
                               : true;
  }

  json::value definitions_;
};

// ---- cases --------------------------------------------------------------------------------------

struct kind_of_channel {
  channel_kind kind;
  std::string state; ///< name in the schema
};

const std::map<std::string, kind_of_channel> kinds{
  {"root", {channel_kind::root, "RootState"}},
  {"session", {channel_kind::session, "SessionState"}},
  {"chat", {channel_kind::chat, "ChatState"}},
  {"terminal", {channel_kind::terminal, "TerminalState"}},
  {"changeset", {channel_kind::changeset, "ChangesetState"}},
  {"annotations", {channel_kind::annotations, "AnnotationsState"}},
  {"resourceWatch", {channel_kind::resource_watch, "ResourceWatchState"}},
};

struct public_case {
  std::string name;
  kind_of_channel what;
  json::value initial;
  json::array actions;
};

std::vector<public_case> public_cases(const std::string& shared) {
  std::vector<public_case> out;
  for (const auto& entry : fs::directory_iterator(fs::path(shared) / "ahp/0.6/reducers")) {
    const auto test = parsed(read_file(entry.path().string()));
    out.push_back({entry.path().stem().string(),
                   kinds.at(std::string(test.at("reducer").as_string())), test.at("initial"),
                   test.at("actions").as_array()});
  }
  return out;
}

/// An action of 0.6 in the 1.0 model. What only hosts originate no adapter accepts.
json::value modern(const json::value& action) {
  auto m = accept_params(dialect::v0_6, "dispatchAction",
                         {{"channel", "ahp-session:/s/annotations"}, {"action", action}})
             .at("action");
  const auto type = json::string_member(m, "type");
  auto& o = m.as_object();
  if (type == "chat/error") {
    o["part"] = json::object{{"kind", "error"}, {"error", o.at("error")}};
    o.erase("error");
  } else if (type == "session/customizationsChanged" || type == "session/customizationUpdated") {
    o = accept_params(dialect::v0_6, "createSession", o);
  }
  return m;
}

/// A state of 0.6 in the 1.0 model, where what later versions changed is in it.
json::value modern_state(const kind_of_channel& what, json::value state) {
  if (what.kind == channel_kind::annotations)
    for (auto& annotation : state.at("annotations").as_array())
      annotation = modern(json::object{{"type", "annotations/set"}, {"annotation", annotation}})
                     .at("annotation");
  return state;
}

/// The name of an action's shape in the schema, by its type.
std::map<std::string, std::vector<std::string>> shapes_of(const schema& actions) {
  std::map<std::string, std::vector<std::string>> out;
  for (const auto& [name, rule] : actions.definitions())
    if (const auto* properties = json::member(rule, "properties"))
      if (const auto* type = json::member(*properties, "type"))
        if (const auto fixed = json::string_member(*type, "const");
            fixed && fixed->find('/') != std::string_view::npos)
          out[std::string(*fixed)].push_back(std::string(name));
  return out;
}

std::string wrong_shape(const schema& rules, const std::vector<std::string>& names,
                        const json::value& v) {
  std::string all;
  for (const auto& name : names) {
    const auto why = rules.check(name, v);
    if (why.empty())
      return {};
    all += why + "; ";
  }
  return all;
}

} // namespace

TEST_CASE("a peer of 0.6 gets actions and documents of the public shapes") {
  const auto shared = shared_folder();
  if (!shared)
    return skip("shared folder with the public cases");
  const schema actions(*shared + "/ahp/0.6/schema/actions.schema.json");
  const schema states(*shared + "/ahp/0.6/schema/state.schema.json");
  const auto shapes = shapes_of(actions);
  CHECK(shapes.size() > 70);
  std::size_t checked = 0;
  std::size_t documents = 0; ///< some of the cases start from odd ones, to see that nothing breaks
  for (const auto& test : public_cases(*shared)) {
    CAPTURE(test.name);
    const bool sound = states.check(test.what.state, test.initial).empty();
    auto state = modern_state(test.what, test.initial);
    for (const auto& dispatched : test.actions) {
      const auto action = modern(dispatched);
      reduce(test.what.kind, state, action);
      const auto adapted = seen(dialect::v0_6, action, state);
      for (const auto& old : adapted.as_array()) {
        const auto found = shapes.find(std::string(old.at("type").as_string()));
        if (found == shapes.end())
          continue; // the cases name some that nobody knows
        const auto why = wrong_shape(actions, found->second, old);
        CHECK_MESSAGE(why.empty(), why << "\n" << json::serialize(old));
        ++checked;
      }
    }
    const auto why =
      states.check(test.what.state, adapt_state(dialect::v0_6, test.what.kind, state));
    CHECK_MESSAGE((why.empty() || !sound), why);
    documents += sound;
  }
  CHECK(checked > 350);
  CHECK(documents > 220);
}

TEST_CASE(
  "documents full of what later versions added are of the public shapes for a peer of 0.6") {
  const auto shared = shared_folder();
  if (!shared)
    return skip("shared folder with the public cases");
  const schema rules(*shared + "/ahp/0.6/schema/commands.schema.json");
  const auto message = parsed(R"({"text": "x", "origin": {"kind": "automation"}, "attachments": [
    {"type": "chat", "label": "l", "resource": "ahp-chat:/d", "endTurn": "t"}]})");
  const auto call = parsed(R"({"kind": "toolCall", "toolCall": {"toolCallId": "k", "toolName": "n",
    "displayName": "d", "status": "completed", "invocationMessage": "i", "confirmed": "setting",
    "toolInput": {"uri": "content:/i"}, "success": true, "pastTenseMessage": "did", "content": [
      {"type": "terminal", "resource": "ahp-terminal:/t", "title": "sh", "isPty": true,
       "result": {"exitCode": 0}}]}})");
  const auto failed = parsed(R"({"kind": "error", "resumable": true,
    "error": {"errorType": "e", "message": "m"}})");
  const json::value turn{{"id", "t"},
                         {"message", message},
                         {"state", "error"},
                         {"responseParts", json::array{call, failed}}};
  auto summary = parsed(R"({"resource": "ahp-chat:/c", "title": "t", "status": 97,
    "modifiedAt": "2026-11-30T10:00:00.000Z", "changes": {"files": 1}, "movable": true,
    "workingDirectories": ["file:///a", "file:///b"], "origin": {"kind": "sideChat",
    "chat": "ahp-chat:/d", "turnId": "t", "selection": {"text": "x"}}})");
  auto chat = summary;
  chat.as_object()["turns"] = json::array{turn};
  chat.as_object()["draft"] = message;
  const auto plugin = parsed(R"({"type": "plugin", "id": "p", "uri": "u", "name": "n",
    "children": [{"type": "mcpServer", "id": "m", "uri": "u", "name": "n",
                  "state": {"kind": "starting", "blocking": true}}]})");
  const json::value session{
    {"provider", "p"},
    {"title", "t"},
    {"status", 1},
    {"lifecycle", "failed"},
    {"activeClients",
     {{{"clientId", "c"}, {"tools", json::array{}}, {"customizations", json::array{plugin}}}}},
    {"chats", json::array{summary}},
    {"customizations", json::array{plugin}},
    {"workingDirectories", {"file:///a"}},
    {"origin", {{"kind", "automation"}}}};
  const auto terminal = parsed(R"({"resource": "ahp-terminal:/t", "title": "sh", "content": [],
    "claim": {"kind": "session", "session": "s", "chat": "c"}, "isPty": true,
    "lifecycle": {"status": "exited", "exitCode": 1}})");
  const json::value root{{"agents", json::array{}}, {"terminals", json::array{terminal}}};

  const std::vector<std::tuple<std::string, channel_kind, json::value>> all{
    {"ChatState", channel_kind::chat, chat},
    {"SessionState", channel_kind::session, session},
    {"TerminalState", channel_kind::terminal, terminal},
    {"RootState", channel_kind::root, root}};
  for (const auto& [name, kind, state] : all) {
    const auto old = adapt_state(dialect::v0_6, kind, state);
    CHECK_MESSAGE(rules.check(name, old).empty(), rules.check(name, old));
    const auto text = json::serialize(old);
    for (const char* word : {"\"error\"}", "sideChat", "automation", "lifecycle\":{", "failed",
                             "enablement", "workingDirectories", "movable", "result\""})
      CHECK_MESSAGE(text.find(word) == std::string::npos, word << " in " << text);
  }
  const auto row = adapt_result(
    dialect::v0_6, "listSessions",
    json::object{{"items", json::array{parsed(R"({"resource": "s", "provider": "p", "title": "t",
      "status": 1, "createdAt": "c", "modifiedAt": "m", "workingDirectories": ["file:///a"],
      "chats": [], "defaultChat": "c", "origin": {"kind": "automation"}})")}}});
  CHECK(rules.check("ListSessionsResult", row).empty());
  CHECK(json::serialize(row).find("automation") == std::string::npos);
}

TEST_CASE("the checker of shapes sees what is wrong") {
  const auto shared = shared_folder();
  if (!shared)
    return skip("shared folder with the public cases");
  const schema states(*shared + "/ahp/0.6/schema/state.schema.json");
  auto info = parsed(R"({"resource": "r", "title": "t",
                         "claim": {"kind": "client", "clientId": "c"}})");
  CHECK(states.check("TerminalInfo", info).empty());
  info.as_object()["exitCode"] = "zero";
  CHECK(states.check("TerminalInfo", info) == "TerminalInfo.exitCode must be of type number");
  info.as_object().erase("exitCode");
  info.at("claim").as_object()["kind"] = "nobody";
  CHECK_FALSE(states.check("TerminalInfo", info).empty());
  info.as_object().erase("claim");
  CHECK(states.check("TerminalInfo", info) == "TerminalInfo needs claim");
  CHECK(states.check("SessionLifecycle", "failed").find("must be one of") != std::string::npos);
}

TEST_CASE("no public case's action or state reads otherwise once it was old and came back") {
  const auto shared = shared_folder();
  if (!shared)
    return skip("shared folder with the public cases");
  for (const auto& test : public_cases(*shared)) {
    CAPTURE(test.name);
    for (const auto& action : test.actions) {
      const auto up = modern(action);
      const auto down = seen(dialect::v0_6, up);
      REQUIRE(down.as_array().size() == 1);
      CHECK_SAME(down.as_array().front(), action);
      CHECK_SAME(modern(down.as_array().front()), up);
    }
  }
}
