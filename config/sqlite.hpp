#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

struct sqlite3;
struct sqlite3_stmt;

/// The little of SQLite that the store needs, with store_error for every failure.
namespace ahpd::config::sqlite {

/// One open database. Not thread-safe.
class database {
public:
  /// Opens the file, or makes it (0600), without reading it. ":memory:" is a database of its own.
  explicit database(const std::string& path);
  ~database();
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  const std::string& path() const { return path_; }

  /// Runs statements that take no value and whose rows do not matter.
  void run(const char* sql);
  /// The first column of the first row; 0 without a row.
  std::int64_t number(const char* sql);
  std::string text(const char* sql);

  bool in_transaction() const;
  std::int64_t changes() const; ///< rows that the last statement changed

  /// Throws store_error with the file and SQLite's own reason.
  [[noreturn]] void fail() const;

private:
  friend class query;
  sqlite3_stmt* prepared(std::string_view sql);

  std::string path_;
  sqlite3* handle_ = nullptr;
  std::unordered_map<std::string_view, sqlite3_stmt*> statements_; ///< keys are literals
};

/// One run of a statement. `sql` must be a literal: its prepared form is kept with the database.
class query {
public:
  query(database& db, const char* sql);
  ~query();
  query(const query&) = delete;
  query& operator=(const query&) = delete;

  /// Gives the next `?` its value. The text must live until the query ends.
  query& with(std::string_view text);
  query& with(std::int64_t number);
  query& with_bytes(std::string_view bytes); ///< of a BLOB; lives as long

  bool step(); ///< whether there is a row to read
  void run();  ///< steps to the end

  std::string_view text(int column) const;  ///< valid until the next step
  std::string_view bytes(int column) const; ///< of a BLOB; the same
  std::int64_t number(int column) const;

private:
  database& db_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

} // namespace ahpd::config::sqlite
