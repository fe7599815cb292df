#include "config/schema.hpp"

#include "config/sqlite.hpp"
#include "config/store.hpp"

#include <iterator>
#include <string>

namespace ahpd::config {

namespace {

/// "ahpd" in ASCII: tells our file from another program's.
constexpr std::int64_t application_id = 0x61687064;

/// Step n brings a file from schema n to n + 1. A released step is never edited.
constexpr const char* steps[] = {
  R"(
    PRAGMA application_id = 1634234468; -- as above
    CREATE TABLE session (
      id TEXT NOT NULL PRIMARY KEY,
      uri TEXT NOT NULL,
      created_ms INTEGER NOT NULL,
      modified_ms INTEGER NOT NULL,
      state TEXT NOT NULL
    ) STRICT;
    CREATE INDEX session_by_age ON session (modified_ms, id);
    CREATE TABLE chat (
      number INTEGER PRIMARY KEY,
      uri TEXT NOT NULL UNIQUE,
      session TEXT NOT NULL REFERENCES session ON DELETE CASCADE,
      ordinal INTEGER NOT NULL,
      state TEXT NOT NULL
    ) STRICT;
    CREATE INDEX chat_by_session ON chat (session, ordinal);
    CREATE TABLE turn (
      chat INTEGER NOT NULL REFERENCES chat ON DELETE CASCADE,
      ordinal INTEGER NOT NULL,
      turn TEXT NOT NULL,
      UNIQUE (chat, ordinal)
    ) STRICT;
    CREATE TABLE active_turn (
      chat INTEGER PRIMARY KEY REFERENCES chat ON DELETE CASCADE,
      turn TEXT NOT NULL
    ) STRICT;
    CREATE TABLE run (
      marker TEXT NOT NULL PRIMARY KEY,
      place TEXT NOT NULL,
      chat TEXT NOT NULL
    ) STRICT;
    CREATE TABLE machine (id TEXT NOT NULL PRIMARY KEY, record TEXT NOT NULL) STRICT;
    CREATE TABLE counter (key TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) STRICT;
  )",
  R"(
    ALTER TABLE chat ADD COLUMN backend TEXT NOT NULL DEFAULT '';
  )",
  R"(
    CREATE TABLE change (
      number INTEGER PRIMARY KEY,
      session TEXT NOT NULL REFERENCES session ON DELETE CASCADE,
      scope TEXT NOT NULL,
      file TEXT NOT NULL,
      document TEXT NOT NULL,
      before TEXT NOT NULL,
      after TEXT NOT NULL,
      added INTEGER NOT NULL,
      removed INTEGER NOT NULL,
      UNIQUE (session, scope, file)
    ) STRICT;
    CREATE INDEX change_by_before ON change (session, before);
    CREATE INDEX change_by_after ON change (session, after);
    CREATE TABLE content (
      number INTEGER PRIMARY KEY,
      session TEXT NOT NULL REFERENCES session ON DELETE CASCADE,
      id TEXT NOT NULL,
      size INTEGER NOT NULL,
      bytes BLOB NOT NULL,
      UNIQUE (session, id)
    ) STRICT;
  )",
};

constexpr auto newest = static_cast<std::int64_t>(std::size(steps));

void refuse_others(sqlite::database& db, std::int64_t version) {
  const bool empty = db.number("SELECT count(*) FROM sqlite_schema") == 0 && version == 0;
  if (!empty && db.number("PRAGMA application_id") != application_id)
    throw store_error(db.path() + " is a database of another program");
  if (version > newest)
    throw store_error(db.path() + " was made by a newer ahpd: its schema is " +
                      std::to_string(version) + " and this one knows up to " +
                      std::to_string(newest));
}

} // namespace

void open_schema(sqlite::database& db) {
  refuse_others(db, db.number("PRAGMA user_version"));
  const std::string mode = db.text("PRAGMA journal_mode = WAL");
  if (mode != "wal" && db.path() != ":memory:")
    throw store_error(db.path() + " cannot use a write-ahead log here, SQLite keeps to " + mode);
  db.run("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;"
         "PRAGMA journal_size_limit = 67108864;");
  for (;;) {
    // The version is read again inside the transaction: another process may have gone first.
    db.run("BEGIN IMMEDIATE");
    try {
      const auto version = db.number("PRAGMA user_version");
      refuse_others(db, version);
      if (version == newest) {
        db.run("ROLLBACK");
        return;
      }
      db.run(steps[version]);
      db.run(("PRAGMA user_version = " + std::to_string(version + 1)).c_str());
      db.run("COMMIT");
    } catch (const store_error&) {
      if (db.in_transaction())
        db.run("ROLLBACK");
      throw;
    }
  }
}

} // namespace ahpd::config
