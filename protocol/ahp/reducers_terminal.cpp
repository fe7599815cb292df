#include "protocol/ahp/reducing.hpp"

namespace ahpd::ahp::reducing {

namespace {

using json::object;
using json::value;

/// Text goes to the command that runs, else to the plain text at the end, else into a new part.
bool data(object& s, const value& a) {
  const auto text = json::string_member(a, "data");
  if (!text || text->empty())
    return false;
  auto& content = list_at(s, "content");
  auto* tail = content.empty() ? nullptr : content.back().if_object();
  const auto type = tail ? json::string_member(content.back(), "type") : std::nullopt;
  const char* member = type == "unclassified"                                      ? "value"
                       : type == "command" && !truth(content.back(), "isComplete") ? "output"
                                                                                   : nullptr;
  if (!member) {
    content.push_back(object{{"type", "unclassified"}, {"value", *text}});
    return true;
  }
  auto& held = (*tail)[member];
  if (!held.is_string())
    held.emplace_string();
  held.get_string().append(*text);
  return true;
}

bool exited(object& s, const value& a) {
  object lifecycle{{"status", "exited"}};
  put_given(lifecycle, a, "exitCode");
  const value now(std::move(lifecycle));
  return put(s, "lifecycle", &now);
}

bool cleared(object& s, const value&) {
  const value none = json::array{};
  return put(s, "content", &none);
}

bool detects(object& s) {
  const value yes(true);
  return put(s, "supportsCommandDetection", &yes);
}

bool command_executed(object& s, const value& a) {
  const auto id = text(a, "commandId");
  if (!id)
    return false;
  object part{{"type", "command"}, {"commandId", *id}, {"output", ""}, {"isComplete", false}};
  put_given(part, a, "commandLine");
  put_given(part, a, "timestamp");
  list_at(s, "content").push_back(std::move(part));
  detects(s);
  return true;
}

bool command_finished(object& s, const value& a) {
  const auto id = text(a, "commandId");
  auto* content = array_at(s, "content");
  if (!id || !content)
    return false;
  bool changed = false;
  const value yes(true);
  for (auto& item : *content) {
    if (json::string_member(item, "commandId") != id ||
        json::string_member(item, "type") != "command")
      continue;
    auto& part = item.get_object();
    changed |= put(part, "isComplete", &yes);
    changed |= put_from(part, a, "exitCode");
    changed |= put_from(part, a, "durationMs");
  }
  return changed;
}

} // namespace

const steps& terminal_steps() {
  // terminal/input is not here: it goes to the program and changes no state.
  static const steps all{
    {"terminal/data", data},
    {"terminal/resized",
     [](object& s, const value& a) {
       const bool wider = put_given(s, a, "cols");
       return put_given(s, a, "rows") || wider;
     }},
    {"terminal/claimed", [](object& s, const value& a) { return put_given(s, a, "claim"); }},
    {"terminal/titleChanged", [](object& s, const value& a) { return put_given(s, a, "title"); }},
    {"terminal/cwdChanged", [](object& s, const value& a) { return put_given(s, a, "cwd"); }},
    {"terminal/exited", exited},
    {"terminal/cleared", cleared},
    {"terminal/commandDetectionAvailable", [](object& s, const value&) { return detects(s); }},
    {"terminal/commandExecuted", command_executed},
    {"terminal/commandFinished", command_finished},
  };
  return all;
}

} // namespace ahpd::ahp::reducing
