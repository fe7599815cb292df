#include "config/store.hpp"

#include "config/schema.hpp"
#include "config/store_impl.hpp"

#include <algorithm>
#include <charconv>

namespace ahpd::config {

using sqlite::query;

namespace {

struct cursor {
  std::int64_t modified_ms;
  std::string id;
};

std::optional<cursor> parse_cursor(const std::string& text) {
  cursor out{};
  const char* end = text.data() + text.size();
  const auto [rest, ec] = std::from_chars(text.data(), end, out.modified_ms);
  if (ec != std::errc{} || rest == end || *rest != '.' || rest + 1 == end)
    return std::nullopt;
  out.id.assign(rest + 1, end);
  return out;
}

} // namespace

store::store(const std::string& path) : impl_(new impl{sqlite::database(path)}) {
  open_schema(impl_->db);
}

store::~store() = default;

void store::begin() {
  query(impl_->db, "BEGIN IMMEDIATE").run();
}

void store::commit() {
  query(impl_->db, "COMMIT").run();
}

void store::rollback() {
  if (!impl_->db.in_transaction())
    return;
  try {
    impl_->db.run("ROLLBACK");
  } catch (const store_error&) {
    // What makes a rollback fail (a full or broken disk) has undone the transaction already.
  }
}

void store::nested(const std::function<void()>& work) {
  impl_->db.run("SAVEPOINT piece");
  try {
    work();
  } catch (...) {
    if (impl_->db.in_transaction())
      impl_->db.run("ROLLBACK TO piece; RELEASE piece");
    throw;
  }
  impl_->db.run("RELEASE piece");
}

void store::put_session(const session_row& row) {
  const std::string state = json::serialize(row.state);
  query(impl_->db, "INSERT INTO session (id, uri, created_ms, modified_ms, state)"
                   " VALUES (?, ?, ?, ?, ?)"
                   " ON CONFLICT (id) DO UPDATE SET uri = excluded.uri,"
                   " created_ms = excluded.created_ms, modified_ms = excluded.modified_ms,"
                   " state = excluded.state")
    .with(row.id)
    .with(row.uri)
    .with(row.created_ms)
    .with(row.modified_ms)
    .with(state)
    .run();
}

void store::remove_session(const std::string& id) {
  query(impl_->db, "DELETE FROM session WHERE id = ?").with(id).run();
}

std::optional<session_row> store::find_session(const std::string& id) {
  query q(impl_->db, "SELECT id, uri, created_ms, modified_ms, state FROM session WHERE id = ?");
  q.with(id);
  if (!q.step())
    return std::nullopt;
  return impl_->session(q);
}

std::string store::cursor_of(const session_row& row) {
  return std::to_string(row.modified_ms) + '.' + row.id;
}

std::optional<std::vector<session_row>> store::list_sessions(std::size_t limit,
                                                             const std::string& after) {
  cursor from{};
  if (!after.empty()) {
    auto parsed = parse_cursor(after);
    if (!parsed)
      return std::nullopt;
    from = std::move(*parsed);
  }
  query q(impl_->db, after.empty() ? "SELECT id, uri, created_ms, modified_ms, state FROM session"
                                     " ORDER BY modified_ms DESC, id DESC LIMIT ?"
                                   : "SELECT id, uri, created_ms, modified_ms, state FROM session"
                                     " WHERE (modified_ms, id) < (?, ?)"
                                     " ORDER BY modified_ms DESC, id DESC LIMIT ?");
  if (!after.empty())
    q.with(from.modified_ms).with(from.id);
  q.with(static_cast<std::int64_t>(std::min<std::size_t>(limit, INT64_MAX)));
  std::vector<session_row> out;
  while (q.step())
    out.push_back(impl_->session(q));
  return out;
}

std::int64_t store::count_sessions() {
  return impl_->db.number("SELECT count(*) FROM session");
}

void store::put_chat(const chat_row& row) {
  const std::string state = json::serialize(row.state);
  query(impl_->db, "INSERT INTO chat (uri, session, ordinal, state) VALUES (?, ?, ?, ?)"
                   " ON CONFLICT (uri) DO UPDATE SET session = excluded.session,"
                   " ordinal = excluded.ordinal, state = excluded.state")
    .with(row.uri)
    .with(row.session_id)
    .with(row.ordinal)
    .with(state)
    .run();
}

void store::remove_chat(const std::string& uri) {
  query(impl_->db, "DELETE FROM chat WHERE uri = ?").with(uri).run();
}

std::vector<chat_row> store::chats_of(const std::string& session_id) {
  query q(impl_->db, "SELECT uri, session, ordinal, state FROM chat WHERE session = ?"
                     " ORDER BY ordinal, number");
  q.with(session_id);
  std::vector<chat_row> out;
  while (q.step())
    out.push_back({std::string(q.text(0)), std::string(q.text(1)), q.number(2),
                   impl_->document(q, 3, "a chat")});
  return out;
}

std::optional<std::string> store::session_of_chat(const std::string& uri) {
  query q(impl_->db, "SELECT session FROM chat WHERE uri = ?");
  q.with(uri);
  if (!q.step())
    return std::nullopt;
  return std::string(q.text(0));
}

std::string store::backend_of_chat(const std::string& uri) {
  query q(impl_->db, "SELECT backend FROM chat WHERE uri = ?");
  q.with(uri);
  return q.step() ? std::string(q.text(0)) : std::string();
}

void store::set_backend_of_chat(const std::string& uri, const std::string& id) {
  query(impl_->db, "UPDATE chat SET backend = ?2 WHERE uri = ?1").with(uri).with(id).run();
}

std::int64_t store::append_turn(const std::string& chat, const json::value& turn) {
  const std::string text = json::serialize(turn);
  query q(impl_->db, "INSERT INTO turn (chat, ordinal, turn) SELECT number,"
                     " 1 + coalesce((SELECT max(ordinal) FROM turn WHERE chat = number), 0), ?2"
                     " FROM chat WHERE uri = ?1 RETURNING ordinal");
  q.with(chat).with(text);
  if (!q.step())
    throw store_error(impl_->db.path() + " holds no chat " + chat);
  const auto ordinal = q.number(0);
  q.run(); // outside a transaction the insert is committed by the last step only
  return ordinal;
}

std::vector<turn_row> store::turns_of(const std::string& chat, std::size_t limit,
                                      std::int64_t before) {
  query q(impl_->db, "SELECT ordinal, turn FROM turn"
                     " WHERE chat = (SELECT number FROM chat WHERE uri = ?) AND ordinal < ?"
                     " ORDER BY ordinal DESC LIMIT ?");
  q.with(chat)
    .with(before == 0 ? INT64_MAX : before)
    .with(static_cast<std::int64_t>(std::min<std::size_t>(limit, INT64_MAX)));
  std::vector<turn_row> out;
  while (q.step())
    out.push_back({q.number(0), impl_->document(q, 1, "a turn")});
  std::reverse(out.begin(), out.end());
  return out;
}

std::int64_t store::count_turns(const std::string& chat) {
  query q(impl_->db, "SELECT count(*) FROM turn"
                     " WHERE chat = (SELECT number FROM chat WHERE uri = ?)");
  q.with(chat);
  return q.step() ? q.number(0) : 0;
}

void store::remove_turns_after(const std::string& chat, std::int64_t ordinal) {
  query(impl_->db, "DELETE FROM turn WHERE chat = (SELECT number FROM chat WHERE uri = ?)"
                   " AND ordinal > ?")
    .with(chat)
    .with(ordinal)
    .run();
}

void store::put_active_turn(const active_turn_row& row) {
  const std::string turn = json::serialize(row.turn);
  query(impl_->db, "INSERT INTO active_turn (chat, turn) SELECT number, ?2 FROM chat WHERE uri = ?1"
                   " ON CONFLICT (chat) DO UPDATE SET turn = excluded.turn")
    .with(row.chat)
    .with(turn)
    .run();
  impl_->changed_one(row.chat);
}

void store::remove_active_turn(const std::string& chat) {
  query(impl_->db, "DELETE FROM active_turn WHERE chat = (SELECT number FROM chat WHERE uri = ?)")
    .with(chat)
    .run();
}

std::vector<active_turn_row> store::active_turns() {
  query q(impl_->db, "SELECT chat.uri, turn FROM active_turn"
                     " JOIN chat ON chat.number = active_turn.chat ORDER BY chat.number");
  std::vector<active_turn_row> out;
  while (q.step())
    out.push_back({std::string(q.text(0)), impl_->document(q, 1, "an active turn")});
  return out;
}

void store::put_run(const run_row& row) {
  query(impl_->db, "INSERT OR REPLACE INTO run (marker, place, chat) VALUES (?, ?, ?)")
    .with(row.marker)
    .with(row.place)
    .with(row.chat)
    .run();
}

void store::remove_run(const std::string& marker) {
  query(impl_->db, "DELETE FROM run WHERE marker = ?").with(marker).run();
}

std::vector<run_row> store::runs() {
  query q(impl_->db, "SELECT marker, place, chat FROM run ORDER BY marker");
  std::vector<run_row> out;
  while (q.step())
    out.push_back({std::string(q.text(0)), std::string(q.text(1)), std::string(q.text(2))});
  return out;
}

void store::put_machine(const std::string& id, const json::value& record) {
  const std::string text = json::serialize(record);
  query(impl_->db, "INSERT INTO machine (id, record) VALUES (?, ?)"
                   " ON CONFLICT (id) DO UPDATE SET record = excluded.record")
    .with(id)
    .with(text)
    .run();
}

void store::remove_machine(const std::string& id) {
  query(impl_->db, "DELETE FROM machine WHERE id = ?").with(id).run();
}

std::optional<json::value> store::find_machine(const std::string& id) {
  query q(impl_->db, "SELECT record FROM machine WHERE id = ?");
  q.with(id);
  if (!q.step())
    return std::nullopt;
  return impl_->document(q, 0, "a machine");
}

std::int64_t store::number(const std::string& key, std::int64_t otherwise) {
  query q(impl_->db, "SELECT value FROM counter WHERE key = ?");
  q.with(key);
  return q.step() ? q.number(0) : otherwise;
}

void store::set_number(const std::string& key, std::int64_t value) {
  query(impl_->db, "INSERT INTO counter (key, value) VALUES (?, ?)"
                   " ON CONFLICT (key) DO UPDATE SET value = excluded.value")
    .with(key)
    .with(value)
    .run();
}

} // namespace ahpd::config
