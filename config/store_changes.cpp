#include "config/store_impl.hpp"

namespace ahpd::config {

using sqlite::query;

void store::put_change(const std::string& session, const change_row& row) {
  const std::string document = json::serialize(row.document);
  query(impl_->db, "INSERT INTO change (session, scope, file, document, before, after, added,"
                   " removed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                   " ON CONFLICT (session, scope, file) DO UPDATE SET document = excluded.document,"
                   " before = excluded.before, after = excluded.after, added = excluded.added,"
                   " removed = excluded.removed")
    .with(session)
    .with(row.scope)
    .with(row.file)
    .with(document)
    .with(row.before)
    .with(row.after)
    .with(row.added)
    .with(row.removed)
    .run();
}

void store::remove_change(const std::string& session, const std::string& scope,
                          const std::string& file) {
  query(impl_->db, "DELETE FROM change WHERE session = ? AND scope = ? AND file = ?")
    .with(session)
    .with(scope)
    .with(file)
    .run();
}

std::optional<change_row> store::find_change(const std::string& session, const std::string& scope,
                                             const std::string& file) {
  query q(impl_->db, "SELECT scope, file, document, before, after, added, removed FROM change"
                     " WHERE session = ? AND scope = ? AND file = ?");
  q.with(session).with(scope).with(file);
  if (!q.step())
    return std::nullopt;
  return impl_->change(q);
}

std::vector<change_row> store::changes_of(const std::string& session, const std::string& scope) {
  query q(impl_->db, "SELECT scope, file, document, before, after, added, removed FROM change"
                     " WHERE session = ? AND scope = ? ORDER BY number");
  q.with(session).with(scope);
  std::vector<change_row> out;
  while (q.step())
    out.push_back(impl_->change(q));
  return out;
}

change_totals store::totals_of(const std::string& session, const std::string& scope) {
  query q(impl_->db, "SELECT count(*), coalesce(sum(added), 0), coalesce(sum(removed), 0)"
                     " FROM change WHERE session = ? AND scope = ?");
  q.with(session).with(scope);
  q.step();
  return {q.number(0), q.number(1), q.number(2)};
}

void store::put_content(const std::string& session, const std::string& id, std::string_view bytes) {
  query(impl_->db, "INSERT INTO content (session, id, size, bytes) VALUES (?, ?, ?, ?)")
    .with(session)
    .with(id)
    .with(static_cast<std::int64_t>(bytes.size()))
    .with_bytes(bytes)
    .run();
}

std::optional<std::string> store::content(const std::string& session, const std::string& id) {
  query q(impl_->db, "SELECT bytes FROM content WHERE session = ? AND id = ?");
  q.with(session).with(id);
  if (!q.step())
    return std::nullopt;
  return std::string(q.bytes(0));
}

std::int64_t store::content_bytes(const std::string& session) {
  query q(impl_->db, "SELECT coalesce(sum(size), 0) FROM content WHERE session = ?");
  q.with(session);
  q.step();
  return q.number(0);
}

void store::drop_unused_content(const std::string& session, const std::string& id) {
  query(impl_->db, "DELETE FROM content WHERE session = ?1 AND id = ?2 AND NOT EXISTS"
                   " (SELECT 1 FROM change WHERE session = ?1 AND (before = ?2 OR after = ?2))")
    .with(session)
    .with(id)
    .run();
}

} // namespace ahpd::config
