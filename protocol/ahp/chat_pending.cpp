#include "protocol/ahp/chat_steps.hpp"
#include "protocol/ahp/status.hpp"

#include <utility>

namespace ahpd::ahp::reducing {

namespace {

using json::object;
using json::value;

bool remove_steering(object& s, std::string_view id) {
  const auto* held = s.if_contains("steeringMessage");
  if (!held || json::string_member(*held, "id") != id)
    return false;
  s.erase("steeringMessage");
  return true;
}

bool remove_queued(object& s, std::string_view id) {
  const bool removed = remove(s, "queuedMessages", "id", id);
  if (removed)
    drop_empty(s, "queuedMessages");
  return removed;
}

/// The open request of the running turn that an action's member `key` names.
object* open_part(object& s, const value* name) {
  auto* active = s.if_contains("activeTurn");
  auto* part =
    active && name && name->is_string() ? find_open_input(*active, name->get_string()) : nullptr;
  return part ? part->if_object() : nullptr;
}

/// The map of answers in a request, made when it is missing.
object& answers_of(object& request) {
  auto& answers = request["answers"];
  return answers.is_object() ? answers.get_object() : answers.emplace_object();
}

} // namespace

bool take_pending(object& s, std::string_view id) {
  const bool steering = remove_steering(s, id);
  return remove_queued(s, id) || steering;
}

bool pending_message_set(object& s, const value& a) {
  const auto id = text(a, "id");
  const auto* message = json::member(a, "message");
  const auto kind = text(a, "kind");
  if (!id || !message)
    return false;
  const value pending = object{{"id", *id}, {"message", *message}};
  if (kind == "steering")
    return put(s, "steeringMessage", &pending);
  return kind == "queued" && upsert(s, "queuedMessages", "id", &pending);
}

bool pending_message_removed(object& s, const value& a) {
  const auto id = text(a, "id");
  const auto kind = text(a, "kind");
  if (!id)
    return false;
  if (kind == "steering")
    return remove_steering(s, *id);
  return kind == "queued" && remove_queued(s, *id);
}

bool input_requested(object& s, const value& a) {
  const auto* request = json::member(a, "request");
  const auto* id = request ? json::member(*request, "id") : nullptr;
  auto* active = s.if_contains("activeTurn");
  if (!id || !id->is_string() || !active || !active->is_object())
    return false;
  if (auto* part = open_part(s, id)) {
    auto& held = part->at("request");
    value answers;
    if (auto* kept = json::member(held, "answers"))
      answers = std::move(*kept);
    held = *request;
    if (!answers.is_null() && !json::member(held, "answers"))
      held.get_object()["answers"] = std::move(answers);
  } else {
    list_at(active->get_object(), "responseParts")
      .push_back(object{{"kind", "inputRequest"}, {"request", *request}});
  }
  settle_status(s);
  set_status(s, status_of(s) & ~status::is_read);
  return true;
}

bool input_answer_changed(object& s, const value& a) {
  auto* part = open_part(s, json::member(a, "requestId"));
  const auto question = text(a, "questionId");
  if (!part || !question)
    return false;
  auto& request = part->at("request").get_object();
  const bool changed = put(answers_of(request), *question, json::member(a, "answer"));
  drop_empty(request, "answers");
  return settle_status(s) || changed;
}

bool input_completed(object& s, const value& a) {
  auto* part = open_part(s, json::member(a, "requestId"));
  const auto* response = json::member(a, "response");
  if (!part || !response || !response->is_string())
    return false;
  auto& request = part->at("request").get_object();
  const auto* given = json::member(a, "answers");
  if (given && given->is_object()) {
    auto& answers = answers_of(request);
    for (const auto& kv : given->get_object())
      if (!kv.value().is_null())
        put(answers, kv.key(), &kv.value());
    drop_empty(request, "answers");
  }
  put(*part, "response", response);
  settle_status(s);
  return true;
}

} // namespace ahpd::ahp::reducing
