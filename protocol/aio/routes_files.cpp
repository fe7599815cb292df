#include "protocol/aio/routes.hpp"

namespace ahpd::aio {

namespace {

constexpr const char* a_path =
  "Path; a relative one is below the daemon's directory. One that is no UTF-8, in a query or "
  "anywhere else, may be given as a file:/// URI, as answers give it.";

constexpr field owner = may("user", type::text, "Owner of what this creates.");
constexpr field only_owner[] = {owner};

constexpr field one_path[] = {need("path", type::text, a_path), owner};

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
};

// ---- version 1 ----------------------------------------------------------------------------------

constexpr route v1[] = {
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
};

} // namespace

const std::span<const route> file_routes = v2;
const std::span<const route> file_routes_v1 = v1;

} // namespace ahpd::aio
