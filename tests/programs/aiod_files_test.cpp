// `/v2/fs/*` of the real aiod: reading, writing, listing, changing, copying and deleting.

#include "tests/programs/aiod_files_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ahpd;
using fixture = tests::files_fixture;
using tests::check_error;
using tests::stat_of;
namespace fs = std::filesystem;

TEST_CASE("aiod files: read gives a text to the letter, and ranges of lines") {
  fixture f;
  const std::string text = "one\r\ntwo\n\n\xc3\xa4\"\\\nlast";
  f.put("a", text);
  CHECK(f.get("read", "a").text("content") == text);
  CHECK(f.get("read", "a").text("file") == f.at("a"));
  CHECK(f.get("read", "a", "&start_line=0&end_line=1").text("content") == "one");
  CHECK(f.get("read", "a", "&start_line=1&end_line=3").text("content") == "two\n");
  CHECK(f.get("read", "a", "&start_line=3").text("content") == "\xc3\xa4\"\\\nlast");
  CHECK(f.get("read", "a", "&start_line=9").text("content") == "");
  CHECK(f.get("read", "a", "&end_line=1").text("content") == "one");
  CHECK(f.get("read", "a", "&start_line=-1").status == 422);
  CHECK(f.aiod.ask("GET", "/v2/fs/read").status == 422);

  check_error(f.get("read", "absent"), 404, "not_found", "ENOENT");
  CHECK(f.get("read", "absent").message() ==
        "Failed to read file: No such file or directory (os error 2)");
  check_error(f.get("read", "."), 400, "invalid_target", "EISDIR");
  CHECK(f.get("read", ".").text("exception_type") == "IsADirectoryError");
  check_error(f.get("read", "a/b"), 400, "invalid_target", "ENOTDIR");
  f.put("latin", "\xe4");
  check_error(f.get("read", "latin"), 422, "decode_error", "");
  f.put("large", std::string((16u << 20) + 1, 'x'));
  check_error(f.get("read", "large"), 400, "bad_request", "");
  CHECK(f.get("read", "large").message() == "file exceeds the 16 MiB buffered text limit");
  fs::resize_file(f.at("large"), 16u << 20);
  CHECK(f.get("read", "large").text("content").size() == 16u << 20);
  check_error(f.aiod.ask("GET", "/v2/fs/read?path=a%00b"), 400, "invalid_path", "");
}

TEST_CASE("aiod files: what is no regular file is never waited for") {
  fixture f;
  REQUIRE(::mkfifo(f.at("fifo").c_str(), 0600) == 0);
  check_error(f.get("read", "fifo"), 400, "invalid_target", "");
  check_error(f.post("write", {{"path", "fifo"}, {"content", "x"}}), 400, "invalid_target", "");
  check_error(f.post("write", {{"path", "fifo"}, {"content", "x"}, {"append", true}}), 400,
              "invalid_target", "");
  check_error(f.post("copy", {{"source", "fifo"}, {"destination", "b"}}), 400, "invalid_target",
              "");
  CHECK(f.aiod.ask("GET", "/v2/fs/read?path=/dev/zero").status == 400);
  CHECK(f.aiod.ask("GET", "/v2/fs/read?path=/proc/self/status").text("content").find("aiod") !=
        std::string::npos);
}

TEST_CASE("aiod files: write keeps the file it writes to, and makes the folders on the way") {
  fixture f;
  auto got = f.post("write", {{"path", "x/y/a"}, {"content", "h\xc3\xa4\n"}});
  CHECK(got.status == 200);
  CHECK(got.data().at("bytes_written") == 4);
  CHECK(f.disk("x/y/a") == "h\xc3\xa4\n");
  fs::permissions(f.at("x/y/a"), fs::perms(0640));
  fs::create_symlink("x/y/a", f.at("link"));
  const auto before = stat_of(f.at("x/y/a"));
  f.post("write", {{"path", "link"}, {"content", "s"}});
  CHECK(f.disk("x/y/a") == "s");
  CHECK(stat_of(f.at("x/y/a")).st_ino == before.st_ino);
  CHECK((stat_of(f.at("x/y/a")).st_mode & 0777) == 0640);
  CHECK(fs::is_symlink(f.at("link")));

  f.post("write", {{"path", "x/y/a"}, {"content", "t"}, {"append", true}});
  CHECK(f.disk("x/y/a") == "st");
  f.post("write",
         {{"path", "n"}, {"content", "m"}, {"leading_newline", true}, {"trailing_newline", true}});
  CHECK(f.disk("n") == "\nm\n");
  f.post("write",
         {{"path", "b"}, {"content", "AP/+"}, {"encoding", "base64"}, {"trailing_newline", true}});
  CHECK(f.disk("b") == std::string("\0\xff\xfe", 3));
  got = f.post("write", {{"path", "r"}, {"content", "\xc3\xbf\xc2\x80z"}, {"encoding", "raw"}});
  CHECK(got.data().at("bytes_written") == 3);
  CHECK(f.disk("r") == "\xff\x80z");
  check_error(f.post("write", {{"path", "r"}, {"content", "\xe2\x82\xac"}, {"encoding", "raw"}}),
              400, "bad_request", "");
  check_error(f.post("write", {{"path", "r"}, {"content", "!"}, {"encoding", "base64"}}), 400,
              "bad_request", "");
  CHECK(f.disk("r") == "\xff\x80z");
  CHECK(f.post("write", {{"path", "r"}, {"content", ""}, {"encoding", "x"}}).status == 422);
  check_error(f.post("write", {{"path", "x"}, {"content", ""}}), 400, "invalid_target", "EISDIR");
  check_error(f.post("write", {{"path", "new/"}, {"content", ""}}), 400, "invalid_target",
              "EISDIR");
  check_error(f.post("write", {{"path", "n/a"}, {"content", ""}}), 400, "invalid_target",
              "ENOTDIR");
}

TEST_CASE("aiod files: names that are no text are reached by bytes and by URI") {
  fixture f;
  const std::string name = "\xff\xfe n";
  f.put(name, "bytes");
  CHECK(f.get("read", name).text("content") == "bytes");
  const auto listed = f.get("list", ".").data().at("files").as_array();
  REQUIRE(listed.size() == 1);
  const auto uri = json::text(listed[0], "path");
  CHECK(uri.substr(0, 8) == "file:///");
  CHECK(uri.substr(uri.size() - 10) == "%FF%FE%20n");
  const auto moved =
    f.aiod.ask("POST", "/v2/fs/move", json::value{{"source", uri}, {"destination", f.at("text")}});
  CHECK_MESSAGE(moved.status == 200, moved.body);
  CHECK(f.disk("text") == "bytes");
  CHECK(f.aiod.ask("GET", "/v2/fs/read?path=file:///%25").status == 400);
}

TEST_CASE("aiod files: stat and list tell what there is") {
  fixture f;
  f.put("b.txt", "12345");
  f.put(".hid/x.tar.gz", "");
  f.put("d/e/deep", "1");
  fs::create_directory_symlink("d", f.at("to_d"));
  fs::create_symlink("nothing", f.at("dangling"));
  fs::permissions(f.at("b.txt"), fs::perms(0640));
  auto got = f.get("stat", "b.txt").data();
  CHECK(got.at("size") == 5);
  CHECK(json::text(got, "permissions") == "640");
  CHECK(json::text(got, "modified_time") == std::to_string(stat_of(f.at("b.txt")).st_mtim.tv_sec));
  CHECK(got.at("is_directory") == false);
  got = f.get("stat", "to_d").data();
  CHECK(got.at("is_directory") == true);
  CHECK(got.at("is_symlink") == true);
  CHECK(f.get("stat", "to_d", "&follow_symlinks=false").data().at("is_directory") == false);
  CHECK(f.get("stat", "dangling").status == 404);
  CHECK(f.get("stat", "dangling", "&follow_symlinks=false").data().at("is_symlink") == true);

  const auto names = [&](const std::string& more) {
    std::string out;
    const auto data = f.get("list", ".", more).data();
    for (const auto& each : data.at("files").as_array())
      out += json::text(each, "path").substr(f.at(".").size() + 1) + " ";
    return out;
  };
  CHECK(names("") == ".hid b.txt d dangling to_d ");
  CHECK(names("&show_hidden=false") == "b.txt d dangling to_d ");
  CHECK(names("&recursive=true") == ".hid .hid/x.tar.gz b.txt d d/e d/e/deep dangling to_d ");
  CHECK(names("&recursive=true&max_depth=2") == ".hid .hid/x.tar.gz b.txt d d/e dangling to_d ");
  const auto data = f.get("list", ".").data();
  CHECK(data.at("total_count") == 5);
  CHECK(data.at("file_count") == 2);
  CHECK(data.at("directory_count") == 3);
  CHECK(data.at("truncated") == false);
  const auto& hidden = data.at("files").at(0);
  CHECK(hidden.at("is_hidden") == true);
  CHECK(hidden.at("extension").is_null());
  const auto& text = data.at("files").at(1);
  CHECK(!text.as_object().contains("is_hidden"));
  CHECK(!text.as_object().contains("permissions"));
  CHECK(json::text(text, "extension") == ".txt");
  CHECK(text.at("modified_time").is_string());
  CHECK(data.at("files").at(4).at("is_directory") == true);
  check_error(f.get("list", "b.txt"), 400, "invalid_target", "ENOTDIR");
}

TEST_CASE("aiod files: a listing ends at 10,000 entries") {
  fixture f;
  for (int i = 0; i < 10'000; ++i)
    REQUIRE(::mknod(f.at("n" + std::to_string(i)).c_str(), S_IFREG | 0600, 0) == 0);
  CHECK(f.get("list", ".").data().at("truncated") == false);
  f.put("more", "");
  const auto data = f.get("list", ".").data();
  CHECK(data.at("truncated") == true);
  CHECK(data.at("total_count") == 10'000);
}

TEST_CASE("aiod files: edit replaces, inserts and undoes") {
  fixture f;
  f.put("a", "one\ntwo\none\n");
  const auto edit = [&](json::object body) {
    body["path"] = "a";
    return f.post("edit", std::move(body));
  };
  const auto replace = [&](const char* from, const char* to, json::object more = {}) {
    more["command"] = "str_replace";
    more["old_str"] = from;
    more["new_str"] = to;
    return edit(std::move(more));
  };
  check_error(replace("three", ""), 400, "bad_request", "");
  CHECK(replace("three", "").message() == "old_str not found in file");
  CHECK(replace("one", "1").message() ==
        "old_str has multiple occurrences; replace_mode is required");
  CHECK(f.disk("a") == "one\ntwo\none\n");
  auto got = replace("two", "2");
  CHECK(got.text("old_content") == "one\ntwo\none\n");
  CHECK(got.text("new_content") == "one\n2\none\n");
  CHECK(got.text("output") == "     1\tone\n     2\t2\n     3\tone\n");
  CHECK(got.data().at("prev_exist") == true);
  CHECK(got.data().at("error").is_null());
  replace("one", "first", {{"replace_mode", "FIRST"}});
  replace("one", "last", {{"replace_mode", "LAST"}});
  CHECK(f.disk("a") == "first\n2\nlast\n");
  replace("st\n", "\n", {{"replace_mode", "ALL"}});
  CHECK(f.disk("a") == "fir\n2\nla\n");
  edit({{"command", "insert"}, {"insert_line", 0}, {"new_str", "top"}});
  CHECK(f.disk("a") == "top\nfir\n2\nla\n");
  CHECK(edit({{"command", "insert"}, {"insert_line", 9}, {"new_str", "x"}}).message() ==
        "insert_line must be between 0 and 4");
  CHECK(edit({{"command", "insert"}, {"insert_line", 1}}).message() == "new_str is required");
  for (const char* was : {"fir\n2\nla\n", "first\n2\nlast\n", "first\n2\none\n", "one\n2\none\n",
                          "one\ntwo\none\n"}) {
    CHECK(edit({{"command", "undo_edit"}}).text("new_content") == was);
    CHECK(f.disk("a") == was);
  }
  check_error(edit({{"command", "undo_edit"}}), 400, "bad_request", "");
  CHECK(edit({{"command", "view"}}).status == 400);
  CHECK(edit({{"command", "view"}}).message().find("GET /v2/fs/read") != std::string::npos);
  CHECK(edit({{"command", "create"}}).message().find("POST /v2/fs/write") != std::string::npos);
  check_error(f.post("edit", {{"command", "str_replace"}, {"path", "no"}, {"old_str", "a"}}), 404,
              "not_found", "ENOENT");
}

TEST_CASE("aiod files: mkdir, copy, move and delete") {
  fixture f;
  CHECK(f.post("mkdir", {{"path", "d"}}).data().at("created") == true);
  check_error(f.post("mkdir", {{"path", "d"}}), 409, "already_exists", "EEXIST");
  CHECK(f.post("mkdir", {{"path", "d"}, {"parents", true}}).data().at("created") == false);
  check_error(f.post("mkdir", {{"path", "p/q"}}), 404, "not_found", "ENOENT");
  CHECK(f.post("mkdir", {{"path", "p/q"}, {"parents", true}}).status == 200);

  f.put("d/a", "12345");
  f.put("d/s/b", "6");
  fs::permissions(f.at("d/a"), fs::perms(0751));
  fs::create_symlink("a", f.at("d/l"));
  auto got = f.post("copy", {{"source", "d"}, {"destination", "c"}}).data();
  CHECK(got.at("files_copied") == 2);
  CHECK(got.at("bytes_copied") == 6);
  CHECK(f.disk("c/a") == "12345");
  CHECK((stat_of(f.at("c/a")).st_mode & 0777) == 0751);
  CHECK(fs::read_symlink(f.at("c/l")) == "a");
  f.post("copy", {{"source", "d/l"}, {"destination", "l2"}});
  CHECK(fs::read_symlink(f.at("l2")) == "a");

  check_error(f.post("copy", {{"source", "d"}, {"destination", "c"}}), 409, "already_exists",
              "EEXIST");
  check_error(f.post("move", {{"source", "d/a"}, {"destination", "c/a"}}), 409, "already_exists",
              "EEXIST");
  f.put("d/a", "new");
  f.put("c/only", "");
  CHECK(f.post("copy", {{"source", "d"}, {"destination", "c"}, {"overwrite", true}}).status == 200);
  CHECK(f.disk("c/a") == "new");
  CHECK(!fs::exists(f.at("c/only")));
  check_error(f.post("copy", {{"source", "d/a"}, {"destination", "c"}, {"overwrite", true}}), 400,
              "invalid_target", "EISDIR");
  check_error(f.post("move", {{"source", "d"}, {"destination", "c/a"}, {"overwrite", true}}), 400,
              "invalid_target", "ENOTDIR");
  check_error(f.post("copy", {{"source", "d"}, {"destination", "d/s/d"}}), 400, "bad_request", "");
  check_error(f.post("move", {{"source", "d"}, {"destination", "d/s/d"}}), 400, "bad_request", "");
  check_error(f.post("copy", {{"source", "no"}, {"destination", "x"}}), 404, "not_found", "ENOENT");
  CHECK(f.post("move", {{"source", "d/a"}, {"destination", "c/a"}, {"overwrite", true}}).status ==
        200);
  CHECK(!fs::exists(f.at("d/a")));
  CHECK(f.post("move", {{"source", "c"}, {"destination", "d"}, {"overwrite", true}}).status == 200);
  CHECK(f.disk("d/a") == "new");

  check_error(f.post("delete", {{"path", "d"}}), 400, "invalid_target", "ENOTEMPTY");
  fs::create_directory_symlink("d", f.at("dl"));
  got = f.post("delete", {{"path", "dl/"}, {"recursive", true}}).data();
  CHECK(got.at("is_directory") == false);
  CHECK(f.disk("d/a") == "new");
  CHECK(f.post("delete", {{"path", "d/a"}}).message() == "File deleted successfully");
  const auto gone = f.post("delete", {{"path", "d"}, {"recursive", true}});
  CHECK(gone.message() == "Directory deleted successfully");
  CHECK(gone.data().at("is_directory") == true);
  check_error(f.post("delete", {{"path", "d"}}), 404, "not_found", "ENOENT");
  CHECK(f.names() == 2); // nothing half made is left
  CHECK(
    f.aiod.ask("POST", "/v2/fs/delete", json::value{{"path", "/"}, {"recursive", true}}).status ==
    400);
}

TEST_CASE("aiod files: what is made belongs to whom the call names") {
  if (::geteuid() != 0)
    return tests::skip("root");
  fixture f;
  fs::permissions(f.at("."), fs::perms::all);
  const auto owned = [&](const std::string& name) { return stat_of(f.at(name)).st_uid; };
  const auto nobody = f.aiod.run({{"command", "id -u nobody"}});
  const auto uid = static_cast<uid_t>(std::stoul(json::text(nobody, "stdout")));

  CHECK(f.post("write", {{"path", "x/y/a"}, {"content", "1"}}, "?user=nobody").status == 200);
  for (const char* made : {"x", "x/y", "x/y/a"})
    CHECK(owned(made) == uid);
  f.put("old", "12");
  fs::permissions(f.at("old"), fs::perms(0640));
  fs::create_symlink("old", f.at("link"));
  const auto before = stat_of(f.at("old"));
  f.post("write", {{"path", "link"}, {"content", "3"}, {"append", true}}, "?user=nobody");
  CHECK(f.disk("old") == "123");
  CHECK(owned("old") == uid);
  CHECK(stat_of(f.at("old")).st_ino != before.st_ino);
  CHECK((stat_of(f.at("old")).st_mode & 0777) == 0640);
  CHECK(fs::is_symlink(f.at("link")));
  f.put("plain/in", "1");
  f.post("copy", {{"source", "plain"}, {"destination", "copied"}}, "?user=nobody");
  CHECK(owned("copied") == uid);
  CHECK(owned("copied/in") == uid);
  f.post("mkdir", {{"path", "m/n"}, {"parents", true}}, "?user=nobody");
  CHECK(owned("m") == uid);
  CHECK(owned("m/n") == uid);
  f.post("edit", {{"command", "str_replace"}, {"path", "plain/in"}, {"old_str", "1"}},
         "?user=nobody");
  CHECK(owned("plain/in") == uid);
  CHECK(f.disk("plain/in") == "");

  const auto names = f.names();
  auto got = f.post("write", {{"path", "no"}, {"content", "1"}}, "?user=nobody-such");
  CHECK(got.status == 400);
  CHECK(got.message() == "no such user: nobody-such");
  CHECK(f.names() == names);

  fixture g({"--default-user", "nobody"});
  fs::permissions(g.at("."), fs::perms::all);
  g.post("write", {{"path", "d"}, {"content", "1"}});
  CHECK(stat_of(g.at("d")).st_uid == uid);
  g.post("write", {{"path", "r"}, {"content", "1"}}, "?user=root");
  CHECK(stat_of(g.at("r")).st_uid == 0);
  fixture h({"--default-user", "nobody-such"});
  got = h.post("write", {{"path", "d"}, {"content", "1"}});
  CHECK(got.status == 400);
  CHECK(h.get("stat", "d").status == 404);
}

TEST_CASE("aiod files: a full disk is told, and leaves the old file as it was") {
  fixture f;
  f.put("small/.keep", "");
  const auto where = f.at("small");
  if (::mount("tmpfs", where.c_str(), "tmpfs", 0, "size=64k") != 0)
    return tests::skip("the right to mount a tmpfs");
  const std::unique_ptr<const std::string, void (*)(const std::string*)> unmount(
    &where, [](const std::string* it) { ::umount2(it->c_str(), MNT_DETACH); });
  f.put("small/a", "old");
  f.put("big", std::string(200u << 10, 'x'));
  const std::string big(100u << 10, 'y');
  for (const auto& query : {std::string(), "?user=" + std::to_string(::geteuid())}) {
    check_error(f.post("write", {{"path", "small/a"}, {"content", big}}, query), 507,
                "no_space_left", "ENOSPC");
    CHECK(f.disk("small/a") == "old");
    check_error(f.post("write", {{"path", "small/a"}, {"content", big}, {"append", true}}, query),
                507, "no_space_left", "ENOSPC");
    CHECK(f.disk("small/a") == "old");
    check_error(f.post("write", {{"path", "small/new"}, {"content", big}}, query), 507,
                "no_space_left", "ENOSPC");
  }
  check_error(f.post("copy", {{"source", "big"}, {"destination", "small/a"}, {"overwrite", true}}),
              507, "no_space_left", "ENOSPC");
  check_error(f.post("move", {{"source", "big"}, {"destination", "small/b"}}), 507, "no_space_left",
              "ENOSPC");
  CHECK(fs::exists(f.at("big")));
  CHECK(f.disk("small/a") == "old");
  CHECK(f.post("move", {{"source", "small/a"}, {"destination", "a"}}).status == 200); // across
  CHECK(f.disk("a") == "old");
  CHECK(fs::is_empty(where));
}
