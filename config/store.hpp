#pragma once

#include "protocol/json.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ahpd::config {

/// A database that could not be read or written: the file and SQLite's reason.
struct store_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A session as it is kept. Documents are JSON text of the AHP 1.0 model.
struct session_row {
  std::string id;              ///< the id of its URI
  std::string uri;             ///< as its client spelled it
  std::int64_t created_ms = 0; ///< Unix time
  std::int64_t modified_ms = 0;
  json::value state; ///< SessionState without `chats` and `activeClients`
};

struct chat_row {
  std::string uri;
  std::string session_id;
  std::int64_t ordinal = 0; ///< place in the session's catalogue
  json::value state;        ///< ChatState without `turns` and `activeTurn`
};

struct turn_row {
  std::int64_t ordinal = 0; ///< ascending within its chat, given by `append_turn`
  json::value turn;         ///< Turn
};

/// A turn that was acknowledged and has not ended.
struct active_turn_row {
  std::string chat;
  json::value turn; ///< ActiveTurn
};

/// Programs that must not outlive the hub that started them. They may outlive the turn: a cancelled
/// one's are still being killed.
struct run_row {
  std::string marker; ///< `runtimes::exec_request::marker`
  std::string place;  ///< empty: this host; else the machine's id
  /// Whose turn started them; empty: they are a terminal's; the word "agent" and a space before it:
  /// they are an agent's, which outlive its turns.
  std::string chat;

  static run_row of_agent(std::string marker, std::string place, const std::string& chat) {
    return {std::move(marker), std::move(place), "agent " + chat};
  }
};

/// A file in one of a session's changesets.
struct change_row {
  std::string scope;        ///< which changeset
  std::string file;         ///< the id of `document`
  json::value document;     ///< ChangesetFile
  std::string before;       ///< id of the content that it shows; empty: none
  std::string after;        ///< the same
  std::int64_t added = 0;   ///< lines
  std::int64_t removed = 0; ///< lines
};

/// What a changeset sums up to.
struct change_totals {
  std::int64_t files = 0;
  std::int64_t added = 0;
  std::int64_t removed = 0;
};

/// The durable records in `ahpd.db`: SQLite, WAL, synchronous FULL, foreign keys on, numbered
/// migrations in one transaction each. Not thread-safe: one thread owns it. Every member throws
/// store_error. Writes between `begin` and `commit` are one transaction; a write outside is its
/// own.
class store {
public:
  /// Opens or makes the file (0600) and brings it to the newest schema. ":memory:" keeps nothing. A
  /// file made by a newer program is refused with a sentence that names both numbers.
  explicit store(const std::string& path);
  ~store();
  store(const store&) = delete;
  store& operator=(const store&) = delete;

  void begin();
  void commit();
  void rollback(); ///< never throws; without a transaction it does nothing

  /// Runs `work` inside the open transaction; what it wrote is undone when it throws, and only
  /// that.
  void nested(const std::function<void()>& work);

  void put_session(const session_row& row); ///< insert or replace by id; its chats and turns stay
  /// With its chats, turns and active turns, its changes and their contents.
  void remove_session(const std::string& id);
  std::optional<session_row> find_session(const std::string& id);
  /// Newest first by (modified_ms, id), behind the row whose cursor `after` is (empty: from the
  /// newest). Nothing when `after` was not made by `cursor_of`.
  std::optional<std::vector<session_row>> list_sessions(std::size_t limit,
                                                        const std::string& after = {});
  /// Opaque to clients; stays valid when the row itself changes or goes.
  static std::string cursor_of(const session_row& row);
  std::int64_t count_sessions();

  void put_chat(const chat_row& row);
  void remove_chat(const std::string& uri);
  std::vector<chat_row> chats_of(const std::string& session_id);      ///< by ordinal
  std::optional<std::string> session_of_chat(const std::string& uri); ///< the session's id

  /// What the chat's agent calls the session behind it; empty: it has none yet. `put_chat` leaves
  /// it.
  std::string backend_of_chat(const std::string& uri);
  void set_backend_of_chat(const std::string& uri, const std::string& id);

  /// Gives the turn's ordinal. The chat must be there.
  std::int64_t append_turn(const std::string& chat, const json::value& turn);
  /// The newest `limit` turns with an ordinal below `before` (0: no bound), oldest first.
  std::vector<turn_row> turns_of(const std::string& chat, std::size_t limit,
                                 std::int64_t before = 0);
  std::int64_t count_turns(const std::string& chat);
  void remove_turns_after(const std::string& chat, std::int64_t ordinal); ///< 0: all

  void put_active_turn(const active_turn_row& row); ///< one per chat, which must be there
  void remove_active_turn(const std::string& chat);
  std::vector<active_turn_row> active_turns();

  void put_change(const std::string& session, const change_row& row); ///< insert or replace
  void remove_change(const std::string& session, const std::string& scope, const std::string& file);
  std::optional<change_row> find_change(const std::string& session, const std::string& scope,
                                        const std::string& file);
  /// In the order in which they came.
  std::vector<change_row> changes_of(const std::string& session, const std::string& scope);
  change_totals totals_of(const std::string& session, const std::string& scope);

  /// Contents are never replaced, and go with their session, or when no change names them any more.
  void put_content(const std::string& session, const std::string& id, std::string_view bytes);
  std::optional<std::string> content(const std::string& session, const std::string& id);
  std::int64_t content_bytes(const std::string& session); ///< of all of them
  void drop_unused_content(const std::string& session, const std::string& id);

  void put_run(const run_row& row);
  void remove_run(const std::string& marker);
  std::vector<run_row> runs();

  void put_machine(const std::string& id, const json::value& record);
  void remove_machine(const std::string& id);
  std::optional<json::value> find_machine(const std::string& id);

  std::int64_t number(const std::string& key, std::int64_t otherwise); ///< named counters
  void set_number(const std::string& key, std::int64_t value);

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace ahpd::config
