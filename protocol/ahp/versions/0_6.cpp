#include "protocol/ahp/find.hpp"
#include "protocol/ahp/versions/steps.hpp"

/// 0.7 as 0.6 has it: one working directory, and terminals in a tool's result end in an entry of
/// their own.
namespace ahpd::ahp::versions {

namespace {

// ---- parts that differ --------------------------------------------------------------------------

/// The first working directory is the one that 0.6 knows.
void folder(object& o) {
  const auto* list = list_member(o, "workingDirectories");
  if (list && !list->empty())
    o["workingDirectory"] = value(list->front());
  o.erase("workingDirectories");
}

/// A chat's summary, a part of one, or the same members of its state.
void chat(object& c) {
  folder(c);
  auto* origin = object_member(c, "origin");
  if (!origin || word(*origin, "kind") != "sideChat")
    return;
  (*origin)["kind"] = "fork";
  origin->erase("selection");
}

/// A chat that is attached to a message is in 0.6 a label with its URI for the model to read.
void attachment(object& a) {
  if (word(a, "type") != "chat")
    return;
  a["type"] = "simple";
  if (const auto* uri = a.if_contains("resource"))
    a["modelRepresentation"] = value(*uri);
  erase(a, {"resource", "endTurn"});
}

void message(object& m) {
  each(m, {"attachments"}, {}, attachment);
}

/// Input that is kept elsewhere is text in 0.6: where it can be read.
void input(object& o) {
  if (const auto* ref = object_member(o, "toolInput"))
    o["toolInput"] = std::string(word(*ref, "uri"));
}

/// How a terminal ended follows it in an entry of its own.
void content(object& o) {
  auto* entries = list_member(o, "content");
  if (!entries)
    return;
  json::array out;
  for (auto& entry : *entries) {
    auto* e = entry.if_object();
    const auto* result =
      e && word(*e, "type") == "terminal" ? object_member(*e, "result") : nullptr;
    value ending;
    if (result) {
      auto& end = ending.emplace_object();
      end = *result;
      end["type"] = "terminalComplete";
      if (const auto* uri = e->if_contains("resource"))
        end["resource"] = *uri;
      e->erase("result");
    }
    out.push_back(std::move(entry));
    if (!ending.is_null())
      out.push_back(std::move(ending));
  }
  *entries = std::move(out);
}

void tool_call(object& c) {
  input(c);
  content(c);
}

// ---- actions ------------------------------------------------------------------------------------

bool lacks(std::string_view type, const value&) {
  // 0.6 reads a session's folder from its row in the list, a chat's from session/chatUpdated.
  return one_of(type, {"session/workingDirectorySet", "session/workingDirectoryRemoved",
                       "chat/workingDirectorySet", "chat/workingDirectoryRemoved"});
}

bool differs(std::string_view type, const value& a) {
  if (type == "chat/responsePart") {
    const auto* part = json::member(a, "part");
    return part && json::member(*part, "toolCall");
  }
  return one_of(type,
                {"session/chatAdded", "session/chatUpdated", "session/inputNeededSet",
                 "chat/turnStarted", "chat/pendingMessageSet", "chat/draftChanged",
                 "chat/turnsLoaded", "chat/toolCallReady", "chat/toolCallDelta",
                 "chat/toolCallConfirmed", "chat/toolCallComplete", "chat/toolCallContentChanged"});
}

/// What the call that an action names has for input by now.
const value* input_now(const object& a, const value& chat_after) {
  const auto* turn = active_turn(chat_after, word(a, "turnId"));
  const auto* call = turn ? find_tool_call(*turn, word(a, "toolCallId")) : nullptr;
  return call ? json::member(*call, "toolInput") : nullptr;
}

void action(std::string_view type, object& a, const value& state_after) {
  if (type == "session/chatAdded" || type == "session/chatUpdated")
    return each_chat_summary(a, chat);
  if (type == "chat/toolCallReady") {
    // A call that is ready again keeps its input since 0.7; in 0.6 it is said again.
    if (const auto* held = a.contains("toolInput") ? nullptr : input_now(a, state_after))
      a["toolInput"] = *held;
    return input(a);
  }
  if (type == "chat/toolCallDelta") {
    if (!a.contains("content"))
      a["content"] = "";
    return;
  }
  if (type == "chat/toolCallConfirmed") {
    // Input that is kept elsewhere is not edited, and 0.6 would edit the text it has for it.
    if (const auto* held = input_now(a, state_after); held && !held->is_string())
      a.erase("editedToolInput");
  } else if (type == "chat/toolCallComplete") {
    each(a, {"result"}, {}, content);
  } else if (type == "chat/toolCallContentChanged") {
    content(a);
  }
  each_message(a, message);
  each_tool_call(a, tool_call);
}

// ---- documents ----------------------------------------------------------------------------------

void state(channel_kind kind, object& s) {
  if (kind == channel_kind::session) {
    folder(s);
    each_chat_summary(s, chat);
    each_tool_call(s, tool_call);
  } else if (kind == channel_kind::chat) {
    chat(s);
    each_message(s, message);
    each_tool_call(s, tool_call);
  }
}

void result(std::string_view method, object& r) {
  if (method == "completions")
    each(r, {"attachment"}, {"items"}, attachment);
}

// ---- what a peer of 0.6 sends -------------------------------------------------------------------

/// A terminal's ending goes into the entry of the terminal, which may have to be made.
void accept_content(object& o) {
  auto* entries = list_member(o, "content");
  if (!entries)
    return;
  json::array out;
  for (auto& entry : *entries) {
    auto* e = entry.if_object();
    if (!e || word(*e, "type") != "terminalComplete") {
      out.push_back(std::move(entry));
      continue;
    }
    object ending = std::move(*e);
    const std::string uri(word(ending, "resource"));
    erase(ending, {"type", "resource"});
    auto* terminal = std::find_if(out.begin(), out.end(), [&](const value& v) {
      return json::string_member(v, "type") == "terminal" &&
             json::string_member(v, "resource") == uri;
    });
    if (terminal != out.end())
      terminal->get_object()["result"] = std::move(ending);
    else if (!uri.empty())
      out.push_back(object{{"type", "terminal"},
                           {"resource", uri},
                           {"title", "Terminal"},
                           {"result", std::move(ending)}});
    else // what ran in no terminal that can be named
      out.push_back(object{{"type", "text"}, {"text", std::string(word(ending, "preview"))}});
  }
  *entries = std::move(out);
}

void accept(std::string_view method, object& params) {
  if (method == "createSession") {
    const auto* one = params.if_contains("workingDirectory");
    if (!one || !one->is_string())
      return;
    params["workingDirectories"] = json::array{*one};
    params.erase("workingDirectory");
  } else if (method == "createChat") {
    auto* source = object_member(params, "source");
    if (source && !source->contains("kind"))
      (*source)["kind"] = "fork";
  } else if (auto* a = method == "dispatchAction" ? object_member(params, "action") : nullptr) {
    if (word(*a, "type") == "chat/toolCallComplete")
      each(*a, {"result"}, {}, accept_content);
    else if (word(*a, "type") == "chat/toolCallContentChanged")
      accept_content(*a);
  }
}

} // namespace

const step to_0_6{.older = dialect::v0_6,
                  .lacks = lacks,
                  .differs = differs,
                  .action = action,
                  .state = state,
                  .summary = folder,
                  .result = result,
                  .accept = accept};

} // namespace ahpd::ahp::versions
