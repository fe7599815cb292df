#include "runtimes/process/byte_ring.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>

using ahpd::process::byte_ring;

TEST_CASE("a ring gives back what it keeps, at its offsets") {
  byte_ring ring(8);
  CHECK(ring.append("abc") == 0);
  CHECK(ring.append("defgh") == 0);
  CHECK(ring.read(0).bytes == "abcdefgh");
  CHECK(ring.append("ij") == 2);
  CHECK(ring.begin() == 2);
  CHECK(ring.end() == 10);

  const auto all = ring.read(0);
  CHECK(all.offset == 2);
  CHECK(all.bytes == "cdefghij");
  CHECK(all.end == 10);

  const auto some = ring.read(5, 3);
  CHECK(some.offset == 5);
  CHECK(some.bytes == "fgh");
  CHECK(some.end == 10);
}

TEST_CASE("reading at or behind the end gives nothing and says where the end is") {
  byte_ring ring(8);
  CHECK(ring.read(0).bytes.empty());
  ring.append("abc");
  CHECK(ring.read(3).offset == 3);
  CHECK(ring.read(3).bytes.empty());
  CHECK(ring.read(99).offset == 3);
  CHECK(ring.read(99).bytes.empty());
  CHECK(ring.read(1, 0).bytes.empty());
}

TEST_CASE("an append larger than the ring keeps its last bytes") {
  byte_ring ring(4);
  ring.append("xy");
  CHECK(ring.append("0123456789") == 8);
  CHECK(ring.read(0).offset == 8);
  CHECK(ring.read(0).bytes == "6789");
}

TEST_CASE("a ring that keeps nothing only counts") {
  byte_ring ring(0);
  CHECK(ring.append("abc") == 3);
  CHECK(ring.end() == 3);
  CHECK(ring.read(0).offset == 3);
  CHECK(ring.read(0).bytes.empty());
  CHECK(ring.capacity() == 0);
}

TEST_CASE("a ring takes memory as it is filled, up to its bound") {
  byte_ring ring(1u << 20);
  CHECK(ring.capacity() == 0);
  ring.append("a");
  CHECK(ring.capacity() <= 4096);
  for (int i = 0; i < 100; ++i)
    ring.append(std::string(100'000, 'x'));
  CHECK(ring.capacity() == 1u << 20);
  CHECK(ring.read(0).bytes.size() == 1u << 20);
}

TEST_CASE("any sequence of appends reads like the end of one string") {
  std::mt19937 random(7);
  for (const std::size_t bound : {1u, 2u, 7u, 100u, 5000u, 20000u}) {
    byte_ring ring(bound);
    std::string model;
    std::uint64_t evicted = 0;
    for (int i = 0; i < 400; ++i) {
      std::string bytes(random() % (i % 10 == 0 ? 12000 : 40), '\0');
      for (auto& each : bytes)
        each = static_cast<char>(random());
      evicted += ring.append(bytes);
      model += bytes;
      REQUIRE(ring.end() == model.size());
      REQUIRE(ring.begin() == evicted);
      REQUIRE(evicted == model.size() - std::min(bound, model.size()));
      const std::uint64_t from = random() % (model.size() + 1);
      const std::size_t most = random() % 3000;
      const auto got = ring.read(from, most);
      REQUIRE(got.offset == std::max(from, evicted));
      REQUIRE(got.bytes == model.substr(got.offset, most));
    }
  }
}

TEST_CASE("a ring that forgot goes on counting, and holds no memory") {
  byte_ring ring(8);
  ring.append("abcdef");
  ring.forget();
  CHECK(ring.capacity() == 0);
  CHECK(ring.begin() == 6);
  CHECK(ring.read(0).bytes.empty());
  CHECK(ring.append("gh") == 2);
  CHECK(ring.end() == 8);
  CHECK(ring.capacity() == 0);
}
