#include "protocol/ahp/versions/steps.hpp"

namespace ahpd::ahp::versions {

object* object_member(object& o, std::string_view key) {
  auto* v = o.if_contains(key);
  return v ? v->if_object() : nullptr;
}

json::array* list_member(object& o, std::string_view key) {
  auto* v = o.if_contains(key);
  return v ? v->if_array() : nullptr;
}

std::string_view word(const object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  return v && v->is_string() ? std::string_view(v->get_string()) : std::string_view();
}

namespace {

template <class Visit> void objects_in(object& o, std::string_view key, Visit visit) {
  auto* v = o.if_contains(key);
  if (!v)
    return;
  if (auto* one = v->if_object())
    visit(*one);
  else if (auto* list = v->if_array())
    for (auto& item : *list)
      if (auto* each_one = item.if_object())
        visit(*each_one);
}

} // namespace

void each(object& in, names wanted, names through, change how) {
  for (const auto key : wanted)
    objects_in(in, key, how);
  for (const auto key : through)
    objects_in(in, key, [&](object& inner) { each(inner, wanted, through, how); });
}

void each_message(object& in, change how) {
  each(in, {"message", "draft", "userSuggestion"},
       {"turns", "activeTurn", "responseParts", "part", "toolCall", "steeringMessage",
        "queuedMessages"},
       how);
}

void each_turn(object& in, change how) {
  each(in, {"turns", "activeTurn"}, {}, how);
}

void each_tool_call(object& in, change how) {
  each(in, {"toolCall"}, {"turns", "activeTurn", "responseParts", "part", "inputNeeded", "request"},
       how);
}

void each_customization(object& in, change how) {
  each(in, {"customizations", "customization", "children"},
       {"customizations", "customization", "children", "activeClients", "activeClient", "agents"},
       how);
}

void each_chat_summary(object& in, change how) {
  each(in, {"chats", "summary", "changes"}, {}, how);
}

} // namespace ahpd::ahp::versions
