#pragma once

#include "config/sqlite.hpp"
#include "config/store.hpp"

#include <string>
#include <string_view>

namespace ahpd::config {

/// What the parts of the store (store.cpp, store_changes.cpp) share.
struct store::impl {
  /// Far above what the wire lets in, so that whatever was written can be read.
  static constexpr std::size_t max_depth = 512;

  sqlite::database db;

  json::value document(const sqlite::query& q, int column, std::string_view what) const {
    std::string error;
    auto v = json::parse_text(q.text(column), max_depth, error);
    if (!v)
      throw store_error(db.path() + " is damaged: " + std::string(what) + " is not JSON: " + error);
    return std::move(*v);
  }

  session_row session(const sqlite::query& q) const {
    return {std::string(q.text(0)), std::string(q.text(1)), q.number(2), q.number(3),
            document(q, 4, "a session")};
  }

  change_row change(const sqlite::query& q) const {
    return {std::string(q.text(0)),
            std::string(q.text(1)),
            document(q, 2, "a change"),
            std::string(q.text(3)),
            std::string(q.text(4)),
            q.number(5),
            q.number(6)};
  }

  /// For writes that name a chat, which must be there.
  void changed_one(std::string_view chat) const {
    if (db.changes() == 0)
      throw store_error(db.path() + " holds no chat " + std::string(chat));
  }
};

} // namespace ahpd::config
