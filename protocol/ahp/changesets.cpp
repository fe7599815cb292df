#include "protocol/ahp/changesets.hpp"

#include "protocol/ahp/file_uri.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/percent.hpp"

#include <algorithm>
#include <vector>

namespace ahpd::ahp {

namespace {

using json::object;
using json::value;

constexpr std::string_view leaf = "/changeset/";
constexpr std::string_view turn_prefix = "turn/";
constexpr std::string_view no_content = "none";
constexpr std::string_view missing_key = "ahpd.missing";
constexpr std::size_t longest_turn_id = 256; ///< bytes, as `shapes::max_id_bytes`

std::string content_uri_of(std::string_view session_id, std::string_view id) {
  return std::string(content_scheme) + ":/" + std::string(session_id) + "/" + std::string(id);
}

object side(std::string_view path, object content) {
  return {{"uri", file_uri(path)}, {"content", std::move(content)}};
}

std::string uri_of(const value& side) {
  return std::string(json::string_member(side, "uri").value_or(""));
}

/// Absolute and without "." or ".."; nothing for another path, and for one that leaves the root.
std::optional<std::string> normal_path(std::string_view path) {
  if (path.empty() || path.front() != '/' || path.find('\0') != std::string_view::npos)
    return std::nullopt;
  std::vector<std::string_view> names;
  while (!path.empty()) {
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    const auto name = path.substr(0, path.find('/'));
    path.remove_prefix(name.size());
    if (name == ".." && names.empty())
      return std::nullopt;
    if (name == "..")
      names.pop_back();
    else if (!name.empty() && name != ".")
      names.push_back(name);
  }
  std::string out;
  for (const auto name : names)
    out.append("/").append(name);
  return out.empty() ? "/" : out;
}

bool is_below(std::string_view path, const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(), [&](std::string_view folder) {
    if (folder.empty())
      return false;
    while (folder.ends_with('/'))
      folder.remove_suffix(1);
    return path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/';
  });
}

} // namespace

std::optional<file_edit> inside(file_edit edit, const std::vector<std::string>& folders) {
  for (auto* side : {&edit.before, &edit.after}) {
    auto path = *side ? normal_path((*side)->path) : std::nullopt;
    if (path && is_below(*path, folders))
      (*side)->path = std::move(*path);
    else
      side->reset();
  }
  if (!edit.before && !edit.after)
    return std::nullopt;
  return edit;
}

std::optional<changeset_uri> parse_changeset_uri(std::string_view uri) {
  const auto at = uri.rfind(leaf);
  if (at == std::string_view::npos || !plausible_uri(uri) || !session_id(uri.substr(0, at)))
    return std::nullopt;
  changeset_uri out{std::string(uri.substr(0, at)), std::string(session_scope)};
  const auto scope = uri.substr(at + leaf.size());
  if (scope == session_scope)
    return out;
  if (!scope.starts_with(turn_prefix))
    return std::nullopt;
  const auto turn = percent::decode(scope.substr(turn_prefix.size()));
  if (!turn || turn->empty() || turn->size() > longest_turn_id)
    return std::nullopt;
  out.scope = turn_scope(*turn);
  return out;
}

std::string changeset_uri_of(std::string_view session, std::string_view scope) {
  return std::string(session) + std::string(leaf) + std::string(scope);
}

std::string turn_scope(std::string_view turn_id) {
  return std::string(turn_prefix) + percent::encode(turn_id);
}

json::array changeset_catalogue(std::string_view session) {
  const auto entry = [&](const char* kind, const char* label, const char* about,
                         std::string_view scope) {
    return object{{"label", label},
                  {"uriTemplate", changeset_uri_of(session, scope)},
                  {"changeKind", kind},
                  {"description", about},
                  {"capabilities", {{"review", object{}}}}};
  };
  return {entry("session", "Session", "What the agent edited in this session.", session_scope),
          entry("turn", "Turn", "What the agent edited in one turn.", "turn/{turnId}")};
}

std::optional<content_uri> parse_content_uri(std::string_view uri) {
  const auto prefix = std::string(content_scheme) + ":/";
  if (!plausible_uri(uri) || !uri.starts_with(prefix))
    return std::nullopt;
  uri.remove_prefix(prefix.size());
  const auto slash = uri.find('/');
  if (slash == 0 || slash == std::string_view::npos || slash + 1 == uri.size())
    return std::nullopt;
  return content_uri{std::string(uri.substr(0, slash)), std::string(uri.substr(slash + 1))};
}

json::object kept_side(std::string_view path, std::string_view session_id, std::string_view id,
                       std::size_t bytes) {
  return side(path, {{"uri", content_uri_of(session_id, id)}, {"sizeHint", bytes}});
}

json::object side_without_content(std::string_view path, std::string_view session_id,
                                  std::string_view why) {
  return side(
    path, {{"uri", content_uri_of(session_id, no_content)}, {"_meta", object{{missing_key, why}}}});
}

std::string content_id(const json::value* side) {
  const auto* content = side ? json::member(*side, "content") : nullptr;
  const auto uri =
    content ? parse_content_uri(json::string_member(*content, "uri").value_or("")) : std::nullopt;
  return !uri || uri->id == no_content ? std::string() : uri->id;
}

std::string file_id(const json::object& edit) {
  const auto* before = edit.if_contains("before");
  return uri_of(before ? *before : edit.at("after"));
}

std::optional<json::object> merge_edit(const json::value* known, const json::object& edit) {
  const auto* first =
    known ? json::member(known->at("edit"), "before") : edit.if_contains("before");
  const auto* last = edit.if_contains("after");
  if (!first && !last)
    return std::nullopt;
  object sides;
  if (first)
    sides["before"] = *first;
  if (last)
    sides["after"] = *last;
  const auto id = uri_of(last ? *last : *first);
  return object{{"id", id}, {"edit", std::move(sides)}};
}

bool is_known(const std::string& known, const file_edit& edit) {
  const auto text = [](const std::optional<edit_side>& side) -> const std::string* {
    return side && side->text ? &*side->text : nullptr;
  };
  const auto* was = text(edit.before);
  const auto* now = text(edit.after);
  if (!now || (edit.before && edit.before->path != edit.after->path))
    return false;
  if (*now == known)
    return true;
  return edit.told && was && *was != known && !now->empty() &&
         known.find(*now) != std::string::npos;
}

json::value changeset_state(json::array files) {
  object out{{"status", "ready"}};
  if (files.size() >= most_changed_files) {
    out["status"] = "error";
    out["error"] = object{{"errorType", "tooManyFiles"},
                          {"message", "This changeset lists " + std::to_string(most_changed_files) +
                                        " files, which is the most; what was edited beyond them "
                                        "is not in it"}};
  }
  out["files"] = std::move(files);
  return out;
}

} // namespace ahpd::ahp
