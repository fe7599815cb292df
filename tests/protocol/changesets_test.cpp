#include "protocol/ahp/changesets.hpp"

#include <doctest/doctest.h>

using namespace ahpd;

namespace {

ahp::edit_side side(const std::string& path, const std::string& text) {
  return {path, text};
}

std::string inside_w(const std::string& path) {
  const auto left = ahp::inside({std::nullopt, side(path, "")}, {"/w", "/other/folder/"});
  return left ? left->after->path : "nothing";
}

/// A FileEdit of these paths; empty: no such side.
json::object edit(const std::string& before, const std::string& first, const std::string& after,
                  const std::string& last) {
  json::object out;
  if (!before.empty())
    out["before"] = ahp::kept_side(before, "s", first, 1);
  if (!after.empty())
    out["after"] = ahp::kept_side(after, "s", last, 1);
  return out;
}

/// "<id>: <id of before's content> <id of after's>" of one edit after the other.
std::string merged(const std::vector<json::object>& edits) {
  std::optional<json::value> now;
  for (const auto& one : edits) {
    auto file = ahp::merge_edit(now ? &*now : nullptr, one);
    now = file ? std::optional<json::value>(std::move(*file)) : std::nullopt;
  }
  if (!now)
    return "nothing";
  const auto& sides = now->at("edit");
  return std::string(now->at("id").as_string()) + ": " +
         ahp::content_id(json::member(sides, "before")) + " " +
         ahp::content_id(json::member(sides, "after"));
}

std::string counted(const std::string& before, const std::string& after) {
  const auto lines = ahp::count_lines(before, after);
  return lines ? "+" + std::to_string(lines->added) + " -" + std::to_string(lines->removed)
               : "no text";
}

std::string numbers(int first, int last) {
  std::string out;
  for (int i = first; i <= last; ++i)
    out += std::to_string(i) + "\n";
  return out;
}

} // namespace

TEST_CASE("an edit counts as far as it is below one of the session's folders") {
  CHECK(inside_w("/w/a") == "/w/a");
  CHECK(inside_w("/w//sub/./b/../a") == "/w/sub/a");
  CHECK(inside_w("/other/folder/a") == "/other/folder/a");
  for (const std::string path : {"/w", "/w/", "/wide/a", "/w/../etc/passwd", "/w/a/../../x", "w/a",
                                 "", "../w/a", "/../w/a", "/other/a"}) {
    INFO(path);
    CHECK(inside_w(path) == "nothing");
  }
  CHECK(inside_w(std::string("/w/a\0b", 6)) == "nothing");
  const auto out = ahp::inside({side("/w/a", ""), side("/x/a", "")}, {"/w"});
  REQUIRE(out);
  CHECK(out->before);
  CHECK_FALSE(out->after); // what is moved out is deleted here
  CHECK_FALSE(ahp::inside({side("/x/a", ""), side("/x/b", "")}, {"/w"}));
}

TEST_CASE("a changeset is found by its session's URI in any spelling, and a turn's by its id") {
  const auto whole = ahp::parse_changeset_uri("ahp-session:/a/changeset/session");
  REQUIRE(whole);
  CHECK(whole->session == "ahp-session:/a");
  CHECK(whole->scope == ahp::session_scope);
  for (const std::string id : {"t1", "a b", "a/b", "ü%", "turn:1"}) {
    INFO(id);
    const auto uri = ahp::changeset_uri_of("ahp-session:/a", ahp::turn_scope(id));
    const auto of_turn = ahp::parse_changeset_uri(uri);
    REQUIRE(of_turn);
    CHECK(of_turn->scope == ahp::turn_scope(id));
  }
  // a client's own expansion may leave what a URI can hold as it is
  const auto lax = ahp::parse_changeset_uri("ahp-session:/a/changeset/turn/turn:1");
  REQUIRE(lax);
  CHECK(lax->scope == ahp::turn_scope("turn:1"));
  for (const std::string uri :
       {"ahp-session:/a/changeset/", "ahp-session:/a/changeset/turn/", "ahp-session:/a",
        "ahp-session:/a/changeset/branch", "ahp-session:/a/changeset/turn/%zz",
        "/changeset/session", "ahp-session:/a/changeset/turn/%4",
        "ahp-chat:/a/changeset/session"}) {
    INFO(uri);
    CHECK_FALSE(ahp::parse_changeset_uri(uri));
  }
  CHECK_FALSE(ahp::parse_changeset_uri("ahp-session:/a/changeset/turn/" + std::string(257, 'x')));
}

TEST_CASE("a session's catalogue names its own changeset and one a turn, both for review") {
  const auto all = ahp::changeset_catalogue("ahp-session:/a");
  REQUIRE(all.size() == 2);
  CHECK(all[0].at("changeKind") == json::value("session"));
  CHECK(all[0].at("uriTemplate") == json::value("ahp-session:/a/changeset/session"));
  CHECK(all[1].at("changeKind") == json::value("turn"));
  CHECK(all[1].at("uriTemplate") == json::value("ahp-session:/a/changeset/turn/{turnId}"));
  for (const auto& one : all)
    CHECK(one.at("capabilities") == json::value{{"review", json::object{}}});
}

TEST_CASE("a side names its content, and one without content says why") {
  const auto kept = ahp::kept_side("/w/ä", "s1", "c1", 7);
  CHECK(kept.at("uri") == json::value("file:///w/%C3%A4"));
  CHECK(kept.at("content") == json::value{{"uri", "ahp-content:/s1/c1"}, {"sizeHint", 7}});
  const json::value side = kept;
  CHECK(ahp::content_id(&side) == "c1");
  const json::value without = ahp::side_without_content("/w/a", "s1", "too large");
  CHECK(without.at("content").at("_meta") == json::value{{"ahpd.missing", "too large"}});
  CHECK(ahp::content_id(&without).empty());
  CHECK(ahp::content_id(nullptr).empty());

  const auto name = ahp::parse_content_uri("ahp-content:/s1/c1");
  REQUIRE(name);
  CHECK(name->session_id == "s1");
  CHECK(name->id == "c1");
  for (const std::string uri :
       {"ahp-content:/s1", "ahp-content:/s1/", "ahp-content://c1", "file:///s1/c1", ""}) {
    INFO(uri);
    CHECK_FALSE(ahp::parse_content_uri(uri));
  }
}

TEST_CASE("a file keeps its first before and its last after") {
  const std::string a = "file:///w/a", b = "file:///w/b";
  CHECK(merged({edit("/w/a", "1", "/w/a", "2")}) == a + ": 1 2");
  CHECK(merged({edit("/w/a", "1", "/w/a", "2"), edit("/w/a", "2", "/w/a", "3")}) == a + ": 1 3");
  CHECK(merged({edit("", "", "/w/a", "1"), edit("/w/a", "1", "/w/a", "2")}) == a + ":  2");
  CHECK(merged({edit("/w/a", "1", "/w/a", "2"), edit("/w/a", "2", "", "")}) == a + ": 1 ");
  CHECK(merged({edit("", "", "/w/a", "1"), edit("/w/a", "1", "", "")}) == "nothing");
  CHECK(merged({edit("/w/a", "1", "", ""), edit("", "", "/w/a", "2")}) == a + ": 1 2");
  CHECK(merged({edit("/w/a", "1", "/w/b", "1"), edit("/w/b", "1", "/w/b", "2")}) == b + ": 1 2");
  CHECK(ahp::file_id(edit("/w/a", "1", "/w/b", "1")) == a);
  CHECK(ahp::file_id(edit("", "", "/w/b", "1")) == b);
}

TEST_CASE("a file that is edited again is not reviewed any more") {
  json::value known = *ahp::merge_edit(nullptr, edit("/w/a", "1", "/w/a", "2"));
  known.as_object()["reviewed"] = true;
  const auto again = ahp::merge_edit(&known, edit("/w/a", "2", "/w/a", "3"));
  REQUIRE(again);
  CHECK_FALSE(again->contains("reviewed"));
}

TEST_CASE("what an agent tells of a file that this host wrote for it is no second edit") {
  const auto told = [](const std::string& was, const std::string& now) {
    return ahp::file_edit{side("/w/a", was), side("/w/a", now), true};
  };
  const std::string known = "one\n2\nthree\n";
  CHECK(ahp::is_known(known, told("one\ntwo\nthree\n", known)));
  CHECK(ahp::is_known(known, told("two", "2")));          // the piece alone
  CHECK_FALSE(ahp::is_known(known, told(known, "one")));  // it goes on from what is there
  CHECK_FALSE(ahp::is_known(known, told("two", "zwei"))); // not there
  CHECK_FALSE(ahp::is_known(known, told("two", "")));
  auto seen = told("two", "2");
  seen.told = false; // this host saw all of the file
  CHECK_FALSE(ahp::is_known(known, seen));
  CHECK_FALSE(ahp::is_known(known, {side("/w/b", "two"), side("/w/a", "2"), true}));
  CHECK_FALSE(ahp::is_known(known, {side("/w/a", known), std::nullopt, true}));
}

TEST_CASE("lines are counted as the shortest way from one text to the other has them") {
  CHECK(counted("", "") == "+0 -0");
  CHECK(counted("", "a\nb\n") == "+2 -0");
  CHECK(counted("a\nb", "") == "+0 -2");
  CHECK(counted("a\nb\nc\n", "a\nx\nc\n") == "+1 -1");
  CHECK(counted("a\nb\nc\nd\n", "b\nc\nx\nd\ny\n") == "+2 -1");
  CHECK(counted("a\n", "a") == "+1 -1"); // the end of the line is part of it
  CHECK(counted("a\na\na\n", "a\na\n") == "+0 -1");
  CHECK(counted("a\nb\na\nb\n", "b\na\nb\na\n") == "+1 -1");
  CHECK(counted(numbers(1, 400), numbers(200, 600)) == "+200 -199");
  CHECK(counted(std::string("a\0", 2), "a") == "no text");
  CHECK(counted("a", "\xff") == "no text");
  // too far apart to search: everything between the first and the last line that differ
  CHECK(counted("0\n" + numbers(10'000, 12'999) + "1\n", "0\n" + numbers(20'000, 21'999) + "1\n") ==
        "+2000 -3000");
}

TEST_CASE("a changeset with as many files as it lists says so") {
  CHECK(ahp::changeset_state({}) == json::value{{"status", "ready"}, {"files", json::array{}}});
  const auto full = ahp::changeset_state(json::array(ahp::most_changed_files, json::value{}));
  CHECK(full.at("status") == json::value("error"));
  CHECK(full.at("error").at("errorType") == json::value("tooManyFiles"));
}
