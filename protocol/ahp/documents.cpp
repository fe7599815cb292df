#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/find.hpp"
#include "protocol/ahp/status.hpp"

#include <algorithm>
#include <initializer_list>

namespace ahpd::ahp::build {

namespace {

using json::object;
using json::value;

/// Copies those of `members` that `from` has.
void copy_members(object& to, const value& from, std::initializer_list<std::string_view> members) {
  for (const auto key : members)
    if (const auto* found = json::member(from, key))
      to[key] = *found;
}

std::int64_t status_of(const value& v) {
  return integer_member(v, "status").value_or(status::idle);
}

std::optional<std::int64_t> modified(const value& chat) {
  const auto text = json::string_member(chat, "modifiedAt");
  return text ? parse_iso8601(*text) : std::nullopt;
}

/// Which chat speaks for a session: one that needs input, else one in error, else the default chat,
/// else the one changed last.
const value* speaker(const json::array& chats, std::string_view default_chat) {
  const value* failed = nullptr;
  const value* first = nullptr;
  const value* latest = nullptr;
  for (const auto& chat : chats) {
    const auto activity = status_of(chat) & status::activity_mask;
    if (activity == status::input_needed)
      return &chat;
    if (activity == status::error && !failed)
      failed = &chat;
    if (json::string_member(chat, "resource") == default_chat)
      first = &chat;
    if (!latest || modified(chat).value_or(INT64_MIN) > modified(*latest).value_or(INT64_MIN))
      latest = &chat;
  }
  return failed ? failed : first ? first : latest;
}

json::array chat_rows(const json::array& chats) {
  json::array rows;
  for (const auto& chat : chats) {
    object row;
    copy_members(row, chat, {"resource", "title", "origin", "interactivity", "status", "changes"});
    rows.push_back(std::move(row));
  }
  return rows;
}

} // namespace

value session_state(std::string_view provider, std::string_view title) {
  return object{{"provider", provider},           {"title", title},
                {"status", status::idle},         {"lifecycle", "creating"},
                {"activeClients", json::array{}}, {"chats", json::array{}}};
}

value chat_state(std::string_view resource, std::string_view title, std::int64_t modified_ms,
                 value origin) {
  return object{{"resource", resource},        {"title", title},
                {"status", status::idle},      {"modifiedAt", iso8601(modified_ms)},
                {"origin", std::move(origin)}, {"turns", json::array{}}};
}

value chat_summary(const value& chat_state) {
  object o;
  copy_members(o, chat_state,
               {"resource", "title", "status", "modifiedAt", "activity", "origin", "interactivity",
                "workingDirectories", "changes", "movable"});
  return o;
}

value session_summary(std::string_view resource, const value& session_state,
                      std::int64_t created_ms) {
  object o{{"resource", resource}};
  copy_members(o, session_state,
               {"provider", "title", "project", "workingDirectories", "annotations", "origin",
                "defaultChat", "changes"});
  static const json::array none;
  const auto* listed = json::member(session_state, "chats");
  const auto& chats = listed && listed->is_array() ? listed->get_array() : none;
  const auto default_chat =
    json::string_member(session_state, "defaultChat").value_or(std::string_view());
  const auto* voice = speaker(chats, default_chat);
  const auto own = status_of(session_state);
  const auto heard = status_of(voice ? *voice : session_state);
  o["status"] = (own & ~status::activity_mask) | (heard & status::activity_mask);
  copy_members(o, voice ? *voice : session_state, {"activity"});
  auto latest = created_ms;
  for (const auto& chat : chats)
    latest = std::max(latest, modified(chat).value_or(created_ms));
  o["createdAt"] = iso8601(created_ms);
  o["modifiedAt"] = iso8601(latest);
  o["chats"] = chat_rows(chats);
  return o;
}

object summary_changes(const value& before, const value& now) {
  object changes;
  const auto* members = now.if_object();
  if (!members)
    return changes;
  for (const auto& kv : *members) {
    const auto key = kv.key();
    if (key == "resource" || key == "provider" || key == "createdAt")
      continue;
    const auto* old = json::member(before, key);
    if (!old || *old != kv.value())
      changes[key] = kv.value();
  }
  if (json::member(before, "activity") && !json::member(now, "activity"))
    changes["activity"] = "";
  return changes;
}

} // namespace ahpd::ahp::build
