// Finding files and lines with aiod: `/v2/fs/search`, `/v2/fs/grep`, and version 1's file routes.

#include "tests/programs/aiod_files_support.hpp"

#include <algorithm>

#include <sys/stat.h>
#include <unistd.h>

using namespace ahpd;
using fixture = tests::files_fixture;
using tests::check_error;
using tests::stat_of;
namespace fs = std::filesystem;

namespace {

tests::aiod_answer v1(fixture& f, const std::string& route, json::object body) {
  for (const char* member : {"path", "file", "source", "destination"})
    if (auto* given = body.if_contains(member))
      *given = f.at(std::string(given->as_string()));
  return f.aiod.ask("POST", "/v1/file/" + route, json::value(std::move(body)));
}

/// Paths below the test's folder, one after the other.
std::string below(const fixture& f, const json::value& files) {
  std::string out;
  for (const auto& each : files.as_array()) {
    const auto path = each.is_string() ? std::string(each.as_string()) : json::text(each, "path");
    REQUIRE(path.size() > f.root.size());
    out += path.substr(f.root.size() + 1) + " ";
  }
  return out;
}

/// "file:number:line" of every match.
std::string matches(const fixture& f, const tests::aiod_answer& got) {
  REQUIRE_MESSAGE(got.status == 200, got.body);
  std::string out;
  const auto data = got.data();
  for (const auto& each : data.at("matches").as_array())
    out += json::text(each, "file").substr(f.root.size() + 1) + ":" +
           json::serialize(each.at("line_number")) + ":" + json::text(each, "line_content") + "\n";
  return out;
}

void fill(const fixture& f) {
  f.put("a.py", "import os\nneedle here\nlast\n");
  f.put("sub/b.py", "x\r\nNeedle\r\nneedle\r\n");
  f.put("sub/deep/c.txt", "no\nneedle (\n");
  f.put("node_modules/m.py", "needle\n");
  f.put(".hidden/h.py", "needle\n");
  f.put("bin.py", std::string("needle\n\0\n", 9));
  f.put("large.py", "needle\n" + std::string(1u << 20, 'x'));
  f.put("latin.md", "caf\xe9 needle\n");
  REQUIRE(::mkfifo(f.at("fifo.py").c_str(), 0600) == 0);
}

} // namespace

TEST_CASE("aiod search: globs find names at any depth and paths") {
  fixture f;
  fill(f);
  const auto search = [&](const std::string& pattern) {
    const auto got = f.get("search", ".", "&pattern=" + percent::encode(pattern));
    REQUIRE_MESSAGE(got.status == 200, got.body);
    CHECK(got.text("pattern") == pattern);
    CHECK(got.data().at("truncated") == false);
    auto files = got.data().at("files");
    std::string out;
    for (const auto& each : files.as_array())
      out += std::string(each.as_string()).substr(f.at("./").size()) + " ";
    return out;
  };
  CHECK(search("*.txt") == "sub/deep/c.txt ");
  CHECK(search("[ab].py") == "a.py sub/b.py ");
  CHECK(search("[!a-z]*") == "");
  CHECK(search("sub/*.py") == "sub/b.py ");
  CHECK(search("sub/**") == "sub/b.py sub/deep/c.txt ");
  CHECK(search("**/c.t?t") == "sub/deep/c.txt ");
  CHECK(search("h.py") == "");
  CHECK(search(".hidden/*") == ".hidden/h.py ");
  check_error(f.get("search", "no", "&pattern=x"), 404, "not_found", "ENOENT");
  CHECK(f.get("search", ".").status == 422);
}

TEST_CASE("aiod search: ends at 10,000 paths") {
  fixture f;
  for (int i = 0; i <= 10'000; ++i)
    REQUIRE(::mknod(f.at("n" + std::to_string(i)).c_str(), S_IFREG | 0600, 0) == 0);
  const auto data = f.get("search", ".", "&pattern=n*").data();
  CHECK(data.at("files").as_array().size() == 10'000);
  CHECK(data.at("truncated") == true);
}

TEST_CASE("aiod grep: ripgrep and the engine within give the same") {
  fixture with_rg;
  const auto nowhere = with_rg.aiod.folder() + "/nothing";
  fixture without_rg({}, {{"PATH", nowhere}});
  for (auto* it : {&with_rg, &without_rg}) {
    auto& f = *it;
    CAPTURE(it == &with_rg);
    fill(f);
    const auto grep = [&](json::object body) {
      if (!body.contains("path"))
        body["path"] = "";
      auto path = f.at(std::string(body["path"].as_string()));
      while (path.back() == '/')
        path.pop_back();
      body["path"] = path;
      return f.aiod.ask("POST", "/v2/fs/grep", json::value(std::move(body)));
    };
    auto got = grep({{"pattern", "^needle"}});
    CHECK(matches(f, got) == "a.py:2:needle here\nnode_modules/m.py:1:needle\n"
                             "sub/b.py:3:needle\nsub/deep/c.txt:2:needle (\n");
    CHECK(got.data().at("match_count") == 4);
    CHECK(got.data().at("files_matched") == 4);
    CHECK(got.data().at("truncated") == false);
    CHECK(!got.data().at("matches").at(0).as_object().contains("context_before"));

    CHECK(
      matches(
        f, grep({{"pattern", "needle"}, {"include", {"*.py"}}, {"exclude", {"node_modules"}}})) ==
      "a.py:2:needle here\nsub/b.py:3:needle\n");
    CHECK(matches(f, grep({{"pattern", "NEEDLE"},
                           {"case_insensitive", true},
                           {"type", "py"},
                           {"exclude", {"node_modules", "a.py"}}})) ==
          "sub/b.py:2:Needle\nsub/b.py:3:needle\n");
    CHECK(matches(f, grep({{"pattern", "needle ("}, {"fixed_strings", true}})) ==
          "sub/deep/c.txt:2:needle (\n");
    CHECK(matches(f, grep({{"pattern", "needle"}, {"recursive", false}})) ==
          "a.py:2:needle here\nlatin.md:1:caf\xef\xbf\xbd needle\n");
    CHECK(matches(f, grep({{"pattern", "needle"}, {"path", "sub/b.py"}})) == "sub/b.py:3:needle\n");
    CHECK(matches(f, grep({{"pattern", "os.needle"}, {"path", "a.py"}})) == "");
    CHECK(matches(f, grep({{"pattern", "os.needle"}, {"path", "a.py"}, {"multiline", true}})) ==
          "a.py:1:import os\nneedle here\n");

    got =
      grep({{"pattern", "needle"}, {"path", "a.py"}, {"context_before", 5}, {"context_after", 1}});
    const auto match = got.data().at("matches").at(0);
    CHECK(match.at("context_before") == json::value{"import os"});
    CHECK(json::serialize(match.at("context_before")) == "[\"import os\"]");
    CHECK(json::serialize(match.at("context_after")) == "[\"last\"]");

    got = grep({{"pattern", "^needle"}, {"max_results", 2}, {"offset", 1}});
    CHECK(matches(f, got) == "node_modules/m.py:1:needle\nsub/b.py:3:needle\n");
    CHECK(got.data().at("truncated") == true);
    CHECK(got.data().at("files_searched").is_null());
    got = grep({{"pattern", "^needle"}, {"max_results", 1}, {"offset", 3}});
    CHECK(got.data().at("truncated") == false);
    CHECK(
      matches(f, grep({{"pattern", "^needle$"}, {"max_file_size", "2M"}, {"path", "large.py"}})) ==
      "large.py:1:needle\n");

    for (const char* bad : {"(", "(?=a)", "\\1(a)"})
      check_error(grep({{"pattern", bad}}), 400, "bad_request", "");
    check_error(grep({{"pattern", "a"}, {"type", "no-such"}}), 400, "bad_request", "");
    check_error(grep({{"pattern", "a"}, {"max_file_size", "1X"}}), 400, "bad_request", "");
    check_error(grep({{"pattern", std::string("a\0b", 3)}}), 400, "bad_request", "");
    check_error(grep({{"pattern", "a"}, {"path", "no"}}), 404, "not_found", "ENOENT");
    check_error(grep({{"pattern", "a"}, {"path", "fifo.py"}}), 400, "invalid_target", "");
    CHECK(grep({{"pattern", "a"}, {"context_before", 21}}).status == 422);
    CHECK(grep({{"pattern", "a"}, {"max_results", 10'001}}).status == 422);
  }
}

TEST_CASE("aiod v1 files: read, write, replace and search tell failures with 200") {
  fixture f;
  auto got = v1(f, "write", {{"file", "d/a"}, {"content", "one\ntwo\none"}});
  CHECK(got.status == 200);
  CHECK(got.data().at("bytes_written") == 11);
  CHECK(got.text("file") == f.at("d/a"));
  CHECK(v1(f, "read", {{"file", "d/a"}, {"start_line", 1}, {"end_line", 2}}).text("content") ==
        "two");
  CHECK(v1(f, "read", {{"file", "d/a"}, {"sudo", ::geteuid() == 0}}).text("content") ==
        "one\ntwo\none");
  check_error(v1(f, "read", {{"file", "no"}}), 200, "not_found", "ENOENT");
  check_error(v1(f, "write", {{"file", "d"}, {"content", ""}}), 200, "invalid_target", "EISDIR");
  CHECK(v1(f, "read", {{"path", "d/a"}}).status == 422);

  got = v1(f, "search", {{"file", "d/a"}, {"regex", "^o"}});
  CHECK(json::serialize(got.data().at("line_numbers")) == "[0,2]");
  CHECK(json::serialize(got.data().at("matches")) == "[\"one\",\"one\"]");
  check_error(v1(f, "search", {{"file", "d/a"}, {"regex", "("}}), 200, "bad_request", "");

  got = v1(f, "replace", {{"file", "d/a"}, {"old_str", "one"}, {"new_str", "1"}});
  CHECK(got.data().at("replaced_count") == 2);
  CHECK(f.disk("d/a") == "1\ntwo\n1");
  CHECK(v1(f, "replace", {{"file", "d/a"}, {"old_str", "one"}, {"new_str", "1"}})
          .data()
          .at("replaced_count") == 0);
  check_error(v1(f, "replace", {{"file", "d/a"}, {"old_str", ""}, {"new_str", "1"}}), 200,
              "bad_request", "");
  if (::geteuid() != 0)
    return;
  fixture g({"--default-user", "nobody"});
  fs::permissions(g.at("."), fs::perms::all);
  v1(g, "write", {{"file", "a"}, {"content", ""}});
  CHECK(stat_of(g.at("a")).st_uid != 0);
  v1(g, "write", {{"file", "b"}, {"content", ""}, {"sudo", true}});
  CHECK(stat_of(g.at("b")).st_uid == 0);
}

TEST_CASE("aiod v1 files: find, glob and list") {
  fixture f;
  fill(f);
  CHECK(below(f, v1(f, "find", {{"path", "sub"}, {"glob", "*.*"}}).data().at("files")) ==
        "sub/b.py sub/deep/c.txt ");
  const auto glob = [&](json::object body) {
    body["path"] = "sub";
    const auto got = v1(f, "glob", std::move(body));
    REQUIRE_MESSAGE(got.status == 200, got.body);
    return got.data();
  };
  f.put("sub/.dot", "");
  CHECK(below(f, glob({{"pattern", "**"}}).at("files")) == "sub/b.py sub/deep/c.txt ");
  CHECK(below(f, glob({{"pattern", "**"}, {"include_hidden", true}}).at("files")) ==
        "sub/.dot sub/b.py sub/deep/c.txt ");
  CHECK(
    below(f, glob({{"pattern", "**"}, {"files_only", false}, {"sort_desc", true}}).at("files")) ==
    "sub/deep/c.txt sub/deep sub/b.py ");
  CHECK(below(f, glob({{"pattern", "**"}, {"exclude", {"deep"}}}).at("files")) == "sub/b.py ");
  CHECK(below(f, glob({{"pattern", "**"}, {"sort_by", "size"}}).at("files")) ==
        "sub/deep/c.txt sub/b.py ");
  auto data = glob({{"pattern", "**"}, {"max_results", 1}, {"include_metadata", false}});
  CHECK(data.at("truncated") == true);
  CHECK(data.at("total_count") == 1);
  CHECK(data.at("files").at(0).at("size").is_null());
  data = glob({{"pattern", "b.py"}});
  CHECK(data.at("files").at(0).at("size") == 19);
  CHECK(data.at("files").at(0).at("modified_time").is_string());

  const auto list = [&](json::object body) {
    body["path"] = "sub";
    return v1(f, "list", std::move(body)).data().at("files");
  };
  CHECK(below(f, list({})) == "sub/.dot sub/b.py sub/deep ");
  CHECK(below(f, list({{"show_hidden", false}, {"sort_by", "type"}})) == "sub/deep sub/b.py ");
  CHECK(below(f, list({{"recursive", true}, {"file_types", {".txt"}}})) ==
        "sub/deep/c.txt sub/deep ");
  fs::permissions(f.at("sub/b.py"), fs::perms(0751));
  const auto files =
    list({{"include_permissions", true}, {"include_size", false}, {"file_types", {"py"}}});
  CHECK(json::text(files.at(0), "permissions") == "751");
  CHECK(!files.at(0).as_object().contains("size"));
  check_error(v1(f, "list", {{"path", "no"}}), 200, "not_found", "ENOENT");
}

TEST_CASE("aiod v1 files: the editor views and creates, and what v2 has is there too") {
  fixture f;
  const auto editor = [&](json::object body) {
    return v1(f, "str_replace_editor", std::move(body));
  };
  auto got = editor({{"command", "create"}, {"path", "d/a"}, {"file_text", "1\n2\n3\n"}});
  CHECK(got.data().at("prev_exist") == false);
  CHECK(f.disk("d/a") == "1\n2\n3\n");
  CHECK(editor({{"command", "view"}, {"path", "d/a"}}).text("output") ==
        "     1\t1\n     2\t2\n     3\t3\n");
  CHECK(editor({{"command", "view"}, {"path", "d/a"}, {"view_range", {2, 2}}}).text("output") ==
        "     2\t2\n");
  CHECK(editor({{"command", "view"}, {"path", "d/a"}, {"view_range", {2, -1}}}).text("output") ==
        "     2\t2\n     3\t3\n");
  for (const json::array& range : {json::array{0, 1}, {3, 2}, {1}, {4, -1}})
    check_error(editor({{"command", "view"}, {"path", "d/a"}, {"view_range", range}}), 200,
                "bad_request", "");
  f.put("d/e/deep/no", "");
  CHECK(editor({{"command", "view"}, {"path", "d"}}).text("output") ==
        f.at("d") + "\n" + f.at("d/a") + "\n" + f.at("d/e") + "\n" + f.at("d/e/deep") + "\n");
  CHECK(editor({{"command", "create"}, {"path", "d/a"}}).message() == "file_text is required");
  got = editor({{"command", "create"}, {"path", "d/a"}, {"file_text", "new"}});
  CHECK(got.text("old_content") == "1\n2\n3\n");
  editor({{"command", "str_replace"}, {"path", "d/a"}, {"old_str", "e"}, {"new_str", "E"}});
  editor({{"command", "insert"}, {"path", "d/a"}, {"insert_line", 1}, {"new_str", "x"}});
  CHECK(f.disk("d/a") == "nEw\nx");
  for (const char* was : {"nEw", "new", "1\n2\n3\n"}) {
    editor({{"command", "undo_edit"}, {"path", "d/a"}});
    CHECK(f.disk("d/a") == was);
  }
  got = editor({{"command", "undo_edit"}, {"path", "d/a"}});
  CHECK(got.data().at("new_content").is_null());
  CHECK(!fs::exists(f.at("d/a")));

  CHECK(v1(f, "mkdir", {{"path", "m/n"}, {"parents", true}}).data().at("created") == true);
  f.put("m/a", "1");
  CHECK(v1(f, "stat", {{"path", "m/a"}}).data().at("size") == 1);
  CHECK(v1(f, "copy", {{"source", "m"}, {"destination", "c"}}).data().at("files_copied") == 1);
  check_error(v1(f, "move", {{"source", "m"}, {"destination", "c"}}), 200, "already_exists",
              "EEXIST");
  CHECK(v1(f, "move", {{"source", "m"}, {"destination", "o"}}).status == 200);
  CHECK(f.disk("o/a") == "1");
  check_error(v1(f, "delete", {{"path", "o"}}), 200, "invalid_target", "ENOTEMPTY");
  CHECK(v1(f, "delete", {{"path", "o"}, {"recursive", true}}).message() ==
        "Directory deleted successfully");
}
