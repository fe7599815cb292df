#include "protocol/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <vector>

using namespace ahpd;

TEST_CASE("new UUIDs are of version 4, and differ") {
  const std::regex shape("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const auto id = new_uuid();
    CHECK_MESSAGE(std::regex_match(id, shape), id);
    seen.insert(id);
  }
  CHECK(seen.size() == 100);
}

TEST_CASE("random digits are as many as asked for, and differ") {
  CHECK(random_hex(0).empty());
  const auto one = random_hex(16);
  CHECK(std::regex_match(one, std::regex("[0-9a-f]{32}")));
  CHECK(one != random_hex(16));
}

TEST_CASE("more bytes than the kernel gives at a time are all filled") {
  // A byte stays what it was by chance once in 256; none of a hundred fillings changes it never.
  std::vector<unsigned char> bytes(1000, 0), changed(1000, 0);
  for (int i = 0; i < 100; ++i) {
    fill_random(bytes.data(), bytes.size());
    for (std::size_t k = 0; k < bytes.size(); ++k)
      changed[k] |= bytes[k];
  }
  CHECK(std::count(changed.begin(), changed.end(), 0) == 0);
}
