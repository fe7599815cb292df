// Files of the whole machine: what a program that the test cannot time would do meanwhile.

#include "protocol/random.hpp"
#include "runtimes/disk/content.hpp"
#include "runtimes/disk/grep.hpp"
#include "runtimes/disk/staged.hpp"
#include "runtimes/disk/tree_intake.hpp"
#include "runtimes/disk/trees.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace ahpd;
namespace fs = std::filesystem;

namespace {

struct fixture {
  tests::scratch files;

  std::string at(const std::string& name) const { return files.path() + "/" + name; }
  void put(const std::string& name, const std::string& bytes) const {
    fs::create_directories(fs::path(at(name)).parent_path());
    std::ofstream(at(name), std::ios::binary) << bytes;
  }
  std::string disk(const std::string& name) const { return tests::read_file(at(name)); }
  std::size_t names(const std::string& name = ".") const {
    return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(at(name)), fs::directory_iterator()));
  }
};

template <class Work> int error_of(Work work) {
  try {
    work();
  } catch (const disk::fault& why) {
    return why.error() != 0 ? why.error() : -static_cast<int>(why.kind());
  }
  return 0;
}

} // namespace

TEST_CASE("disk: a link that takes a file's name meanwhile is replaced, not followed") {
  const fixture f;
  f.put("victim", "safe");
  f.put("a", "old");
  const auto at = disk::make_place(f.at("a"), disk::last_link::follow, std::nullopt);
  disk::staged_file next(at, "write", f.at("a"));
  next.write("new");
  fs::remove(f.at("a"));
  fs::create_symlink("victim", f.at("a"));
  next.put(at, std::nullopt);
  CHECK(f.disk("victim") == "safe");
  CHECK(!fs::is_symlink(f.at("a")));
  CHECK(f.disk("a") == "new");
  CHECK(f.names() == 2);
}

TEST_CASE("disk: a folder that is moved away meanwhile is the one that is written to") {
  const fixture f;
  f.put("d/a", "old");
  f.put("other/a", "safe");
  const auto at = disk::find_place(f.at("d/a"), disk::last_link::follow);
  fs::rename(f.at("d"), f.at("moved"));
  fs::create_directory_symlink("other", f.at("d"));
  disk::staged_file next(at, "write", f.at("d/a"));
  next.write("new");
  next.put(at, std::nullopt);
  CHECK(f.disk("other/a") == "safe");
  CHECK(f.disk("moved/a") == "new");
}

TEST_CASE("disk: links are followed as the kernel does, and no further than it does") {
  const fixture f;
  f.put("d/real", "old");
  fs::create_symlink("d/hop", f.at("l"));
  fs::create_symlink(f.at("d/real"), f.at("d/hop"));
  disk::write_file(f.at("l"), "new", disk::writing::replace, std::nullopt);
  CHECK(f.disk("d/real") == "new");
  fs::create_symlink("absent", f.at("dangling"));
  disk::write_file(f.at("dangling"), "made", disk::writing::replace, std::nullopt);
  CHECK(f.disk("absent") == "made");
  fs::create_symlink("loop", f.at("loop"));
  const auto write = [&] {
    disk::write_file(f.at("loop"), "", disk::writing::replace, std::nullopt);
  };
  CHECK(error_of(write) == ELOOP);
  // of a path through a link, ".." is the folder that holds what the link names
  fs::create_directory_symlink("d/sub", f.at("to_sub"));
  fs::create_directory(f.at("d/sub"));
  disk::write_file(f.at("to_sub/../x"), "1", disk::writing::replace, std::nullopt);
  CHECK(f.disk("d/x") == "1");
}

TEST_CASE("disk: a tree that is too large leaves nothing") {
  const fixture f;
  const auto make = [&](const disk::tree_bounds& most, auto fill) {
    return error_of([&] {
      disk::tree_intake into(f.at("t"), std::nullopt, most);
      fill(into);
      into.put();
    });
  };
  const auto too_large = -static_cast<int>(disk::fault_kind::too_large);
  const auto bytes = [](disk::tree_intake& into) {
    into.begin_file("a");
    into.write("123");
    into.begin_file("b");
    into.write("45");
  };
  CHECK(make({4, 10}, bytes) == too_large);
  CHECK(f.names() == 0);
  const auto folders = [](disk::tree_intake& into) { into.begin_file("a/b/c"); };
  CHECK(make({5, 2}, folders) == too_large); // folders that no member names count, too
  CHECK(f.names() == 0);
  CHECK(make({5, 3}, folders) == 0);
  fs::remove_all(f.at("t"));
  CHECK(make({5, 2}, bytes) == 0);
  CHECK(f.disk("t/b") == "45");
  CHECK(f.names("t") == 2);
}

TEST_CASE("disk: what takes a tree's place meanwhile stays") {
  const fixture f;
  disk::tree_intake into(f.at("t"), std::nullopt);
  into.begin_file("a");
  f.put("t/mine", "safe");
  CHECK(error_of([&] { into.put(); }) == EEXIST);
  CHECK(f.disk("t/mine") == "safe");
}

TEST_CASE("disk: a copy is the whole file, holes and all") {
  const fixture f;
  std::string bytes;
  for (int i = 0; i < 3'000'000; ++i)
    bytes += static_cast<char>(i * 31 >> 4);
  f.put("a", bytes);
  fs::resize_file(f.at("a"), 5'000'000);
  const auto done = disk::copy(f.at("a"), f.at("b"), false, std::nullopt);
  CHECK(done.files == 1);
  CHECK(done.bytes == 5'000'000);
  CHECK(f.disk("b") == f.disk("a"));
}

TEST_CASE("disk: sizes of files are written as ripgrep reads them") {
  CHECK(disk::size_of_text("0") == 0);
  CHECK(disk::size_of_text("500K") == 512'000);
  CHECK(disk::size_of_text("1M") == 1u << 20);
  CHECK(disk::size_of_text("2g") == std::uint64_t{2} << 30);
  for (const char* bad : {"", "M", "1MB", "-1", "1.5M", " 1", "99999999999999999999"})
    CHECK(!disk::size_of_text(bad));
}
