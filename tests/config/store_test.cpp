#include "config/store.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <sqlite3.h>

#include <fstream>

#include <sys/stat.h>

using namespace ahpd;
using config::store;
using config::store_error;

namespace {

config::session_row session(const std::string& id, std::int64_t modified) {
  return {id, "test:/" + id, 1000, modified, json::value{{"title", "é\n" + id}, {"n", modified}}};
}

config::chat_row chat(const std::string& uri, const std::string& session_id, std::int64_t ordinal) {
  return {uri, session_id, ordinal, json::value{{"uri", uri}}};
}

json::value turn(int n) {
  return {{"id", "t" + std::to_string(n)}};
}

std::vector<std::string> ids(const std::vector<config::session_row>& rows) {
  std::vector<std::string> out;
  for (const auto& row : rows)
    out.push_back(row.id);
  return out;
}

std::string refusal(const std::string& path) {
  try {
    store s(path);
  } catch (const store_error& e) {
    return e.what();
  }
  return "opened";
}

void run_sql(const std::string& path, const char* sql) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  REQUIRE(sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
}

mode_t mode_of(const std::string& path) {
  struct stat st {};
  REQUIRE(stat(path.c_str(), &st) == 0);
  return st.st_mode & 0777;
}

} // namespace

TEST_CASE("a session is found as it was put, and again after reopening") {
  tests::scratch dir;
  const std::string file = dir.path() + "/ahpd.db";
  {
    store s(file);
    s.put_session(session("a", 5));
    CHECK(mode_of(file) == 0600);
    CHECK(mode_of(file + "-wal") == 0600);
  }
  store s(file);
  const auto row = s.find_session("a");
  REQUIRE(row);
  CHECK(row->id == "a");
  CHECK(row->uri == "test:/a");
  CHECK(row->created_ms == 1000);
  CHECK(row->modified_ms == 5);
  CHECK(row->state == session("a", 5).state);
  CHECK_FALSE(s.find_session("b"));
}

TEST_CASE("putting a session again replaces it and keeps its chats and turns") {
  store s(":memory:");
  s.put_session(session("a", 1));
  s.put_chat(chat("c", "a", 0));
  s.append_turn("c", turn(1));
  s.put_session(session("a", 2));
  CHECK(s.find_session("a")->modified_ms == 2);
  CHECK(s.count_sessions() == 1);
  CHECK(s.chats_of("a").size() == 1);
  CHECK(s.count_turns("c") == 1);
}

TEST_CASE("removing a session takes its chats, turns and active turns along") {
  store s(":memory:");
  for (const char* id : {"a", "b"}) {
    s.put_session(session(id, 1));
    s.put_chat(chat(std::string("chat-") + id, id, 0));
    s.append_turn(std::string("chat-") + id, turn(1));
    s.put_active_turn({std::string("chat-") + id, turn(2)});
  }
  s.remove_session("a");
  CHECK(s.chats_of("a").empty());
  CHECK(s.count_turns("chat-a") == 0);
  REQUIRE(s.active_turns().size() == 1);
  CHECK(s.active_turns()[0].chat == "chat-b");
  // A chat of the same name starts empty.
  s.put_session(session("a", 1));
  s.put_chat(chat("chat-a", "a", 0));
  CHECK(s.count_turns("chat-a") == 0);
}

TEST_CASE("sessions are listed newest first in pages, equal times by id") {
  store s(":memory:");
  for (const char* id : {"a", "b", "c"})
    s.put_session(session(id, 10));
  s.put_session(session("old", 9));
  s.put_session(session("new.1", 11));
  const auto first = s.list_sessions(2);
  REQUIRE(first);
  CHECK(ids(*first) == std::vector<std::string>{"new.1", "c"});
  const auto second = s.list_sessions(2, store::cursor_of(first->back()));
  REQUIRE(second);
  CHECK(ids(*second) == std::vector<std::string>{"b", "a"});
  // The row behind the cursor may go meanwhile.
  s.remove_session("a");
  const auto third = s.list_sessions(2, store::cursor_of(second->back()));
  REQUIRE(third);
  CHECK(ids(*third) == std::vector<std::string>{"old"});
  CHECK(s.list_sessions(2, store::cursor_of(third->back()))->empty());
  CHECK(ids(*s.list_sessions(1, store::cursor_of((*s.list_sessions(1))[0]))) ==
        std::vector<std::string>{"c"});
  CHECK(s.list_sessions(0)->empty());
  CHECK(s.list_sessions(SIZE_MAX)->size() == 4);
}

TEST_CASE("a cursor that was not issued here gives nothing") {
  store s(":memory:");
  s.put_session(session("a", 1));
  for (const char* cursor : {"x", "1", "1.", ".a", "1x.a", "99999999999999999999.a", " 1.a"}) {
    CAPTURE(cursor);
    CHECK_FALSE(s.list_sessions(10, cursor));
  }
}

TEST_CASE("chats come in the order of the catalogue") {
  store s(":memory:");
  s.put_session(session("a", 1));
  s.put_chat(chat("second", "a", 2));
  s.put_chat(chat("first", "a", 1));
  auto chats = s.chats_of("a");
  REQUIRE(chats.size() == 2);
  CHECK(chats[0].uri == "first");
  CHECK(chats[0].session_id == "a");
  CHECK(chats[0].state == json::value{{"uri", "first"}});
  CHECK(chats[1].ordinal == 2);
  s.put_chat(chat("second", "a", 0));
  CHECK(s.chats_of("a")[0].uri == "second");
  s.remove_chat("second");
  CHECK(s.chats_of("a").size() == 1);
}

TEST_CASE("turns are appended, paged from the newest, counted and cut") {
  store s(":memory:");
  s.put_session(session("a", 1));
  s.put_chat(chat("c", "a", 0));
  s.put_chat(chat("d", "a", 1));
  for (int n = 1; n <= 5; ++n)
    CHECK(s.append_turn("c", turn(n)) == n);
  CHECK(s.append_turn("d", turn(1)) == 1);
  auto page = s.turns_of("c", 2);
  REQUIRE(page.size() == 2);
  CHECK(page[0].turn == turn(4));
  CHECK(page[1].ordinal == 5);
  page = s.turns_of("c", 10, page[0].ordinal);
  REQUIRE(page.size() == 3);
  CHECK(page[0].turn == turn(1));
  CHECK(page[2].turn == turn(3));
  CHECK(s.turns_of("c", 10, 1).empty());
  s.remove_turns_after("c", 2);
  CHECK(s.count_turns("c") == 2);
  CHECK(s.append_turn("c", turn(9)) == 3);
  s.remove_turns_after("c", 0);
  CHECK(s.count_turns("c") == 0);
  CHECK(s.count_turns("d") == 1);
}

TEST_CASE("a chat has one active turn at most") {
  store s(":memory:");
  s.put_session(session("a", 1));
  s.put_chat(chat("c", "a", 0));
  s.put_active_turn({"c", turn(1)});
  s.put_active_turn({"c", turn(2)});
  const auto active = s.active_turns();
  REQUIRE(active.size() == 1);
  CHECK(active[0].turn == turn(2));
  s.remove_active_turn("c");
  CHECK(s.active_turns().empty());
}

TEST_CASE("runs outlive the session they belonged to") {
  store s(":memory:");
  s.put_run({"m1", "", "c"});
  s.put_run({"m2", "box", "d"});
  s.remove_run("m1");
  const auto runs = s.runs();
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].marker == "m2");
  CHECK(runs[0].place == "box");
  CHECK(runs[0].chat == "d");
}

TEST_CASE("a piece of a transaction that fails takes back only itself") {
  store s(":memory:");
  s.begin();
  s.nested([&] { s.set_number("kept", 1); });
  CHECK_THROWS_AS(s.nested([&] {
    s.set_number("lost", 1);
    s.put_chat(chat("c", "nowhere", 0));
  }), store_error);
  s.commit();
  CHECK(s.number("kept", 0) == 1);
  CHECK(s.number("lost", 0) == 0);
}

TEST_CASE("a chat leads to its session") {
  store s(":memory:");
  s.put_session(session("a", 1));
  s.put_chat(chat("c", "a", 0));
  CHECK(s.session_of_chat("c") == "a");
  CHECK_FALSE(s.session_of_chat("d"));
}

TEST_CASE("what belongs to something that is not there is refused") {
  store s(":memory:");
  CHECK_THROWS_AS(s.put_chat(chat("c", "nowhere", 0)), store_error);
  CHECK_THROWS_WITH_AS(s.append_turn("c", turn(1)), ":memory: holds no chat c", store_error);
  CHECK_THROWS_AS(s.put_active_turn({"c", turn(1)}), store_error);
}

TEST_CASE("machines and counters are kept by name") {
  store s(":memory:");
  s.put_machine("box", json::value{{"status", "running"}});
  s.put_machine("box", json::value{{"status", "stopped"}});
  CHECK(*s.find_machine("box") == json::value{{"status", "stopped"}});
  s.remove_machine("box");
  CHECK_FALSE(s.find_machine("box"));
  CHECK(s.number("seq", 7) == 7);
  s.set_number("seq", INT64_MAX);
  CHECK(s.number("seq", 7) == INT64_MAX);
  s.set_number("seq", -1);
  CHECK(s.number("seq", 7) == -1);
}

TEST_CASE("a rollback undoes everything since begin, and is harmless without one") {
  store s(":memory:");
  s.rollback();
  s.begin();
  s.put_session(session("a", 1));
  CHECK_THROWS_AS(s.begin(), store_error);
  s.rollback();
  CHECK(s.count_sessions() == 0);
  CHECK_THROWS_AS(s.commit(), store_error);
  s.begin();
  s.put_session(session("a", 1));
  s.commit();
  CHECK(s.count_sessions() == 1);
}

TEST_CASE("a chat keeps the id of its agent's session, whatever else is written of it") {
  const tests::scratch dir;
  const auto file = dir.path() + "/ahpd.db";
  {
    config::store s(file);
    s.put_session(session("a", 1));
    s.put_chat(chat("c", "a", 0));
    CHECK(s.backend_of_chat("c").empty());
    s.set_backend_of_chat("c", "their-id");
    s.put_chat(chat("c", "a", 0));
  }
  config::store again(file);
  CHECK(again.backend_of_chat("c") == "their-id");
  CHECK(again.backend_of_chat("nobody").empty());
}

TEST_CASE("a file of an earlier program keeps what it holds and gets what it lacks") {
  const tests::scratch dir;
  const std::string file = dir.path() + "/ahpd.db";
  {
    store s(file);
    s.put_session(session("a", 5));
  }
  run_sql(file, "DROP TABLE change; DROP TABLE content; PRAGMA user_version = 2");
  store s(file);
  CHECK(s.find_session("a"));
  s.put_content("a", "1", "x");
  CHECK(s.content("a", "1") == "x");
}

TEST_CASE("a file of a newer program is refused and left as it was") {
  tests::scratch dir;
  const std::string file = dir.path() + "/ahpd.db";
  { store s(file); }
  run_sql(file, "PRAGMA user_version = 99");
  const auto before = tests::read_file(file);
  CHECK(refusal(file) ==
        file + " was made by a newer ahpd: its schema is 99 and this one knows up to 3");
  CHECK(tests::read_file(file) == before);
}

TEST_CASE(
  "another program's database, and a file that is none, are refused and left as they were") {
  tests::scratch dir;
  const std::string file = dir.path() + "/ahpd.db";
  SUBCASE("a database") {
    run_sql(file, "CREATE TABLE t (x)");
    const auto before = tests::read_file(file);
    CHECK(refusal(file) == file + " is a database of another program");
    CHECK(tests::read_file(file) == before);
  }
  SUBCASE("text") {
    const std::string text(5000, 'x');
    std::ofstream(file) << text;
    CHECK(refusal(file) == file + " is not an SQLite database, or its beginning is damaged");
    CHECK(tests::read_file(file) == text);
  }
  SUBCASE("a folder that is not there") {
    const std::string path = dir.path() + "/none/ahpd.db";
    CHECK(refusal(path) == path + " could not be opened: No such file or directory");
  }
}

TEST_CASE("a damaged file says so") {
  tests::scratch dir;
  const std::string file = dir.path() + "/ahpd.db";
  { store s(file); }
  SUBCASE("cut off") {
    const auto whole = tests::read_file(file);
    std::ofstream(file, std::ios::trunc) << whole.substr(0, 4096);
    CHECK(refusal(file).find(file + " is damaged: ") == 0);
  }
  SUBCASE("a document that is not JSON") {
    run_sql(file, "INSERT INTO machine VALUES ('box', '{')");
    store s(file);
    CHECK_THROWS_WITH_AS(s.find_machine("box"),
                         (file + " is damaged: a machine is not JSON: incomplete JSON").c_str(),
                         store_error);
  }
}

TEST_CASE("a file is empty when its making was cut short, and is made whole") {
  tests::scratch dir;
  const std::string file = dir.path() + "/ahpd.db";
  std::ofstream(file).flush();
  store s(file);
  CHECK(s.count_sessions() == 0);
}
