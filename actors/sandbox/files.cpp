#include "actors/sandbox/files.hpp"

#include "actors/sandbox/file_answers.hpp"
#include "protocol/ahp/uris.hpp"
#include "protocol/aio/text_edit.hpp"
#include "runtimes/disk/content.hpp"
#include "runtimes/disk/trees.hpp"

#include <algorithm>

namespace ahpd::sandbox {

namespace {

constexpr std::size_t most_listed = 10'000;

std::optional<std::size_t> number_of(const json::object& from, std::string_view member) {
  const auto* value = from.if_contains(member);
  return value ? std::optional(value->to_number<std::size_t>()) : std::nullopt;
}

/// The member that a version has for the path of one file.
const char* file_member(const call& c) {
  return is_v1(c) ? "file" : "path";
}

void read_file(call& c) {
  if (is_v1(c) && flag_of(c.body, "sudo"))
    owner_of(c); // whether this process may be root
  const auto path = path_of(c, file_member(c));
  const auto text = disk::read_text(path);
  const auto& asked = is_v1(c) ? c.body : c.query;
  const auto start = number_of(asked, "start_line"), end = number_of(asked, "end_line");
  const auto part = start || end ? aio::lines_of(text, start.value_or(0), end) : text;
  c.succeed(json::object{{"content", part}, {"file", shown(path)}});
}

/// The bytes that a body means.
std::string content_of(const call& c, const std::string& path) {
  const auto& body = c.body;
  const auto content = c.text("content");
  const auto encoding = c.text("encoding");
  const auto refused = [&](const char* why) {
    return disk::fault(disk::fault_kind::bad_request, why, path);
  };
  if (encoding == "base64") {
    auto bytes = ahp::base64_decode(content);
    return bytes ? std::move(*bytes) : throw refused("content is not valid base64");
  }
  if (encoding == "raw") {
    auto bytes = aio::bytes_of_characters(content);
    return bytes ? std::move(*bytes)
                 : throw refused("content has a character above U+00FF, which is no byte");
  }
  return (flag_of(body, "leading_newline") ? "\n" : "") + content +
         (flag_of(body, "trailing_newline") ? "\n" : "");
}

void write_file(call& c) {
  const auto path = path_of(c, file_member(c));
  const auto bytes = content_of(c, path);
  disk::write_file(path, bytes,
                   flag_of(c.body, "append") ? disk::writing::append : disk::writing::replace,
                   owner_of(c));
  c.succeed(json::object{{"file", shown(path)}, {"bytes_written", bytes.size()}});
}

void stat_file(call& c) {
  const auto path = path_of(c);
  const auto what = disk::look_at(path, flag_of(is_v1(c) ? c.body : c.query, "follow_symlinks"));
  c.succeed(json::object{{"path", shown(path)},
                         {"size", what.size},
                         {"permissions", permissions_text(what.mode)},
                         {"is_directory", what.is_folder},
                         {"is_symlink", what.is_link},
                         {"modified_time", std::to_string(what.modified)}});
}

struct listing {
  std::vector<disk::entry> entries;
  bool truncated = false;
};

listing list(const std::string& path, const json::object& asked,
             const std::function<bool(const disk::entry&)>& wanted) {
  disk::walk_rules rules;
  rules.hidden = flag_of(asked, "show_hidden");
  rules.depth =
    flag_of(asked, "recursive") ? number_of(asked, "max_depth").value_or(rules.depth) : 1;
  listing out;
  disk::walk(path, rules, [&](const disk::entry& each) {
    if (!wanted(each))
      return disk::then::go_on;
    out.truncated = out.entries.size() == most_listed;
    if (out.truncated)
      return disk::then::stop;
    out.entries.push_back(each);
    return disk::then::go_on;
  });
  return out;
}

void answer_listing(call& c, const std::string& path, json::array files, std::size_t folders,
                    bool truncated) {
  const auto count = files.size();
  c.succeed(json::object{{"path", shown(path)},
                         {"files", std::move(files)},
                         {"total_count", count},
                         {"file_count", count - folders},
                         {"directory_count", folders},
                         {"truncated", truncated}});
}

std::size_t count_folders(const listing& of) {
  return static_cast<std::size_t>(std::count_if(of.entries.begin(), of.entries.end(),
                                                [](const auto& each) { return each.is_folder; }));
}

void list_files(call& c) {
  const auto path = path_of(c);
  auto found = list(path, c.query, [](const disk::entry&) { return true; });
  std::sort(found.entries.begin(), found.entries.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  json::array files;
  for (const auto& each : found.entries)
    files.push_back(listed_entry(path, each));
  answer_listing(c, path, std::move(files), count_folders(found), found.truncated);
}

bool has_extension(const disk::entry& what, const json::array& types) {
  return std::any_of(types.begin(), types.end(), [&](const json::value& each) {
    const auto& type = each.as_string();
    const std::string ending = (type.starts_with('.') ? "" : ".") + std::string(type);
    return what.name.size() > ending.size() && what.name.ends_with(ending);
  });
}

void list_files_v1(call& c) {
  const auto path = path_of(c);
  const auto* types = c.body.if_contains("file_types");
  auto found = list(path, c.body, [&](const disk::entry& each) {
    return !types || types->as_array().empty() || each.is_folder ||
           has_extension(each, types->as_array());
  });
  sort_entries(found.entries, c.text("sort_by"), flag_of(c.body, "sort_desc"));
  json::array files;
  for (const auto& each : found.entries) {
    auto file = listed_entry(path, each);
    if (!flag_of(c.body, "include_size"))
      file.erase("size");
    if (flag_of(c.body, "include_permissions"))
      file["permissions"] = permissions_text(each.mode);
    files.push_back(std::move(file));
  }
  answer_listing(c, path, std::move(files), count_folders(found), found.truncated);
}

void replace_v1(call& c) {
  const auto path = path_of(c, "file");
  const auto whose = owner_of(c);
  const auto alone =
    c.host->edits.editing(disk::key_of(disk::find_place(path, disk::last_link::follow)));
  const auto text = disk::read_text(path);
  const auto old_text = c.text("old_str");
  if (old_text.empty())
    throw disk::fault(disk::fault_kind::bad_request, "old_str must not be empty", path);
  const auto made = aio::replace_text(text, old_text, c.text("new_str"), aio::occurrences::all);
  const auto* changed = std::get_if<aio::edited>(&made); // nothing is there to be replaced
  if (changed)
    disk::write_file(path, changed->text, disk::writing::replace, whose);
  c.succeed(
    json::object{{"file", shown(path)}, {"replaced_count", changed ? changed->replaced : 0}});
}

void make_directory(call& c) {
  const auto path = path_of(c);
  const bool created = disk::make_folder(path, flag_of(c.body, "parents"), owner_of(c));
  c.succeed(json::object{{"path", shown(path)}, {"created", created}});
}

void copy_file(call& c) {
  const auto from = path_of(c, "source"), to = path_of(c, "destination");
  const auto done = disk::copy(from, to, flag_of(c.body, "overwrite"), owner_of(c));
  c.succeed(json::object{{"source", shown(from)},
                         {"destination", shown(to)},
                         {"files_copied", done.files},
                         {"bytes_copied", done.bytes}});
}

void move_file(call& c) {
  const auto from = path_of(c, "source"), to = path_of(c, "destination");
  disk::move(from, to, flag_of(c.body, "overwrite"));
  c.succeed(json::object{{"source", shown(from)}, {"destination", shown(to)}});
}

void delete_file(call& c) {
  const auto path = path_of(c);
  const bool was_folder = disk::remove(path, flag_of(c.body, "recursive"));
  c.succeed(json::object{{"path", shown(path)}, {"is_directory", was_folder}},
            was_folder ? "Directory deleted successfully" : "File deleted successfully");
}

} // namespace

std::vector<handler> file_handlers() {
  return {{"readFile", served_on_pool<read_file>},
          {"writeFile", served_on_pool<write_file>},
          {"statFile", served_on_pool<stat_file>},
          {"listFiles", served_on_pool<list_files>},
          {"makeDirectory", served_on_pool<make_directory>},
          {"copyFile", served_on_pool<copy_file>},
          {"moveFile", served_on_pool<move_file>},
          {"deleteFile", served_on_pool<delete_file>},
          {"readFileV1", served_on_pool<read_file>},
          {"writeFileV1", served_on_pool<write_file>},
          {"replaceInFileV1", served_on_pool<replace_v1>},
          {"statFileV1", served_on_pool<stat_file>},
          {"listFilesV1", served_on_pool<list_files_v1>},
          {"makeDirectoryV1", served_on_pool<make_directory>},
          {"copyFileV1", served_on_pool<copy_file>},
          {"moveFileV1", served_on_pool<move_file>},
          {"deleteFileV1", served_on_pool<delete_file>}};
}

} // namespace ahpd::sandbox
