#include "protocol/aio/routes.hpp"

#include <array>

namespace ahpd::aio {

namespace {

constexpr const char* a_path =
  "Path; a relative one is below the daemon's directory. One that is no UTF-8, in a query or "
  "anywhere else, may be given as a file:/// URI, as answers give it.";

constexpr field owner = may("user", type::text, "Owner of what this creates.");
constexpr field only_owner[] = {owner};

constexpr field read[] = {
  need("path", type::text, a_path),
  may("start_line", type::integer, "First line, from 0.").at_least(0),
  may("end_line", type::integer, "The line behind the last.").at_least(0),
  owner,
};
constexpr field was_read[] = {
  need("content", type::text, "The text; of a range without the ending of its last line."),
  need("file", type::text, "Its path."),
};

constexpr field content = need("content", type::text, "What to write.");
constexpr field encoding =
  may("encoding", type::text, "Of the content; raw: each character is one byte.")
    .one_of("utf-8|base64|raw")
    .otherwise("\"utf-8\"");
constexpr field append = may("append", type::flag, "Behind what is there.").otherwise("false");
constexpr field leading =
  may("leading_newline", type::flag, "Begin with a newline; utf-8 alone.").otherwise("false");
constexpr field trailing =
  may("trailing_newline", type::flag, "End with a newline; utf-8 alone.").otherwise("false");

constexpr field write[] = {
  need("path", type::text, a_path), content, encoding, append, leading, trailing,
};
constexpr field written[] = {
  need("file", type::text, "Its path."),
  need("bytes_written", type::integer, "Bytes of the content."),
};

constexpr field follow =
  may("follow_symlinks", type::flag, "Tell of what a link names.").otherwise("true");
constexpr field stat[] = {need("path", type::text, a_path), follow, owner};
constexpr field facts[] = {
  need("path", type::text, "The path."),
  need("size", type::integer, "Bytes."),
  need("permissions", type::text, "Octal."),
  need("is_directory", type::flag, ""),
  need("is_symlink", type::flag, "Whether the path itself is a link."),
  need("modified_time", type::text, "Unix seconds."),
};

constexpr field recursive =
  may("recursive", type::flag, "With what is below its directories.").otherwise("false");
constexpr field depth =
  may("max_depth", type::integer, "1: the directory's own entries.").at_least(1);
constexpr field hidden =
  may("show_hidden", type::flag, "Names that begin with a dot, too.").otherwise("true");
constexpr field list[] = {need("path", type::text, a_path), recursive, depth, hidden, owner};
constexpr field listed_entry[] = {
  need("name", type::text, ""),
  need("path", type::text, "Whole path."),
  need("is_directory", type::flag, "A link is what it names."),
  may("size", type::integer, "Bytes."),
  need("extension", type::text, "With its dot; null of a directory.").or_null(),
  need("modified_time", type::text, "Unix seconds."),
  may("is_hidden", type::flag, "Only when true."),
  may("permissions", type::text, "Octal, when asked for."),
};
constexpr field listed[] = {
  need("path", type::text, "The directory."),
  need("files", type::objects, "What is in it.").holding(listed_entry),
  need("total_count", type::integer, "Entries here."),
  need("file_count", type::integer, "Those that are no directories."),
  need("directory_count", type::integer, "Those that are."),
  need("truncated", type::flag, "There are more."),
};

constexpr field edit[] = {
  need("command", type::text, "What to do.").one_of("str_replace|insert|undo_edit|view|create"),
  need("path", type::text, a_path),
  may("old_str", type::text, "What str_replace replaces, to the letter."),
  may("new_str", type::text, "What takes its place, or is inserted."),
  may("insert_line", type::integer, "The line behind which to insert; 0: at the top."),
  may("replace_mode", type::text, "Which of several occurrences.").one_of("ALL|FIRST|LAST"),
};
constexpr field edited[] = {
  need("output", type::text, "The lines around the change, with their numbers."),
  need("path", type::text, "The path."),
  need("old_content", type::text, "What the file held.").or_null(),
  need("new_content", type::text, "What it holds.").or_null(),
  need("prev_exist", type::flag, "Whether there was a file."),
  need("error", type::text, "Always null; failures have a status.").or_null(),
};

constexpr field mkdir[] = {
  need("path", type::text, a_path),
  may("parents", type::flag, "Make those it is in, too; one that is there is fine.")
    .otherwise("false"),
};
constexpr field made[] = {
  need("path", type::text, "The path."),
  need("created", type::flag, "False: it was there."),
};

constexpr field two_paths[] = {
  need("source", type::text, a_path),
  need("destination", type::text, a_path),
  may("overwrite", type::flag, "Replace what is there.").otherwise("false"),
};
constexpr field copied[] = {
  need("source", type::text, ""),
  need("destination", type::text, ""),
  need("files_copied", type::integer, "Regular files."),
  need("bytes_copied", type::integer, "Their bytes."),
};
constexpr field moved[] = {
  need("source", type::text, ""),
  need("destination", type::text, ""),
};

constexpr field remove[] = {
  need("path", type::text, a_path),
  may("recursive", type::flag, "A directory with all in it.").otherwise("false"),
};
constexpr field removed[] = {
  need("path", type::text, "The path."),
  need("is_directory", type::flag, "What it was."),
};

constexpr field upload[] = {
  need("file", type::text, "The bytes, with a file name."),
  may("path", type::text, "Where to; else the file's name in the directory for temporary files."),
};
constexpr field uploaded[] = {
  need("file_path", type::text, "Where it is."),
  need("file_size", type::integer, "Its bytes."),
  need("success", type::flag, ""),
};
constexpr field download[] = {
  need("path", type::text, a_path),
  may("change_policy", type::text,
      "abort: 409 or a broken connection when the file changes meanwhile.")
    .one_of("ignore|abort")
    .otherwise("\"ignore\""),
};

constexpr field pattern =
  need("pattern", type::text, "`**`, `*`, `?`, `[…]`; one without a slash is about names.");
constexpr field search[] = {need("path", type::text, a_path), pattern, owner};
constexpr field found[] = {
  need("path", type::text, "The directory."),
  need("pattern", type::text, "As it was given."),
  need("files", type::texts, "Whole paths of what is no directory."),
  need("truncated", type::flag, "There are more."),
};

constexpr field grep[] = {
  need("path", type::text, a_path),
  need("pattern", type::text, "Regular expression, without back-references and look-around."),
  may("recursive", type::flag, "With what is below its directories.").otherwise("true"),
  may("include", type::texts, "Globs of the files to search."),
  may("exclude", type::texts, "Globs of files and directories to pass over."),
  may("type", type::text, "Kind of files, as ripgrep names it."),
  may("case_insensitive", type::flag, "").otherwise("false"),
  may("fixed_strings", type::flag, "The pattern is a text.").otherwise("false"),
  may("multiline", type::flag, "Matches may span lines; a dot is a newline, too.")
    .otherwise("false"),
  may("context_before", type::integer, "Lines to tell before each match.")
    .between(0, 20)
    .otherwise("0"),
  may("context_after", type::integer, "Lines to tell behind each match.")
    .between(0, 20)
    .otherwise("0"),
  may("max_results", type::integer, "Matches in the answer.").between(1, 10'000).otherwise("500"),
  may("offset", type::integer, "Matches to pass over.").between(0, 1e9).otherwise("0"),
  may("max_file_size", type::text, "Larger files are passed over; with K, M or G.")
    .otherwise("\"1M\""),
};
constexpr field match[] = {
  need("file", type::text, "Whole path."),
  need("line_number", type::integer, "From 1."),
  need("line_content", type::text, "Without its ending."),
  may("context_before", type::texts, "When asked for."),
  may("context_after", type::texts, "When asked for."),
};
constexpr field matched[] = {
  need("path", type::text, "Where it was searched."),
  need("pattern", type::text, "As it was given."),
  need("matches", type::objects, "By path and line.").holding(match),
  need("match_count", type::integer, "Matches here."),
  need("files_searched", type::integer, "Null when the search was cut short.").or_null(),
  need("files_matched", type::integer, "Null when the search was cut short.").or_null(),
  need("truncated", type::flag, "There are more."),
};

constexpr field tree[] = {need("path", type::text, a_path)};
constexpr field put_tree[] = {need("path", type::text, a_path), owner};
constexpr field was_put[] = {
  need("path", type::text, "The directory."),
  need("mode", type::text, "rename: it was not there before.").one_of("rename|merge"),
  need("entries", type::integer, "Files, directories and links."),
  need("bytes", type::integer, "Of the files."),
};

constexpr route v2[] = {
  {"GET",
   "/v2/fs/read",
   "readFile",
   "files",
   "Read a text",
   read,
   takes::nothing,
   {},
   gives::object,
   was_read},
  {"POST", "/v2/fs/write", "writeFile", "files", "Write a file", only_owner, takes::json, write,
   gives::object, written},
  {"GET",
   "/v2/fs/stat",
   "statFile",
   "files",
   "What has a path",
   stat,
   takes::nothing,
   {},
   gives::object,
   facts},
  {"GET",
   "/v2/fs/list",
   "listFiles",
   "files",
   "What is in a directory",
   list,
   takes::nothing,
   {},
   gives::object,
   listed},
  {"POST", "/v2/fs/edit", "editFile", "files", "Change a text", only_owner, takes::json, edit,
   gives::object, edited},
  {"POST", "/v2/fs/mkdir", "makeDirectory", "files", "Make a directory", only_owner, takes::json,
   mkdir, gives::object, made},
  {"POST", "/v2/fs/copy", "copyFile", "files", "Copy a file or a directory", only_owner,
   takes::json, two_paths, gives::object, copied},
  {"POST", "/v2/fs/move", "moveFile", "files", "Move a file or a directory", only_owner,
   takes::json, two_paths, gives::object, moved},
  {"POST", "/v2/fs/delete", "deleteFile", "files", "Delete a file or a directory", only_owner,
   takes::json, remove, gives::object, removed},
  {"GET",
   "/v2/fs/search",
   "searchFiles",
   "files",
   "Find files by their names",
   search,
   takes::nothing,
   {},
   gives::object,
   found},
  {"POST", "/v2/fs/grep", "grepFiles", "files", "Find lines in files", only_owner, takes::json,
   grep, gives::object, matched},
  {"POST", "/v2/fs/upload", "uploadFile", "files", "Upload a file of any size", only_owner,
   takes::multipart, upload, gives::object, uploaded},
  {"GET",
   "/v2/fs/download",
   "downloadFile",
   "files",
   "A file's bytes, or a range of them",
   download,
   takes::nothing,
   {},
   gives::bytes},
  {"GET",
   "/v2/fs/tree",
   "getTree",
   "files",
   "A directory as a tar archive",
   tree,
   takes::nothing,
   {},
   gives::tar},
  {"PUT",
   "/v2/fs/tree",
   "putTree",
   "files",
   "Make a directory of a tar archive",
   put_tree,
   takes::tar,
   {},
   gives::object,
   was_put},
};

// ---- version 1 ----------------------------------------------------------------------------------

constexpr field a_file = need("file", type::text, a_path);
constexpr field sudo = may("sudo", type::flag, "As root.").otherwise("false");

constexpr field read_v1[] = {
  a_file,
  may("start_line", type::integer, "First line, from 0.").at_least(0),
  may("end_line", type::integer, "The line behind the last.").at_least(0),
  sudo,
};
constexpr field write_v1[] = {a_file, content, encoding, append, leading, trailing, sudo};
constexpr field replace_v1[] = {
  a_file,
  need("old_str", type::text, "What is replaced, wherever it is."),
  need("new_str", type::text, "What takes its place."),
  sudo,
};
constexpr field replaced_v1[] = {
  need("file", type::text, "Its path."),
  need("replaced_count", type::integer, "Occurrences."),
};
constexpr field search_v1[] = {
  a_file,
  need("regex", type::text, "Regular expression, without back-references and look-around."),
  sudo,
};
constexpr field searched_v1[] = {
  need("file", type::text, "Its path."),
  need("matches", type::texts, "The lines."),
  need("line_numbers", type::integers, "Their numbers, from 0."),
};
constexpr field find_v1[] = {
  need("path", type::text, a_path),
  need("glob", type::text, "`**`, `*`, `?`, `[…]`; one without a slash is about names."),
};
constexpr field found_v1[] = {
  need("path", type::text, "The directory."),
  need("files", type::texts, "Whole paths of what is no directory."),
};
constexpr field glob_v1[] = {
  need("path", type::text, a_path),
  pattern,
  may("exclude", type::texts, "Globs of what is passed over."),
  may("include_hidden", type::flag, "Names that begin with a dot, too.").otherwise("false"),
  may("files_only", type::flag, "No directories.").otherwise("true"),
  may("include_metadata", type::flag, "Sizes and times.").otherwise("true"),
  may("max_results", type::integer, "").between(1, 50'000).otherwise("5000"),
  may("sort_by", type::text, "").one_of("path|name|size|modified").otherwise("\"path\""),
  may("sort_desc", type::flag, "").otherwise("false"),
};
constexpr field globbed_entry[] = {
  need("path", type::text, "Whole path."),
  need("name", type::text, ""),
  need("is_directory", type::flag, ""),
  need("size", type::integer, "Bytes.").or_null(),
  need("modified_time", type::text, "Unix seconds.").or_null(),
};
constexpr field globbed_v1[] = {
  need("path", type::text, "The directory."),
  need("pattern", type::text, "As it was given."),
  need("files", type::objects, "").holding(globbed_entry),
  need("total_count", type::integer, "Files here."),
  need("truncated", type::flag, "There are more."),
};
constexpr field list_v1[] = {
  need("path", type::text, a_path),
  recursive,
  hidden,
  may("file_types", type::texts, "Extensions of the files to tell of."),
  depth,
  may("include_size", type::flag, "").otherwise("true"),
  may("include_permissions", type::flag, "").otherwise("false"),
  may("sort_by", type::text, "").one_of("name|size|modified|type").otherwise("\"name\""),
  may("sort_desc", type::flag, "").otherwise("false"),
};
constexpr field editor_v1[] = {
  need("command", type::text, "What to do.").one_of("view|create|str_replace|insert|undo_edit"),
  need("path", type::text, a_path),
  may("file_text", type::text, "Content of what is created."),
  may("old_str", type::text, "What str_replace replaces, to the letter."),
  may("new_str", type::text, "What takes its place, or is inserted."),
  may("insert_line", type::integer, "The line behind which to insert; 0: at the top."),
  may("view_range", type::integers, "First and last line, from 1; -1: the end."),
  may("replace_mode", type::text, "Which of several occurrences.").one_of("ALL|FIRST|LAST"),
};
constexpr field edited_v1[] = {
  need("output", type::text, "Lines with their numbers, or what was done."),
  need("path", type::text, "The path."),
  need("prev_exist", type::flag, "Whether it was there."),
  may("old_content", type::text, "What the file held.").or_null(),
  may("new_content", type::text, "What it holds.").or_null(),
  may("error", type::text, "Always null.").or_null(),
};
constexpr field stat_v1[] = {need("path", type::text, a_path), follow};

/// Failures are told by their answers; but for downloads, which have no other way than the status.
template <std::size_t n> constexpr std::array<route, n> telling_faults(std::array<route, n> all) {
  for (auto& each : all)
    each.tells_faults = each.out == gives::object;
  return all;
}

constexpr auto v1 = telling_faults(std::to_array<route>({
  {"POST",
   "/v1/file/read",
   "readFileV1",
   "file",
   "Read a text",
   {},
   takes::json,
   read_v1,
   gives::object,
   was_read},
  {"POST",
   "/v1/file/write",
   "writeFileV1",
   "file",
   "Write a file",
   {},
   takes::json,
   write_v1,
   gives::object,
   written},
  {"POST",
   "/v1/file/replace",
   "replaceInFileV1",
   "file",
   "Replace a text in a file",
   {},
   takes::json,
   replace_v1,
   gives::object,
   replaced_v1},
  {"POST",
   "/v1/file/search",
   "searchFileV1",
   "file",
   "Find lines in a file",
   {},
   takes::json,
   search_v1,
   gives::object,
   searched_v1},
  {"POST",
   "/v1/file/find",
   "findFilesV1",
   "file",
   "Find files by their names",
   {},
   takes::json,
   find_v1,
   gives::object,
   found_v1},
  {"POST",
   "/v1/file/glob",
   "globFilesV1",
   "file",
   "Find files by their names, with facts",
   {},
   takes::json,
   glob_v1,
   gives::object,
   globbed_v1},
  {"POST",
   "/v1/file/grep",
   "grepFilesV1",
   "file",
   "Find lines in files",
   {},
   takes::json,
   grep,
   gives::object,
   matched},
  {"POST",
   "/v1/file/list",
   "listFilesV1",
   "file",
   "What is in a directory",
   {},
   takes::json,
   list_v1,
   gives::object,
   listed},
  {"POST",
   "/v1/file/str_replace_editor",
   "strReplaceEditorV1",
   "file",
   "View or change a text",
   {},
   takes::json,
   editor_v1,
   gives::object,
   edited_v1},
  {"POST",
   "/v1/file/stat",
   "statFileV1",
   "file",
   "What has a path",
   {},
   takes::json,
   stat_v1,
   gives::object,
   facts},
  {"POST",
   "/v1/file/mkdir",
   "makeDirectoryV1",
   "file",
   "Make a directory",
   {},
   takes::json,
   mkdir,
   gives::object,
   made},
  {"POST",
   "/v1/file/copy",
   "copyFileV1",
   "file",
   "Copy a file or a directory",
   {},
   takes::json,
   two_paths,
   gives::object,
   copied},
  {"POST",
   "/v1/file/move",
   "moveFileV1",
   "file",
   "Move a file or a directory",
   {},
   takes::json,
   two_paths,
   gives::object,
   moved},
  {"POST",
   "/v1/file/delete",
   "deleteFileV1",
   "file",
   "Delete a file or a directory",
   {},
   takes::json,
   remove,
   gives::object,
   removed},
  {"POST",
   "/v1/file/upload",
   "uploadFileV1",
   "file",
   "Upload a file of any size",
   {},
   takes::multipart,
   upload,
   gives::object,
   uploaded},
  {"GET",
   "/v1/file/download",
   "downloadFileV1",
   "file",
   "A file's bytes, or a range of them",
   download,
   takes::nothing,
   {},
   gives::bytes},
}));

} // namespace

const std::span<const route> file_routes = v2;
const std::span<const route> file_routes_v1 = v1;

} // namespace ahpd::aio
