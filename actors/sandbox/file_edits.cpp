#include "actors/sandbox/file_edits.hpp"

#include "protocol/aio/text_edit.hpp"
#include "protocol/utf8.hpp"
#include "runtimes/disk/content.hpp"
#include "runtimes/disk/trees.hpp"

namespace ahpd::sandbox {

namespace {

using content = edit_history::content;

disk::fault refused(const std::string& why, const std::string& path) {
  return {disk::fault_kind::bad_request, why, path};
}

const json::value& needed(const call& c, const char* member, const std::string& path) {
  const auto* value = c.body.if_contains(member);
  return value ? *value : throw refused(std::string(member) + " is required", path);
}

aio::occurrences occurrences_of(const std::string& mode) {
  return mode == "ALL"     ? aio::occurrences::all
         : mode == "FIRST" ? aio::occurrences::first
         : mode == "LAST"  ? aio::occurrences::last
                           : aio::occurrences::only;
}

json::value told(const content& what) {
  return what && utf8::valid(*what) ? json::value(json::string(*what)) : json::value(nullptr);
}

void answer(call& c, const std::string& path, std::string output, const content& before,
            const content& after) {
  c.succeed(json::object{{"output", std::move(output)},
                         {"path", shown(path)},
                         {"old_content", told(before)},
                         {"new_content", told(after)},
                         {"prev_exist", before.has_value()},
                         {"error", nullptr}});
}

/// What a file holds; nothing when there is none.
content now_in(const std::string& path) {
  try {
    return disk::read_whole(path);
  } catch (const disk::fault& why) {
    if (why.error() == ENOENT)
      return std::nullopt;
    throw;
  }
}

aio::edited edit_of(const call& c, const std::string& path, const std::string& before) {
  auto made =
    c.text("command") == "insert"
      ? aio::insert_lines(before, needed(c, "insert_line", path).to_number<std::int64_t>(),
                          needed(c, "new_str", path).as_string())
      : aio::replace_text(before, needed(c, "old_str", path).as_string(), c.text("new_str"),
                          occurrences_of(c.text("replace_mode")));
  if (const auto* why = std::get_if<std::string>(&made))
    throw refused(*why, path);
  return std::get<aio::edited>(std::move(made));
}

void change(call& c, const std::string& path, const std::string& key) {
  const auto before = disk::read_text(path);
  const auto made = edit_of(c, path, before);
  disk::write_file(path, made.text, disk::writing::replace, owner_of(c));
  c.host->edits.add(key, before);
  answer(c, path, aio::snippet(made), before, made.text);
}

void undo(call& c, const std::string& path, const std::string& key) {
  const auto known = c.host->edits.newest(key);
  if (!known)
    throw refused("no edit of this file is known that could be undone", path);
  const auto before = now_in(path);
  if (*known)
    disk::write_file(path, **known, disk::writing::replace, owner_of(c));
  else if (before)
    disk::remove(path, false);
  c.host->edits.drop_newest(key);
  answer(c, path, "Last edit undone", before, *known);
}

void edit_file(call& c) {
  const auto path = path_of(c);
  const auto command = c.text("command");
  if (command == "view")
    throw refused("view is not a command of this route; use GET /v2/fs/read", path);
  if (command == "create")
    throw refused("create is not a command of this route; use POST /v2/fs/write", path);
  const auto key = disk::key_of(disk::find_place(path, disk::last_link::follow));
  const auto alone = c.host->edits.editing(key);
  command == "undo_edit" ? undo(c, path, key) : change(c, path, key);
}

} // namespace

std::vector<handler> file_edit_handlers() {
  return {{"editFile", served_on_pool<edit_file>}};
}

} // namespace ahpd::sandbox
