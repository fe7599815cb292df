#include "config/store.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

using namespace ahpd;

namespace {

struct fixture {
  tests::scratch files;
  config::store db{files.path() + "/ahpd.db"};

  fixture() {
    for (const std::string id : {"s", "other"})
      db.put_session({id, "test:/" + id, 1, 1, json::object{}});
  }
};

config::change_row change(const std::string& scope, const std::string& file,
                          const std::string& before, const std::string& after,
                          std::int64_t added = 0, std::int64_t removed = 0) {
  return {scope, file, json::value{{"id", file}}, before, after, added, removed};
}

std::string files_of(config::store& db, const std::string& session, const std::string& scope) {
  std::string out;
  for (const auto& row : db.changes_of(session, scope))
    out += row.file + "(" + row.before + "," + row.after + ")";
  return out;
}

const std::string binary("a\0\xff\n", 4);

} // namespace

TEST_CASE_FIXTURE(fixture, "changes are kept by session, scope and file, in their order") {
  db.put_change("s", change("session", "b", "1", "2", 3, 4));
  db.put_change("s", change("session", "a", "", "5", 10, 0));
  db.put_change("s", change("turn/t", "b", "1", "2"));
  db.put_change("other", change("session", "b", "", ""));
  db.put_change("s", change("session", "b", "1", "6", 1, 1)); // again, in its place
  CHECK(files_of(db, "s", "session") == "b(1,6)a(,5)");
  CHECK(files_of(db, "s", "turn/t") == "b(1,2)");
  CHECK(files_of(db, "s", "turn/u").empty());
  const auto totals = db.totals_of("s", "session");
  CHECK(totals.files == 2);
  CHECK(totals.added == 11);
  CHECK(totals.removed == 1);
  const auto found = db.find_change("s", "session", "a");
  REQUIRE(found);
  CHECK(found->document == json::value{{"id", "a"}});
  CHECK(found->added == 10);
  db.remove_change("s", "session", "b");
  CHECK_FALSE(db.find_change("s", "session", "b"));
  CHECK(files_of(db, "s", "turn/t") == "b(1,2)");
  CHECK(files_of(db, "other", "session") == "b(,)");
}

TEST_CASE_FIXTURE(fixture, "contents are any bytes, and go when no change names them any more") {
  db.put_content("s", "1", binary);
  db.put_content("s", "2", "");
  db.put_content("other", "1", "x");
  CHECK(db.content("s", "1") == binary);
  CHECK(db.content("s", "2") == "");
  CHECK_FALSE(db.content("s", "3"));
  CHECK(db.content_bytes("s") == 4);
  CHECK_THROWS_AS(db.put_content("s", "1", "again"), config::store_error);

  db.put_change("s", change("session", "a", "1", "2"));
  for (const std::string id : {"1", "2"})
    db.drop_unused_content("s", id);
  CHECK(db.content("s", "1"));
  CHECK(db.content("s", "2"));
  db.put_change("s", change("session", "a", "1", "9"));
  for (const std::string id : {"1", "2"})
    db.drop_unused_content("s", id);
  CHECK(db.content("s", "1"));
  CHECK_FALSE(db.content("s", "2"));
  db.remove_change("s", "session", "a");
  db.drop_unused_content("s", "1");
  CHECK_FALSE(db.content("s", "1"));
  CHECK(db.content("other", "1") == "x");
}

TEST_CASE_FIXTURE(fixture, "changes and contents go with their session and outlive its changes") {
  db.put_content("s", "1", binary);
  db.put_change("s", change("session", "a", "1", ""));
  db.put_content("other", "1", "x");
  db.put_session({"s", "test:/s", 1, 2, json::object{}});
  CHECK(db.content("s", "1") == binary);
  CHECK(files_of(db, "s", "session") == "a(1,)");
  db.remove_session("s");
  CHECK_FALSE(db.content("s", "1"));
  CHECK(files_of(db, "s", "session").empty());
  CHECK(db.content("other", "1") == "x");
  CHECK_THROWS_AS(db.put_content("s", "1", "nobody's"), config::store_error);
}
