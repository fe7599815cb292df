#include "tools/ahpd/client/hub_link.hpp"
#include "tools/ahpd/client/print.hpp"
#include "tools/ahpd/client/session_names.hpp"
#include "tools/ahpd/client/verbs.hpp"

namespace ahpd::client {

namespace {

constexpr int page_size = 200;

/// The word for SessionStatus bits (AHP "SessionStatus").
std::string status_word(const json::value& summary) {
  const auto bits = static_cast<std::uint32_t>(number_of(json::member(summary, "status")));
  if ((bits & 24) == 24)
    return "asks";
  if (bits & 8)
    return "running";
  return bits & 2 ? "error" : "idle";
}

json::array all_sessions(hub_link& link) {
  json::array out;
  std::string cursor;
  do {
    json::object params{{"channel", "ahp-root://"}, {"limit", page_size}};
    if (!cursor.empty())
      params["cursor"] = cursor;
    const auto page = link.request("listSessions", std::move(params));
    if (const auto* items = json::member(page, "items"); items && items->is_array())
      out.insert(out.end(), items->get_array().begin(), items->get_array().end());
    cursor = std::string(json::string_member(page, "nextCursor").value_or(""));
  } while (!cursor.empty());
  return out;
}

int list(const words& given, hub_link& link) {
  const auto sessions = all_sessions(link);
  if (given.has("--json")) {
    print_line(json::pretty(sessions));
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"SESSION", "AGENT", "STATUS", "MODIFIED", "TITLE"}};
  for (const auto& s : sessions) {
    if (given.has("--quiet"))
      print_line(plain(text_at(s, {"resource"})));
    rows.push_back({text_at(s, {"resource"}), text_at(s, {"provider"}), status_word(s),
                    text_at(s, {"modifiedAt"}), text_at(s, {"title"})});
  }
  if (!given.has("--quiet"))
    print_table(rows);
  return 0;
}

int show(const words& given, hub_link& link) {
  const auto uri = session_uri(given.rest[1]);
  const auto snapshot = link.subscribe(uri);
  const auto& state = *json::member(snapshot, "state");
  if (given.has("--json")) {
    print_line(json::pretty(state));
    return 0;
  }
  print_table({{"session", uri},
               {"agent", text_at(state, {"provider"})},
               {"title", text_at(state, {"title"})},
               {"lifecycle", text_at(state, {"lifecycle"})},
               {"computer", text_at(state, {"config", "values", "computer"})}});
  const auto* chats = json::member(state, "chats");
  if (!chats || !chats->is_array())
    return 0;
  for (const auto& chat : chats->get_array())
    print_line("chat  " + plain(text_at(chat, {"resource"})) + "  " + status_word(chat) + "  " +
               plain(text_at(chat, {"title"})));
  return 0;
}

int remove(const words& given, hub_link& link) {
  for (std::size_t i = 1; i < given.rest.size(); ++i) {
    const auto uri = session_uri(given.rest[i]);
    link.request("disposeSession", {{"channel", uri}});
    print_line(uri);
  }
  return 0;
}

} // namespace

int session_verb(const std::vector<std::string>& args) {
  const auto given = parse_words("session", args, {});
  const std::string what = given.rest.empty() ? "" : given.rest[0];
  const auto count = given.rest.size();
  if (what != "list" && what != "show" && what != "rm")
    wrong_words(given, "say `list`, `show` or `rm`");
  if (what == "list" && count != 1)
    wrong_words(given, "`list` takes no more words");
  if (what == "show" && count != 2)
    wrong_words(given, "`show` takes one session's URI");
  if (what == "rm" && count < 2)
    wrong_words(given, "`rm` takes the URIs of sessions");
  hub_link link;
  link.connect(find_hub(given));
  return what == "list"   ? list(given, link)
         : what == "show" ? show(given, link)
                          : remove(given, link);
}

} // namespace ahpd::client
