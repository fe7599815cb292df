#include "protocol/acp/permission.hpp"

namespace ahpd::acp {

namespace {

bool allows(std::string_view kind) {
  return kind == "allow_once" || kind == "allow_always";
}

bool rejects(std::string_view kind) {
  return kind == "reject_once" || kind == "reject_always";
}

std::string_view text(const json::value& option, std::string_view key) {
  return json::string_member(option, key).value_or(std::string_view());
}

} // namespace

json::value questioned_call(const json::object& params, std::string_view otherwise) {
  const json::value whole(params);
  if (const auto* call = json::member(whole, "toolCall"))
    return *call;
  const auto* subject = json::member(whole, "subject");
  const auto* named = subject ? json::member(*subject, "toolCall") : nullptr;
  json::object call = named && named->is_object() ? named->get_object() : json::object{};
  if (subject && text(*subject, "type") == "command") {
    call["kind"] = "execute";
    call["rawInput"] = text(*subject, "command");
    if (const auto id = text(*subject, "toolCallId"); !id.empty())
      call["toolCallId"] = id;
  }
  if (!call.contains("toolCallId"))
    call["toolCallId"] = otherwise;
  if (!call.contains("title"))
    call["title"] = text(whole, "title");
  return call;
}

json::array confirmation_options(const json::value* options) {
  json::array out;
  if (!options || !options->is_array())
    return out;
  const auto add = [&](bool (*fits)(std::string_view), std::string_view kind, int group) {
    for (const auto& option : options->get_array()) {
      const auto id = text(option, "optionId");
      const auto name = text(option, "name");
      if (!id.empty() && fits(text(option, "kind")))
        out.push_back(json::object{
          {"id", id}, {"label", name.empty() ? id : name}, {"kind", kind}, {"group", group}});
    }
  };
  add(allows, "approve", 1);
  add(rejects, "deny", 2);
  return out;
}

std::optional<std::string> option_for(const json::value* options, bool approved,
                                      std::string_view picked) {
  std::optional<std::string> once;
  if (!options || !options->is_array())
    return once;
  for (const auto& option : options->get_array()) {
    const auto id = text(option, "optionId");
    const auto kind = text(option, "kind");
    if (id.empty())
      continue;
    if (id == picked && (approved ? allows(kind) : rejects(kind)))
      return std::string(id);
    if (!once && kind == (approved ? "allow_once" : "reject_once"))
      once = id;
  }
  return once;
}

json::value selected_outcome(std::string_view option) {
  return {{"outcome", {{"outcome", "selected"}, {"optionId", option}}}};
}

json::value cancelled_outcome() {
  return {{"outcome", {{"outcome", "cancelled"}}}};
}

} // namespace ahpd::acp
