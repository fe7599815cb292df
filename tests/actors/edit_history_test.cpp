#include "actors/sandbox/edit_history.hpp"

#include <doctest/doctest.h>

using ahpd::sandbox::edit_history;

TEST_CASE("edits are known by file, the newest first, and also when there was no file") {
  edit_history sut;
  CHECK(!sut.newest("a"));
  sut.add("a", std::nullopt);
  sut.add("b", "other");
  sut.add("a", "1");
  REQUIRE(sut.newest("a"));
  CHECK(*sut.newest("a") == "1");
  sut.drop_newest("a");
  REQUIRE(sut.newest("a"));
  CHECK(!sut.newest("a")->has_value());
  sut.drop_newest("a");
  CHECK(!sut.newest("a"));
  CHECK(*sut.newest("b") == "other");
}

TEST_CASE("the oldest edits are forgotten first") {
  edit_history few({2, 1000});
  few.add("a", "1");
  few.add("b", "2");
  few.add("a", "3");
  CHECK(*few.newest("a") == "3");
  few.drop_newest("a");
  CHECK(!few.newest("a"));
  CHECK(*few.newest("b") == "2");

  edit_history small({10, 10});
  small.add("a", "1234");
  small.add("b", "1234");
  CHECK(small.newest("a"));
  small.add("c", "1");
  CHECK(!small.newest("a"));
  CHECK(small.newest("b"));
  small.add("d", std::string(20, 'x'));
  CHECK(!small.newest("d"));
  CHECK(!small.newest("c"));
}
