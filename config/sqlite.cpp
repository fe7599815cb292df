#include "config/sqlite.hpp"

#include "config/store.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace ahpd::config::sqlite {

namespace {

constexpr int busy_milliseconds = 5000;

/// SQLite would make the file with the umask's mode; its WAL and index take theirs from the file.
void make_private(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0)
    throw store_error(path + " could not be opened: " + std::strerror(errno));
  ::close(fd);
}

} // namespace

database::database(const std::string& path) : path_(path) {
  if (path != ":memory:")
    make_private(path);
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int rc = sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr);
  if (rc != SQLITE_OK) {
    const std::string why = sqlite3_errstr(rc);
    sqlite3_close_v2(handle_);
    throw store_error(path + " could not be opened: " + why);
  }
  sqlite3_busy_timeout(handle_, busy_milliseconds);
}

database::~database() {
  for (const auto& [sql, statement] : statements_)
    sqlite3_finalize(statement);
  sqlite3_close_v2(handle_);
}

void database::fail() const {
  const int code = sqlite3_errcode(handle_);
  if (code == SQLITE_NOTADB)
    throw store_error(path_ + " is not an SQLite database, or its beginning is damaged");
  if (code == SQLITE_CORRUPT)
    throw store_error(path_ + " is damaged: " + sqlite3_errmsg(handle_));
  throw store_error(path_ + ": " + sqlite3_errmsg(handle_));
}

void database::run(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    fail();
}

std::int64_t database::number(const char* sql) {
  query q(*this, sql);
  return q.step() ? q.number(0) : 0;
}

std::string database::text(const char* sql) {
  query q(*this, sql);
  return q.step() ? std::string(q.text(0)) : std::string();
}

bool database::in_transaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

std::int64_t database::changes() const {
  return sqlite3_changes64(handle_);
}

sqlite3_stmt* database::prepared(std::string_view sql) {
  auto& statement = statements_[sql];
  if (!statement &&
      sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    statements_.erase(sql);
    fail();
  }
  return statement;
}

query::query(database& db, const char* sql) : db_(db), statement_(db.prepared(sql)) {}

query::~query() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

query& query::with(std::string_view text) {
  // A null pointer would bind NULL: an empty view may hold one.
  const char* bytes = text.data() ? text.data() : "";
  if (sqlite3_bind_text64(statement_, ++bound_, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8) !=
      SQLITE_OK)
    db_.fail();
  return *this;
}

query& query::with(std::int64_t number) {
  if (sqlite3_bind_int64(statement_, ++bound_, number) != SQLITE_OK)
    db_.fail();
  return *this;
}

query& query::with_bytes(std::string_view bytes) {
  const char* first = bytes.data() ? bytes.data() : "";
  if (sqlite3_bind_blob64(statement_, ++bound_, first, bytes.size(), SQLITE_STATIC) != SQLITE_OK)
    db_.fail();
  return *this;
}

bool query::step() {
  const int rc = sqlite3_step(statement_);
  if (rc == SQLITE_ROW)
    return true;
  if (rc != SQLITE_DONE)
    db_.fail();
  return false;
}

void query::run() {
  while (step()) {
  }
}

std::string_view query::text(int column) const {
  const auto* bytes = sqlite3_column_text(statement_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return bytes ? std::string_view(reinterpret_cast<const char*>(bytes), size) : std::string_view();
}

std::string_view query::bytes(int column) const {
  const auto* first = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return first ? std::string_view(static_cast<const char*>(first), size) : std::string_view();
}

std::int64_t query::number(int column) const {
  return sqlite3_column_int64(statement_, column);
}

} // namespace ahpd::config::sqlite
