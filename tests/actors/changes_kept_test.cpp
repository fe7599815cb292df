#include "actors/hub/changes_kept.hpp"

#include "tests/support/support.hpp"

#include <doctest/doctest.h>

using namespace ahpd;

namespace {

/// A session's changesets; edits are recorded as the store's actor does it.
struct fixture {
  tests::scratch files;
  config::store db{files.path() + "/ahpd.db"};

  fixture() { db.put_session({"s", "test:/s", 1, 1, json::object{}}); }

  hub::recorded_edit record(const std::string& turn, const ahp::file_edit& edit) {
    db.begin();
    auto out = hub::record_edit(db, "s", "turn/" + turn, edit);
    db.commit();
    return out;
  }

  /// An edit that this host saw; "-": there is no such side.
  hub::recorded_edit write(const std::string& turn, const std::string& path,
                           const std::string& before, const std::string& after) {
    const auto side = [&](const std::string& text) {
      return text == "-" ? std::nullopt : std::optional(ahp::edit_side{path, text});
    };
    return record(turn, {side(before), side(after)});
  }

  std::string text(const json::value* side) {
    if (!side)
      return "-";
    const auto id = ahp::content_id(side);
    return id.empty() ? "?" : db.content("s", id).value_or("LOST");
  }

  /// "<path>: <before> -> <after> +<added> -<removed>" of every file, one a line.
  std::string show(const std::string& scope) {
    std::string out;
    const auto state = hub::load_changeset(db, "s", scope);
    for (const auto& file : state.at("files").as_array()) {
      const auto& edit = file.at("edit");
      out += std::string(file.at("id").as_string()).substr(7) + ": " +
             text(json::member(edit, "before")) + " -> " + text(json::member(edit, "after"));
      if (const auto* diff = json::member(edit, "diff"))
        out += " +" + std::to_string(diff->at("added").to_number<int>()) + " -" +
               std::to_string(diff->at("removed").to_number<int>());
      if (const auto* reviewed = json::member(file, "reviewed"))
        out += reviewed->as_bool() ? " reviewed" : " unreviewed";
      out += "\n";
    }
    return out;
  }
};

std::string types(const hub::recorded_edit& of) {
  std::string out;
  for (const auto& [scope, action] : of.actions)
    out += scope + " " + std::string(action.at("type").as_string()).substr(10) + ";";
  return out;
}

} // namespace

TEST_CASE_FIXTURE(fixture,
                  "each turn has its own before and after, and the session the outer ones") {
  CHECK(types(write("1", "/w/a", "-", "one\n")) == "turn/1 fileSet;session fileSet;");
  write("1", "/w/a", "one\n", "one\ntwo\n");
  write("2", "/w/a", "one\ntwo\n", "two\n");
  const auto last = write("2", "/w/b", "x", "y");
  CHECK(show("turn/1") == "/w/a: - -> one\ntwo\n +2 -0\n");
  CHECK(show("turn/2") == "/w/a: one\ntwo\n -> two\n +0 -1\n/w/b: x -> y +1 -1\n");
  CHECK(show("session") == "/w/a: - -> two\n +1 -0\n/w/b: x -> y +1 -1\n");
  CHECK(last.summary == json::value{{"additions", 2}, {"deletions", 1}, {"files", 2}});
}

TEST_CASE_FIXTURE(fixture, "contents that no changeset shows any more are not kept") {
  write("1", "/w/a", "-", std::string(1000, 'a'));
  write("1", "/w/a", std::string(1000, 'a'), std::string(10, 'b'));
  CHECK(db.content_bytes("s") == 10);
  write("2", "/w/a", std::string(10, 'b'), "c"); // its before is the first turn's after
  CHECK(db.content_bytes("s") == 11);
}

TEST_CASE_FIXTURE(fixture, "a file that ends as it began is taken out") {
  write("1", "/w/a", "old", "new");
  CHECK(types(write("1", "/w/a", "new", "old")) == "turn/1 fileRemoved;session fileRemoved;");
  CHECK(show("turn/1").empty());
  CHECK(db.content_bytes("s") == 0);
  write("1", "/w/b", "-", "made");
  write("2", "/w/b", "made", "-");
  CHECK(show("turn/1") == "/w/b: - -> made +1 -0\n");
  CHECK(show("turn/2") == "/w/b: made -> - +0 -1\n");
  CHECK(show("session").empty());
  CHECK(types(write("3", "/w/c", "same", "same")).empty());
}

TEST_CASE_FIXTURE(fixture, "a file that moves is listed where it is now") {
  write("1", "/w/a", "1", "2");
  const auto moved = record("1", {ahp::edit_side{"/w/a", "2"}, ahp::edit_side{"/w/b", "2"}, true});
  CHECK(types(moved) == "turn/1 fileRemoved;turn/1 fileSet;session fileRemoved;session fileSet;");
  CHECK(show("session") == "/w/b: 1 -> 2 +1 -1\n");
}

TEST_CASE_FIXTURE(fixture, "what the agent tells of an edit that this host saw changes nothing") {
  write("1", "/w/a", "one\ntwo\n", "one\n2\n");
  const auto told = [](const std::string& was, const std::string& now) {
    return ahp::file_edit{ahp::edit_side{"/w/a", was}, ahp::edit_side{"/w/a", now}, true};
  };
  CHECK(types(record("1", told("one\ntwo\n", "one\n2\n"))).empty());
  CHECK(types(record("1", told("two", "2"))).empty());
  CHECK(show("turn/1") == "/w/a: one\ntwo\n -> one\n2\n +1 -1\n");
  CHECK(types(record("1", told("one\n2\n", "all new\n"))) == "turn/1 fileSet;session fileSet;");
  CHECK(show("turn/1") == "/w/a: one\ntwo\n -> all new\n +1 -2\n");
}

TEST_CASE_FIXTURE(fixture, "a review lasts until the file is edited again") {
  write("1", "/w/a", "1", "2");
  write("1", "/w/b", "1", "2");
  hub::record_review(db, "s", "turn/1",
                     {{"files", {"file:///w/a", "file:///w/none"}}, {"reviewed", true}});
  CHECK(show("turn/1") == "/w/a: 1 -> 2 +1 -1 reviewed\n/w/b: 1 -> 2 +1 -1\n");
  CHECK(show("session").find("reviewed") == std::string::npos);
  write("1", "/w/a", "2", "3");
  CHECK(show("turn/1") == "/w/a: 1 -> 3 +1 -1\n/w/b: 1 -> 2 +1 -1\n");
}

TEST_CASE_FIXTURE(fixture,
                  "a side above the bound is listed without content, and no lines counted") {
  const std::string most(ahp::most_content_bytes, 'x');
  write("1", "/w/a", "-", most);
  CHECK(db.content_bytes("s") == static_cast<std::int64_t>(most.size()));
  write("1", "/w/b", "small", most + "x");
  const auto state = hub::load_changeset(db, "s", "turn/1");
  const auto& edit = state.at("files").at(1).at("edit");
  CHECK(text(&edit.at("before")) == "small");
  CHECK(edit.at("after").at("content").at("_meta").at("ahpd.missing") ==
        json::value("it is larger than 1 MiB"));
  CHECK_FALSE(edit.as_object().contains("diff"));
}

TEST_CASE_FIXTURE(fixture,
                  "a session holds so much content and no more, and still lists the edits") {
  const std::string megabyte(1 << 20, 'x');
  db.begin();
  for (int i = 0; i < 64; ++i)
    db.put_content("s", "c" + std::to_string(i), megabyte);
  db.commit();
  write("1", "/w/a", "-", "a");
  const auto state = hub::load_changeset(db, "s", "session");
  CHECK(
    state.at("files").at(0).at("edit").at("after").at("content").at("_meta").at("ahpd.missing") ==
    json::value("the changesets of this session hold 64 MiB, which is the most"));
  CHECK(db.content_bytes("s") == 64 << 20);
}

TEST_CASE_FIXTURE(fixture,
                  "a changeset lists so many files, goes on with those and says that it is full") {
  db.begin();
  for (std::size_t i = 0; i < ahp::most_changed_files; ++i)
    hub::record_edit(db, "s", "turn/1",
                     {std::nullopt, ahp::edit_side{"/w/" + std::to_string(i), "x"}});
  db.commit();
  CHECK(types(write("1", "/w/more", "-", "x")).empty());
  CHECK(types(write("1", "/w/7", "x", "y")) == "turn/1 fileSet;session fileSet;");
  CHECK(types(write("2", "/w/more", "-", "x")) == "turn/2 fileSet;");
  const auto state = hub::load_changeset(db, "s", "turn/1");
  CHECK(state.at("status") == json::value("error"));
  CHECK(state.at("files").as_array().size() == ahp::most_changed_files);
  CHECK(hub::load_changeset(db, "s", "turn/2").at("status") == json::value("ready"));
  CHECK(db.content_bytes("s") == static_cast<std::int64_t>(ahp::most_changed_files) + 1);
}
