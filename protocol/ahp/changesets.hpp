#pragma once

#include "protocol/ahp/line_counts.hpp"
#include "protocol/json.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Changesets of what an agent edits (AHP "Changeset channel"): their names, and how one edit after
/// the other becomes a document.
namespace ahpd::ahp {

/// Of one side of an edit; more is listed without content.
inline constexpr std::size_t most_content_bytes = 1u << 20;

/// A file before or after an edit.
struct edit_side {
  std::string path;                ///< absolute, where the agent runs
  std::optional<std::string> text; ///< any bytes; one more than the most when there are more
  std::string missing = {};        ///< without a text: the sentence why
};

/// What became of a file: without `before` it was made, without `after` deleted, with two paths
/// moved.
struct file_edit {
  std::optional<edit_side> before;
  std::optional<edit_side> after;
  bool told = false; ///< by the agent; else this host saw both sides itself
};

/// The sides of an edit that are below one of the folders, their paths without "." and "..": what
/// is moved out of them is deleted there. Nothing when no side is, or when a path is not absolute.
std::optional<file_edit> inside(file_edit edit, const std::vector<std::string>& folders);

// ---- names --------------------------------------------------------------------------------------

/// `<session>/changeset/<scope>`.
struct changeset_uri {
  std::string session; ///< as it was spelled
  std::string scope;   ///< "session", or "turn/" and the turn's id, percent-encoded
};
std::optional<changeset_uri> parse_changeset_uri(std::string_view uri);
std::string changeset_uri_of(std::string_view session, std::string_view scope);

inline constexpr std::string_view session_scope = "session";
std::string turn_scope(std::string_view turn_id);

/// Changeset[] of a session: one for all of it, one a turn.
json::array changeset_catalogue(std::string_view session);

/// `ahp-content:/<session id>/<id>`: one side of an edit as it was, to be read.
struct content_uri {
  std::string session_id;
  std::string id;
};
std::optional<content_uri> parse_content_uri(std::string_view uri);
inline constexpr std::string_view content_scheme = "ahp-content";

// ---- documents ----------------------------------------------------------------------------------

/// A side of a FileEdit whose bytes are kept under `id`.
json::object kept_side(std::string_view path, std::string_view session_id, std::string_view id,
                       std::size_t bytes);

/// The same when nothing is kept: the content's `_meta` holds "ahpd.missing", the sentence why, and
/// reading it says that it is not there.
json::object side_without_content(std::string_view path, std::string_view session_id,
                                  std::string_view why);

/// The id in the content of a side; empty when nothing is kept, or the side is not there.
std::string content_id(const json::value* side);

/// The id of the file that an edit is about, as a changeset knows it before.
std::string file_id(const json::object& edit);

/// The ChangesetFile that `known` (null: not listed) becomes by a FileEdit: the first `before` and
/// the last `after`. Nothing when the file was not there before and is not there now.
std::optional<json::object> merge_edit(const json::value* known, const json::object& edit);

/// Whether an edit is no news of a file whose last content is `known`: it is what is there already.
/// Agents also tell the piece alone that they put in, of files that this host wrote for them.
bool is_known(const std::string& known, const file_edit& edit);

/// ChangesetState of these files. With as many as a changeset lists it is in error and says so:
/// what was edited beyond is not there.
json::value changeset_state(json::array files);
inline constexpr std::size_t most_changed_files = 2000;

} // namespace ahpd::ahp
