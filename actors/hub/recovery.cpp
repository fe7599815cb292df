#include "actors/hub/recovery.hpp"

#include "actors/core/clock.hpp"
#include "actors/core/log.hpp"
#include "protocol/ahp/builders.hpp"
#include "protocol/ahp/reducers.hpp"
#include "protocol/ahp/time.hpp"

#include <algorithm>

namespace ahpd::hub {

namespace {

constexpr std::string_view why =
  "The host stopped while this turn ran, so it was cut off; send it again to run it anew";

void end_turn(config::store& db, const config::active_turn_row& row) {
  const auto session_id = db.session_of_chat(row.chat);
  if (!session_id)
    return;
  auto session = db.find_session(*session_id);
  for (auto& chat : db.chats_of(*session_id)) {
    if (chat.uri != row.chat)
      continue;
    auto& state = chat.state.as_object();
    state["turns"] = json::array{};
    state["activeTurn"] = row.turn;
    const auto started =
      ahp::parse_iso8601(json::string_member(row.turn, "startedAt").value_or(""));
    const auto took = std::max<std::int64_t>(0, core::now_ms() - started.value_or(core::now_ms()));
    const auto ending = ahp::build::chat_error(json::string_member(row.turn, "id").value_or(""),
                                               took, "hostStopped", why);
    ahp::reduce(ahp::channel_kind::chat, chat.state, ending);
    for (const auto& turn : state["turns"].as_array())
      db.append_turn(chat.uri, turn);
    state.erase("turns");
    state.erase("activeTurn");
    db.put_chat(chat);
    if (const auto at = json::string_member(chat.state, "modifiedAt"))
      session->modified_ms = std::max(session->modified_ms, ahp::parse_iso8601(*at).value_or(0));
  }
  db.put_session(*session);
  db.remove_active_turn(row.chat);
  core::log::warning("a turn was cut off", {{"chat", row.chat}});
}

} // namespace

std::vector<config::run_row> end_cut_turns(config::store& db) {
  db.begin();
  try {
    for (const auto& row : db.active_turns())
      end_turn(db, row);
    auto left = db.runs();
    db.commit();
    return left;
  } catch (...) {
    db.rollback();
    throw;
  }
}

} // namespace ahpd::hub
