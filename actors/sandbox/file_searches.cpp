#include "actors/sandbox/file_searches.hpp"

#include "actors/sandbox/file_answers.hpp"
#include "protocol/utf8.hpp"
#include "runtimes/disk/entries.hpp"
#include "runtimes/disk/grep.hpp"
#include "runtimes/disk/patterns.hpp"

#include <algorithm>

namespace ahpd::sandbox {

namespace {

constexpr std::size_t most_found = 10'000;

std::vector<std::string> texts_of(const json::object& from, std::string_view member) {
  std::vector<std::string> out;
  if (const auto* list = from.if_contains(member))
    for (const auto& each : list->as_array())
      out.emplace_back(each.as_string());
  return out;
}

struct glob_order {
  std::string path;
  std::string pattern;
  std::vector<std::string> exclude;
  bool hidden = false;
  bool files_only = true;
  std::size_t most = most_found;
};

struct globbed {
  std::vector<disk::entry> files; ///< by path
  bool truncated = false;
};

globbed find_by_name(const glob_order& what) {
  disk::walk_rules rules;
  rules.hidden = what.hidden || disk::wants_hidden(what.pattern);
  globbed out;
  disk::walk(what.path, rules, [&](const disk::entry& each) {
    if (disk::is_of_any(what.exclude, each.path))
      return disk::then::skip;
    if ((what.files_only && each.is_folder) || !disk::is_of(what.pattern, each.path))
      return disk::then::go_on;
    out.truncated = out.files.size() == what.most;
    if (out.truncated)
      return disk::then::stop;
    out.files.push_back(each);
    return disk::then::go_on;
  });
  std::sort(out.files.begin(), out.files.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return out;
}

json::array paths_of(const std::string& root, const globbed& found) {
  json::array out;
  for (const auto& each : found.files)
    out.push_back(json::value(json::string(shown(joined_path(root, each.path)))));
  return out;
}

void search(call& c) {
  const auto path = path_of(c);
  const auto pattern = c.text("pattern");
  const auto found = find_by_name({path, pattern, {}});
  c.succeed(json::object{{"path", shown(path)},
                         {"pattern", utf8::repaired(pattern)},
                         {"files", paths_of(path, found)},
                         {"truncated", found.truncated}});
}

void find(call& c) {
  const auto path = path_of(c);
  const auto found = find_by_name({path, c.text("glob"), {}});
  c.succeed(json::object{{"path", shown(path)}, {"files", paths_of(path, found)}});
}

void glob(call& c) {
  glob_order order{path_of(c), c.text("pattern"), texts_of(c.body, "exclude")};
  order.hidden = flag_of(c.body, "include_hidden");
  order.files_only = flag_of(c.body, "files_only");
  order.most = c.body.at("max_results").to_number<std::size_t>();
  auto found = find_by_name(order);
  sort_entries(found.files, c.text("sort_by"), flag_of(c.body, "sort_desc"));
  const bool with_facts = flag_of(c.body, "include_metadata");
  json::array files;
  for (const auto& each : found.files) {
    json::object file{{"path", shown(joined_path(order.path, each.path))},
                      {"name", shown_name(each.name)},
                      {"is_directory", each.is_folder},
                      {"size", nullptr},
                      {"modified_time", nullptr}};
    if (with_facts) {
      file["size"] = each.size;
      file["modified_time"] = std::to_string(each.modified);
    }
    files.push_back(std::move(file));
  }
  c.succeed(json::object{{"path", shown(order.path)},
                         {"pattern", order.pattern},
                         {"files", std::move(files)},
                         {"total_count", found.files.size()},
                         {"truncated", found.truncated}});
}

json::array lines_in(const std::vector<std::string>& lines) {
  json::array out;
  for (const auto& each : lines)
    out.push_back(json::value(json::string(utf8::repaired(each))));
  return out;
}

disk::grep_request request_of(const call& c) {
  const auto& body = c.body;
  disk::grep_request out;
  out.path = path_of(c);
  out.pattern = c.text("pattern");
  out.type = c.text("type");
  out.include = texts_of(body, "include");
  out.exclude = texts_of(body, "exclude");
  const auto refused = [&](const char* why) {
    return disk::fault(disk::fault_kind::bad_request, why, out.path);
  };
  std::vector<std::string> all{out.pattern, out.type};
  all.insert(all.end(), out.include.begin(), out.include.end());
  all.insert(all.end(), out.exclude.begin(), out.exclude.end());
  for (const auto& each : all)
    if (each.find('\0') != std::string::npos)
      throw refused("a NUL byte can be in no pattern");
  out.recursive = flag_of(body, "recursive");
  out.case_insensitive = flag_of(body, "case_insensitive");
  out.fixed_strings = flag_of(body, "fixed_strings");
  out.multiline = flag_of(body, "multiline");
  const auto number = [&](const char* member) { return body.at(member).to_number<std::size_t>(); };
  out.context_before = number("context_before");
  out.context_after = number("context_after");
  out.max_results = number("max_results");
  out.offset = number("offset");
  const auto largest = disk::size_of_text(c.text("max_file_size"));
  if (!largest)
    throw refused("max_file_size must be a number of bytes, or one with K, M or G behind it");
  out.max_file_size = *largest;
  return out;
}

void grep(call& c) {
  const auto request = request_of(c);
  const auto found = disk::grep(request, c.host->environment);
  json::array matches;
  for (const auto& each : found.matches) {
    json::object match{{"file", shown(each.file)},
                       {"line_number", each.line},
                       {"line_content", utf8::repaired(each.content)}};
    if (request.context_before > 0)
      match["context_before"] = lines_in(each.before);
    if (request.context_after > 0)
      match["context_after"] = lines_in(each.after);
    matches.push_back(std::move(match));
  }
  const auto count = [](const std::optional<std::uint64_t>& n) {
    return n ? json::value(*n) : json::value(nullptr);
  };
  c.succeed(json::object{{"path", shown(request.path)},
                         {"pattern", request.pattern},
                         {"matches", std::move(matches)},
                         {"match_count", found.matches.size()},
                         {"files_searched", count(found.searched)},
                         {"files_matched", count(found.matched)},
                         {"truncated", found.truncated}});
}

/// The lines of one file.
void search_lines(call& c) {
  if (flag_of(c.body, "sudo"))
    owner_of(c); // whether this process may be root
  const auto path = path_of(c, "file");
  json::array lines, numbers;
  for (auto& [number, line] : disk::lines_with(path, c.text("regex"))) {
    lines.push_back(json::value(json::string(line)));
    numbers.push_back(json::value(number));
  }
  c.succeed(json::object{
    {"file", shown(path)}, {"matches", std::move(lines)}, {"line_numbers", std::move(numbers)}});
}

} // namespace

std::vector<handler> file_search_handlers() {
  return {{"searchFiles", served_on_pool<search>}, {"grepFiles", served_on_pool<grep>},
          {"grepFilesV1", served_on_pool<grep>},   {"globFilesV1", served_on_pool<glob>},
          {"findFilesV1", served_on_pool<find>},   {"searchFileV1", served_on_pool<search_lines>}};
}

} // namespace ahpd::sandbox
