#include "config/nearest.hpp"

#include <doctest/doctest.h>

using ahpd::config::nearest;

TEST_CASE("the word that was probably meant is found, and nothing far-fetched") {
  const std::vector<std::string_view> verbs{"start", "stop", "status", "restart", "run"};
  CHECK(nearest("strat", verbs) == "start");
  CHECK(nearest("sto", verbs) == "stop");
  CHECK(nearest("statsu", verbs) == "status");
  CHECK(nearest("rn", verbs) == "run");
  CHECK(nearest("stop", verbs) == "stop");
  CHECK(nearest("deploy", verbs).empty());
  CHECK(nearest("", verbs).empty());
  CHECK(nearest(std::string(1000, 's'), verbs).empty());
}
