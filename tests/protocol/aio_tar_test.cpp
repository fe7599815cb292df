#include "protocol/aio/tar.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ahpd::aio;

namespace {

struct taken {
  std::vector<tar_member> members;
  std::string bytes;
  std::string why;
  bool complete = false;
};

/// Reads an archive in pieces of a size.
taken take(const std::string& archive, std::size_t piece) {
  taken out;
  tar_reader reader({[&](tar_member member) { out.members.push_back(std::move(member)); },
                     [&](std::string_view bytes) { out.bytes += bytes; }});
  for (std::size_t at = 0; at < archive.size() && out.why.empty(); at += piece)
    out.why = reader.feed(std::string_view(archive).substr(at, piece));
  out.complete = reader.is_complete();
  return out;
}

} // namespace

TEST_CASE("a tar archive is read as it was written, in pieces of any size") {
  const std::string bytes(1000, 'x');
  const std::string name = std::string(120, 'n') + "/\xff";
  const auto archive = tar_header({tar_kind::folder, "d", {}, 0, 0755, 7}) +
                       tar_header({tar_kind::file, name, {}, bytes.size(), 0640, 1'700'000'000}) +
                       bytes + tar_padding(bytes.size()) +
                       tar_header({tar_kind::link, "l", std::string(101, 't'), 0, 0777, 0}) +
                       tar_header({tar_kind::file, "last", {}, 0, 0600, -5}) + tar_end();
  CHECK(archive.size() % 512 == 0);
  for (const std::size_t piece :
       {std::size_t{1}, std::size_t{511}, std::size_t{513}, archive.size()}) {
    const auto got = take(archive, piece);
    CHECK(got.why == "");
    CHECK(got.complete);
    CHECK(got.bytes == bytes);
    REQUIRE(got.members.size() == 4);
    CHECK(got.members[0].kind == tar_kind::folder);
    CHECK(got.members[0].path == "d/");
    CHECK(got.members[1].path == name);
    CHECK(got.members[1].size == bytes.size());
    CHECK(got.members[1].mode == 0640);
    CHECK(got.members[1].modified == 1'700'000'000);
    CHECK(got.members[2].target == std::string(101, 't'));
    CHECK(got.members[3].modified == 0);
  }
}

TEST_CASE("a tar archive may hold files of any size") {
  const std::uint64_t size = 077777777777 + std::uint64_t{1};
  const auto got = take(tar_header({tar_kind::file, "a", {}, size, 0600, 0}), 512);
  REQUIRE(got.members.size() == 1);
  CHECK(got.members[0].size == size);
  CHECK(!got.complete);
}

TEST_CASE("what is no tar archive is told") {
  auto archive = tar_header({tar_kind::file, "a", {}, 0, 0600, 0});
  CHECK(take(archive, 512).complete);
  CHECK(!take(archive.substr(0, 500), 512).complete);
  CHECK(!take("", 512).complete);
  auto broken = archive;
  broken[3] = 'b';
  CHECK(take(broken, 512).why.find("sum") != std::string::npos);
  auto device = archive;
  device[156] = '3';
  device.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : device)
    sum += static_cast<unsigned char>(c);
  char digits[8];
  std::snprintf(digits, sizeof digits, "%06o", sum);
  device.replace(148, 7, std::string(digits, 7));
  CHECK(take(device, 512).why.find("no file, directory or link") != std::string::npos);
  CHECK(take(device, 512).members.empty());
}

TEST_CASE("paths and links of an archive stay inside of it") {
  CHECK(inner_path("./a//b/.") == "a/b");
  CHECK(inner_path("./") == "");
  CHECK(inner_path("a..b/...") == "a..b/...");
  for (const char* bad : {"/a", "..", "a/..", "a/../b", "../a"})
    CHECK(!inner_path(bad));
  CHECK(!inner_path(std::string_view("a\0b", 3)));
  CHECK(stays_inside("l", "a"));
  CHECK(stays_inside("d/e/l", "../../a"));
  CHECK(!stays_inside("d/e/l", "../../../a"));
  CHECK(!stays_inside("d/e/l", "a/.."));
  CHECK(!stays_inside("l", "/a"));
  CHECK(!stays_inside("l", ""));
}
