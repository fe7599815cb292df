#include "actors/sandbox/file_edits.hpp"

#include "actors/sandbox/file_answers.hpp"
#include "protocol/aio/text_edit.hpp"
#include "protocol/utf8.hpp"
#include "runtimes/disk/content.hpp"
#include "runtimes/disk/trees.hpp"

#include <algorithm>

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

void edit(call& c, const std::string& path) {
  const auto key = disk::key_of(disk::find_place(path, disk::last_link::follow));
  const auto alone = c.host->edits.editing(key);
  c.text("command") == "undo_edit" ? undo(c, path, key) : change(c, path, key);
}

/// Lines of a view range: from 1, the last one included, -1 for the end.
std::pair<std::size_t, std::size_t> view_range(const call& c, const std::string& path,
                                               std::size_t lines) {
  const auto* given = c.body.if_contains("view_range");
  if (!given)
    return {0, lines};
  const auto& range = given->as_array();
  const auto at = [&](std::size_t i) { return range.at(i).to_number<std::int64_t>(); };
  if (range.size() != 2 || at(0) < 1 || (at(1) != -1 && at(1) < at(0)))
    throw refused("view_range must be [first, last], from 1, with -1 for the last line", path);
  if (static_cast<std::uint64_t>(at(0)) > std::max<std::size_t>(lines, 1))
    throw refused("view_range begins behind the last line, which is " + std::to_string(lines),
                  path);
  return {static_cast<std::size_t>(at(0) - 1),
          at(1) == -1 ? lines : static_cast<std::size_t>(at(1))};
}

/// A folder's view: what is in it and in the folders in it.
std::string names_in(const std::string& path) {
  constexpr std::size_t most = 10'000;
  std::vector<std::string> found{shown(path)};
  disk::walk(path, {2, false, false}, [&](const disk::entry& each) {
    found.push_back(shown(joined_path(path, each.path)));
    return found.size() > most ? disk::then::stop : disk::then::go_on;
  });
  std::sort(found.begin(), found.end());
  std::string out;
  for (const auto& each : found)
    out += each + "\n";
  return out;
}

void view(call& c, const std::string& path) {
  if (disk::look_at(path, true).is_folder)
    return c.succeed(
      json::object{{"output", names_in(path)}, {"path", shown(path)}, {"prev_exist", true}});
  const auto text = disk::read_text(path);
  const auto [first, end] = view_range(c, path, aio::count_lines(text));
  c.succeed(json::object{
    {"output", aio::numbered(text, first, end)}, {"path", shown(path)}, {"prev_exist", true}});
}

void create(call& c, const std::string& path) {
  const auto& text = needed(c, "file_text", path).as_string();
  const auto whose = owner_of(c);
  const auto key = disk::key_of(disk::make_place(path, disk::last_link::follow, whose));
  const auto alone = c.host->edits.editing(key);
  const auto before = now_in(path);
  disk::write_file(path, text, disk::writing::replace, whose);
  c.host->edits.add(key, before);
  answer(c, path, "File created successfully at: " + shown(path), before, std::string(text));
}

/// Version 1's, whose commands are more.
void str_replace_editor(call& c) {
  const auto path = path_of(c);
  const auto command = c.text("command");
  if (command == "view")
    return view(c, path);
  if (command == "create")
    return create(c, path);
  edit(c, path);
}

void edit_file(call& c) {
  const auto path = path_of(c);
  const auto command = c.text("command");
  if (command == "view")
    throw refused("view is not a command of this route; use GET /v2/fs/read", path);
  if (command == "create")
    throw refused("create is not a command of this route; use POST /v2/fs/write", path);
  edit(c, path);
}

} // namespace

std::vector<handler> file_edit_handlers() {
  return {{"editFile", served_on_pool<edit_file>},
          {"strReplaceEditorV1", served_on_pool<str_replace_editor>}};
}

} // namespace ahpd::sandbox
