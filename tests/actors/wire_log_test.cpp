#include "actors/core/wire_log.hpp"

#include "protocol/json.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>

using namespace ahpd;

TEST_CASE("the wire log keeps frames as lines and rolls at its bound") {
  tests::scratch dir;
  const auto path = dir.path() + "/wire";
  {
    core::wire_log log(path, 500);
    log.in(1, R"({"id":1,"method":"ping"})");
    log.out(2, "not\njson");
    for (int i = 0; i < 3; ++i)
      log.in(3, R"({"filler":"..............................................."})");
  }
  CHECK(std::filesystem::exists(path + ".1"));
  CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::group_all) ==
        std::filesystem::perms::none);
  std::istringstream lines(tests::read_file(path + ".1"));
  std::string first;
  std::string second;
  std::getline(lines, first);
  std::getline(lines, second);
  CHECK(json::parse(first).at("method") == "ping");
  CHECK(json::parse(first).at("_ahpLog").at("direction") == "in");
  CHECK(json::parse(second).at("text") == "not\njson");
  CHECK_THROWS(core::wire_log(dir.path() + "/none/wire"));
}
