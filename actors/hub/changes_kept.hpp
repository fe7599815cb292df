#pragma once

#include "config/store.hpp"
#include "protocol/ahp/changesets.hpp"
#include "protocol/json.hpp"

#include <string>
#include <utility>
#include <vector>

/// What the store keeps of a session's changesets. Called on the store's thread.
namespace ahpd::hub {

/// Contents of one session; an edit beyond is listed without.
inline constexpr std::int64_t most_kept_bytes = 64 << 20;

/// What an edit made of a session's changesets.
struct recorded_edit {
  std::vector<std::pair<std::string, json::value>> actions; ///< by scope, in order
  json::value summary;                                      ///< ChangesSummary of the session
};

/// Puts an edit into the changeset of its turn and the session's. A file that ends as it began is
/// taken out, and a file that is edited again is not reviewed any more.
recorded_edit record_edit(config::store& db, const std::string& session_id,
                          const std::string& turn_scope, const ahp::file_edit& edit);

/// `changeset/filesReviewChanged`.
void record_review(config::store& db, const std::string& session_id, const std::string& scope,
                   const json::value& action);

/// ChangesSummary of a session; null when nothing was edited.
json::value changes_summary(config::store& db, const std::string& session_id);

/// ChangesetState.
json::value load_changeset(config::store& db, const std::string& session_id,
                           const std::string& scope);

} // namespace ahpd::hub
