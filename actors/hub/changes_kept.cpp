#include "actors/hub/changes_kept.hpp"

#include "protocol/ahp/file_uri.hpp"
#include "protocol/random.hpp"

#include <algorithm>
#include <set>

namespace ahpd::hub {

namespace {

/// One edit on its way into the store.
struct recording {
  config::store& db;
  const std::string& session;
  const ahp::file_edit& edit;
  json::object shown = {};             ///< FileEdit
  std::set<std::string> contents = {}; ///< ids that may be named by no change at the end
  recorded_edit out = {};
};

std::string megabytes(std::int64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

json::object keep(recording& r, const ahp::edit_side& side, const std::string& known_id,
                  const std::optional<std::string>& known) {
  const auto without = [&](const std::string& why) {
    return ahp::side_without_content(side.path, r.session, why);
  };
  if (!side.text)
    return without(side.missing);
  const auto& text = *side.text;
  if (text.size() > ahp::most_content_bytes)
    return without("it is larger than " + megabytes(ahp::most_content_bytes));
  if (known == text)
    return ahp::kept_side(side.path, r.session, known_id, text.size());
  if (r.db.content_bytes(r.session) + static_cast<std::int64_t>(text.size()) > most_kept_bytes)
    return without("the changesets of this session hold " + megabytes(most_kept_bytes) +
                   ", which is the most");
  const auto id = random_hex(16);
  r.db.put_content(r.session, id, text);
  r.contents.insert(id);
  return ahp::kept_side(side.path, r.session, id, text.size());
}

/// Keeps both sides. What a file was before is nearly always what it was last.
void keep_sides(recording& r) {
  const auto& from = r.edit.before ? r.edit.before : r.edit.after;
  const auto known =
    r.db.find_change(r.session, std::string(ahp::session_scope), ahp::file_uri(from->path));
  const auto id = known ? known->after : std::string();
  const auto last = id.empty() ? std::nullopt : r.db.content(r.session, id);
  if (r.edit.before)
    r.shown["before"] = keep(r, *r.edit.before, id, last);
  if (r.edit.after)
    r.shown["after"] = keep(r, *r.edit.after, id, last);
}

/// The bytes of one side: "" when it is not there, nothing when they are not kept.
std::optional<std::string> bytes_of(recording& r, const json::value* side) {
  if (!side)
    return std::string();
  const auto id = ahp::content_id(side);
  return id.empty() ? std::nullopt : r.db.content(r.session, id);
}

/// Makes a row of a file, with its lines counted; nothing when it ends as it began.
std::optional<config::change_row> row_of(recording& r, const std::string& scope,
                                         json::object file) {
  auto& edit = file.at("edit").get_object();
  const auto* before = edit.if_contains("before");
  const auto* after = edit.if_contains("after");
  config::change_row row{scope, std::string(file.at("id").get_string()), nullptr,
                         ahp::content_id(before), ahp::content_id(after)};
  const auto was = bytes_of(r, before);
  const auto is = bytes_of(r, after);
  if (before && after && was && was == is && before->at("uri") == after->at("uri"))
    return std::nullopt;
  if (const auto lines = was && is ? ahp::count_lines(*was, *is) : std::nullopt) {
    row.added = lines->added;
    row.removed = lines->removed;
    edit["diff"] = json::object{{"added", lines->added}, {"removed", lines->removed}};
  }
  row.document = std::move(file);
  return row;
}

void may_be_unused(recording& r, const std::optional<config::change_row>& row) {
  if (row)
    r.contents.insert({row->before, row->after});
}

json::value counted(const config::change_totals& totals) {
  return {{"additions", totals.added}, {"deletions", totals.removed}, {"files", totals.files}};
}

void merge_into(recording& r, const std::string& scope) {
  const auto id = ahp::file_id(r.shown);
  const auto known = r.db.find_change(r.session, scope, id);
  if (known && !known->after.empty()) {
    const auto last = r.db.content(r.session, known->after);
    if (last && ahp::is_known(*last, r.edit))
      return;
  }
  auto file = ahp::merge_edit(known ? &known->document : nullptr, r.shown);
  auto row = file ? row_of(r, scope, std::move(*file)) : std::nullopt;
  may_be_unused(r, known);
  if (known && (!row || row->file != known->file)) {
    r.db.remove_change(r.session, scope, known->file);
    r.out.actions.emplace_back(
      scope, json::object{{"type", "changeset/fileRemoved"}, {"fileId", known->file}});
  }
  if (!row)
    return;
  const auto there = r.db.find_change(r.session, scope, row->file);
  if (!there &&
      r.db.totals_of(r.session, scope).files >= static_cast<std::int64_t>(ahp::most_changed_files))
    return;
  may_be_unused(r, there);
  r.db.put_change(r.session, *row);
  r.out.actions.emplace_back(
    scope, json::object{{"type", "changeset/fileSet"}, {"file", std::move(row->document)}});
}

} // namespace

recorded_edit record_edit(config::store& db, const std::string& session_id,
                          const std::string& turn_scope, const ahp::file_edit& edit) {
  recording r{db, session_id, edit};
  keep_sides(r);
  merge_into(r, turn_scope);
  merge_into(r, std::string(ahp::session_scope));
  for (const auto& id : r.contents)
    db.drop_unused_content(session_id, id);
  r.out.summary = counted(db.totals_of(session_id, std::string(ahp::session_scope)));
  return std::move(r.out);
}

void record_review(config::store& db, const std::string& session_id, const std::string& scope,
                   const json::value& action) {
  for (const auto& file : action.at("files").get_array()) {
    auto row = db.find_change(session_id, scope, std::string(file.get_string()));
    if (!row)
      continue;
    row->document.as_object()["reviewed"] = action.at("reviewed");
    db.put_change(session_id, *row);
  }
}

json::value changes_summary(config::store& db, const std::string& session_id) {
  const auto totals = db.totals_of(session_id, std::string(ahp::session_scope));
  return totals.files == 0 ? json::value(nullptr) : counted(totals);
}

json::value load_changeset(config::store& db, const std::string& session_id,
                           const std::string& scope) {
  json::array files;
  for (auto& row : db.changes_of(session_id, scope))
    files.push_back(std::move(row.document));
  return ahp::changeset_state(std::move(files));
}

} // namespace ahpd::hub
