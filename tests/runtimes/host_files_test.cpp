// Work on the files of served folders, on real files.

#include "runtimes/host/files.hpp"
#include "tests/support/support.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ahpd;
using runtimes::file_fault;
using runtimes::served_folders;
namespace files = runtimes::files;
namespace fs = std::filesystem;

namespace {

/// A served folder `in` beside one that is not, `out`.
struct files_fixture {
  tests::scratch place;
  std::string in = place.path() + "/in";
  std::string out = place.path() + "/out";
  served_folders served = [this] {
    fs::create_directory(in);
    fs::create_directory(out);
    put(out + "/secret", "secret");
    return served_folders({in});
  }();

  static void put(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  std::string read(const std::string& path) const {
    const auto found = files::read(served, path);
    if (const auto* no = std::get_if<runtimes::file_refusal>(&found))
      return "refused: " + no->why;
    return std::get<std::string>(found);
  }

  static std::optional<file_fault> fault(const auto& outcome) {
    const auto* no = std::get_if<runtimes::file_refusal>(&outcome);
    return no ? std::optional(no->what) : std::nullopt;
  }

  std::optional<file_fault> write(files::write what) const {
    return fault(files::put(served, what));
  }
  files::info look(const std::string& path, bool follow = true) const {
    return std::get<files::info>(files::look(served, path, follow));
  }

  static std::size_t entries(const std::string& folder) {
    return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
};

struct stat stat_of(const std::string& path) {
  struct stat s {};
  REQUIRE(::lstat(path.c_str(), &s) == 0);
  return s;
}

} // namespace

TEST_CASE_FIXTURE(files_fixture, "no path and no link leads out of the served folders") {
  fs::create_directory(in + "/sub");
  put(in + "/sub/a", "a");
  fs::create_symlink(out, in + "/away");
  fs::create_symlink("../../out/secret", in + "/sub/up");
  fs::create_symlink(out + "/secret", in + "/file");
  fs::create_symlink("sub", in + "/near");
  fs::create_symlink(in + "/sub/a", in + "/absolute");
  fs::create_symlink("../in/sub/a", in + "/round");
  fs::create_symlink("loop", in + "/loop");

  for (const auto& path :
       {out + "/secret", in + "/../out/secret", in + "/away/secret", in + "/sub/up", in + "/file",
        in + "x", std::string("/etc/passwd"), std::string("/"), in + "/sub/../../out/secret"}) {
    CHECK_MESSAGE(fault(files::read(served, path)) == file_fault::outside, path);
    CHECK_MESSAGE(write({path, "x"}) == file_fault::outside, path);
    CHECK_MESSAGE(fault(files::list(served, path)) == file_fault::outside, path);
    CHECK_MESSAGE(fault(files::look(served, path, true)) == file_fault::outside, path);
    CHECK_MESSAGE(fault(files::copy(served, path, in + "/stolen", false)) == file_fault::outside,
                  path);
  }
  for (const auto& path : {out + "/new", in + "/away/new", in + "/../out/new/er"}) {
    CHECK_MESSAGE(fault(files::make_folder(served, path)) == file_fault::outside, path);
    CHECK_MESSAGE(fault(files::move(served, in + "/sub/a", path, false)) == file_fault::outside,
                  path);
    CHECK_MESSAGE(fault(files::remove(served, path, true)) == file_fault::outside, path);
  }
  CHECK(entries(out) == 1);
  CHECK(tests::read_file(out + "/secret") == "secret");

  for (const auto& path : {in + "/sub/a", in + "/near/a", in + "/absolute", in + "/round",
                           in + "//sub/./a", in + "/sub/../sub/a"})
    CHECK_MESSAGE(read(path) == "a", path);
  CHECK(fault(files::read(served, in + "/loop")) == file_fault::wrong);
  CHECK(look(in + "/near/a").path == fs::canonical(in + "/sub/a"));
  // A link that leads out is a link all the same: it can be seen and removed as one.
  CHECK(look(in + "/away", false).what == files::kind::link);
  CHECK_FALSE(fault(files::remove(served, in + "/away", true)));
  CHECK(entries(out) == 1);
}

TEST_CASE_FIXTURE(files_fixture, "a served folder may be named over a link, and hold another one") {
  fs::create_directories(out + "/real/inner");
  put(out + "/real/inner/a", "a");
  fs::create_symlink(out + "/real", place.path() + "/named");
  const auto named = place.path() + "/named";
  const served_folders both({named, named + "/inner", in, place.path() + "/missing"});
  for (const auto& path : {named + "/inner/a", out + "/real/inner/a"})
    CHECK_MESSAGE(std::get<std::string>(files::read(both, path)) == "a", path);
  // The inner one is no way around the outer one: somebody who may write there moved it.
  fs::remove_all(out + "/real/inner");
  fs::create_symlink("..", out + "/real/inner");
  CHECK(fault(files::read(both, named + "/inner/secret")) == file_fault::outside);
  CHECK(fault(files::remove(both, named, true)) == file_fault::denied);
  CHECK(fault(files::move(both, named, in + "/x", true)) == file_fault::denied);
}

TEST_CASE_FIXTURE(files_fixture, "a link that is swapped in meanwhile reaches no other file") {
  std::atomic<bool> over{false};
  // Swaps a folder with a link that leads out, as fast as it can.
  fs::create_directory(in + "/way");
  put(in + "/way/secret", "mine");
  std::thread swapper([&] {
    while (!over) {
      fs::rename(in + "/way", in + "/kept");
      fs::create_directory_symlink(out, in + "/way");
      fs::remove(in + "/way");
      fs::rename(in + "/kept", in + "/way");
    }
  });
  for (int i = 0; i < 3'000; ++i) {
    const auto found = files::read(served, in + "/way/secret");
    if (const auto* text = std::get_if<std::string>(&found))
      REQUIRE(text->rfind("mine", 0) == 0);
    write({in + "/way/secret", "mine " + std::to_string(i)});
    static_cast<void>(files::remove(served, in + "/way/other", true));
  }
  over = true;
  swapper.join();
  CHECK(tests::read_file(out + "/secret") == "secret");
  CHECK(entries(out) == 1);
}

TEST_CASE_FIXTURE(files_fixture, "each write mode puts the data where its position says") {
  using mode = files::write_mode;
  const auto path = in + "/f";
  const auto after = [&](mode how, std::uint64_t position, const std::string& data) {
    put(path, "abcdef");
    REQUIRE_FALSE(write({path, data, how, position}));
    return tests::read_file(path);
  };
  CHECK(after(mode::truncate, 0, "XY") == "XY");
  CHECK(after(mode::truncate, 2, "XY") == "abXY");
  CHECK(after(mode::truncate, 6, "XY") == "abcdefXY");
  CHECK(after(mode::append, 0, "XY") == "abcdefXY");
  CHECK(after(mode::append, 2, "XY") == "abcdXYef");
  CHECK(after(mode::append, 6, "XY") == "XYabcdef");
  CHECK(after(mode::insert, 0, "XY") == "XYabcdef");
  CHECK(after(mode::insert, 3, "XY") == "abcXYdef");
  CHECK(after(mode::insert, 6, std::string("\0\xFF", 2)) == std::string("abcdef\0\xFF", 8));
  CHECK(after(mode::append, 0, "") == "abcdef");

  for (const auto how : {mode::truncate, mode::append, mode::insert}) {
    put(path, "abcdef");
    CHECK(write({path, "XY", how, 7}) == file_fault::wrong);
    CHECK(tests::read_file(path) == "abcdef");
    CHECK(write({in + "/new", "XY", how, 1}) == file_fault::wrong);
    CHECK_FALSE(write({in + "/new", "XY", how, 0}));
    CHECK(tests::read_file(in + "/new") == "XY");
    fs::remove(in + "/new");
  }
  CHECK(entries(in) == 1);
}

TEST_CASE_FIXTURE(files_fixture, "a write keeps mode, owner and further names of a file") {
  const auto path = in + "/f";
  put(path, "old");
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  if (::geteuid() == 0)
    REQUIRE(::chown(path.c_str(), 1234, 4321) == 0);
  const auto before = stat_of(path);
  CHECK_FALSE(write({path, "new"}));
  const auto now = stat_of(path);
  CHECK(tests::read_file(path) == "new");
  CHECK(now.st_ino != before.st_ino); // replaced in one step
  CHECK(now.st_mode == before.st_mode);
  CHECK(now.st_uid == before.st_uid);
  CHECK(now.st_gid == before.st_gid);

  fs::create_hard_link(path, in + "/second");
  CHECK_FALSE(write({path, "a longer text"}));
  CHECK(tests::read_file(in + "/second") == "a longer text");
  CHECK_FALSE(write({path, "short"}));
  CHECK(tests::read_file(in + "/second") == "short");

  fs::create_symlink("f", in + "/link");
  CHECK_FALSE(write({in + "/link", "through"}));
  CHECK(fs::is_symlink(in + "/link"));
  CHECK(tests::read_file(path) == "through");
  CHECK(entries(in) == 3);
}

TEST_CASE_FIXTURE(files_fixture, "a write with a condition changes nothing when that fails") {
  const auto path = in + "/f";
  files::write what{path, "one"};
  what.create_only = true;
  CHECK_FALSE(write(what));
  what.data = "two";
  CHECK(write(what) == file_fault::taken);
  CHECK(write({in, "x", files::write_mode::truncate, 0, true}) == file_fault::taken);
  fs::create_symlink("nowhere", in + "/dangling");
  CHECK(write({in + "/dangling", "x", files::write_mode::truncate, 0, true}) == file_fault::taken);
  CHECK_FALSE(fs::exists(in + "/nowhere"));

  const auto first = look(path).version;
  CHECK_FALSE(write({path, "three", files::write_mode::truncate, 0, false, first}));
  CHECK(look(path).version != first);
  CHECK(write({path, "four", files::write_mode::truncate, 0, false, first}) == file_fault::stale);
  CHECK(write({path, "four", files::write_mode::append, 0, false, first}) == file_fault::stale);
  CHECK(write({in + "/absent", "x", files::write_mode::truncate, 0, false, first}) ==
        file_fault::stale);
  CHECK(tests::read_file(path) == "three");
  CHECK(write({in + "/no/such", "x"}) == file_fault::not_there);
  CHECK(write({path + "/under", "x"}) == file_fault::not_there);
  CHECK(write({in, "x"}) == file_fault::wrong);
}

TEST_CASE_FIXTURE(files_fixture, "appenders at the same time lose nothing of each other") {
  const auto path = in + "/log";
  const auto append = [&](char who) {
    for (int i = 0; i < 200; ++i)
      CHECK_FALSE(write({path, std::string(10, who) + "\n", files::write_mode::append}));
  };
  put(path, "");
  std::thread other([&] { append('b'); });
  append('a');
  other.join();
  std::ifstream lines(path);
  int seen = 0;
  for (std::string line; std::getline(lines, line); ++seen)
    CHECK((line == std::string(10, 'a') || line == std::string(10, 'b')));
  CHECK(seen == 400);
}

TEST_CASE_FIXTURE(files_fixture, "a full disk leaves every file as it was") {
  if (::geteuid() != 0)
    return tests::skip("root, to mount a small file system");
  const auto disk = in + "/disk";
  fs::create_directory(disk);
  if (::mount("none", disk.c_str(), "tmpfs", 0, "size=256k") != 0)
    return tests::skip("the right to mount");
  const std::string old(1000, 'o');
  const std::string big(1 << 20, 'x');
  put(disk + "/f", old);
  CHECK(write({disk + "/f", big}) == file_fault::failed);
  CHECK(write({disk + "/f", big, files::write_mode::append}) == file_fault::failed);
  CHECK(write({disk + "/f", big, files::write_mode::insert, 5}) == file_fault::failed);
  CHECK(write({disk + "/new", big}) == file_fault::failed);
  put(out + "/big", big);
  const served_folders both({in, out});
  CHECK(fault(files::copy(both, out + "/big", disk + "/f", false)) == file_fault::failed);
  CHECK(fault(files::move(both, out + "/big", disk + "/f", false)) == file_fault::failed);
  CHECK(tests::read_file(disk + "/f") == old);
  CHECK(fs::file_size(out + "/big") == big.size());
  fs::create_hard_link(disk + "/f", disk + "/second");
  CHECK(write({disk + "/f", big}) == file_fault::failed); // written where it is
  CHECK(tests::read_file(disk + "/second") == old);
  CHECK(entries(disk) == 2);
  // Moved from one file system to the other.
  fs::remove(disk + "/second");
  CHECK_FALSE(fault(files::move(both, disk + "/f", out + "/f", true)));
  CHECK(tests::read_file(out + "/f") == old);
  CHECK(entries(disk) == 0);
  REQUIRE(::umount(disk.c_str()) == 0);
}

TEST_CASE_FIXTURE(files_fixture,
                  "a write whose host is killed leaves the file as it was, and nothing beside it") {
  put(in + "/f", "before");
  const auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // The kernel kills whoever writes past this bound, in the middle of it.
    const rlimit none{0, 0};
    const rlimit some{1u << 20, 1u << 20};
    ::setrlimit(RLIMIT_CORE, &none);
    ::setrlimit(RLIMIT_FSIZE, &some);
    std::signal(SIGXFSZ, SIG_DFL);
    write({.path = in + "/f", .data = std::string(2u << 20, 'x')});
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGXFSZ);
  CHECK(read(in + "/f") == "before");
  CHECK(entries(in) == 1);
}

TEST_CASE_FIXTURE(files_fixture, "what is no file is not opened, and too much is not read") {
  REQUIRE(::mkfifo((in + "/pipe").c_str(), 0600) == 0);
  CHECK(fault(files::read(served, in + "/pipe")) == file_fault::wrong); // and nobody waits
  CHECK(write({in + "/pipe", "x"}) == file_fault::wrong);
  CHECK(fault(files::copy(served, in + "/pipe", in + "/p2", false)) == file_fault::wrong);
  CHECK(fault(files::read(served, in)) == file_fault::not_there);
  CHECK(fault(files::read(served, in + "/none")) == file_fault::not_there);
  put(in + "/big", "");
  fs::resize_file(in + "/big", files::most_read);
  CHECK(std::get<std::string>(files::read(served, in + "/big")).size() == files::most_read);
  fs::resize_file(in + "/big", files::most_read + 1);
  CHECK(fault(files::read(served, in + "/big")) == file_fault::wrong);
  fs::resize_file(in + "/big", files::most_written);
  CHECK(write({in + "/big", "x", files::write_mode::insert, 1}) == file_fault::wrong);
  std::string deep = in;
  for (int i = 0; i < 200; ++i)
    deep += "/d";
  CHECK(fault(files::make_folder(served, deep)) == file_fault::wrong);
}

TEST_CASE_FIXTURE(files_fixture, "a listing has folders first, and any byte in names") {
  const std::string odd = "caf\xE9 \n\t\"%41";
  put(in + "/" + odd, "odd");
  put(in + "/b", "");
  fs::create_directory(in + "/z");
  fs::create_symlink("z", in + "/to-folder");
  fs::create_symlink(out, in + "/to-outside");
  std::vector<std::string> names;
  const auto listed = std::get<std::vector<files::entry>>(files::list(served, in));
  for (const auto& e : listed)
    names.push_back((e.is_folder ? "/" : "") + e.name);
  CHECK(names == std::vector<std::string>{"/to-folder", "/z", "b", odd, "to-outside"});
  CHECK(read(in + "/" + odd) == "odd");
  CHECK(fault(files::list(served, in + "/b")) == file_fault::not_there);
}

TEST_CASE_FIXTURE(files_fixture, "folders are made with those they are in") {
  CHECK_FALSE(fault(files::make_folder(served, in + "/a/b/c")));
  CHECK(fs::is_directory(in + "/a/b/c"));
  CHECK_FALSE(fault(files::make_folder(served, in + "/a/b")));
  CHECK_FALSE(fault(files::make_folder(served, in)));
  put(in + "/f", "");
  CHECK(fault(files::make_folder(served, in + "/f")) == file_fault::taken);
  CHECK(fault(files::make_folder(served, in + "/f/g/h")) == file_fault::taken);
  CHECK(fault(files::make_folder(served, in + "/" + std::string(300, 'n'))) == file_fault::wrong);
}

TEST_CASE_FIXTURE(files_fixture, "copies and moves take all of a folder, and replace files only") {
  fs::create_directories(in + "/tree/sub");
  put(in + "/tree/sub/a", "a");
  REQUIRE(::chmod((in + "/tree/sub/a").c_str(), 0750) == 0);
  REQUIRE(::chmod((in + "/tree/sub").c_str(), 0550) == 0);
  fs::create_symlink(out, in + "/tree/link");
  put(in + "/f", "f");
  const auto copy = [&](const std::string& a, const std::string& b, bool only_new = false) {
    return fault(files::copy(served, in + a, in + b, only_new));
  };
  const auto move = [&](const std::string& a, const std::string& b, bool only_new = false) {
    return fault(files::move(served, in + a, in + b, only_new));
  };
  CHECK_FALSE(copy("/tree", "/copy"));
  CHECK(tests::read_file(in + "/copy/sub/a") == "a");
  CHECK((stat_of(in + "/copy/sub/a").st_mode & 0777) == 0750);
  CHECK((stat_of(in + "/copy/sub").st_mode & 0777) == 0550);
  CHECK(fs::read_symlink(in + "/copy/link") == out); // as a link: what it names stays outside
  CHECK(copy("/tree", "/copy") == file_fault::taken);
  CHECK(copy("/tree", "/f") == file_fault::taken);
  CHECK(copy("/f", "/tree") == file_fault::taken);
  CHECK(copy("/tree", "/tree/sub/again") == file_fault::wrong);
  CHECK(move("/tree", "/tree/sub/again") == file_fault::wrong);
  CHECK(copy("/f", "/g") == std::nullopt);
  CHECK(copy("/f", "/g", true) == file_fault::taken);
  CHECK(move("/f", "/g", true) == file_fault::taken);
  CHECK(copy("/none", "/g") == file_fault::not_there);
  CHECK(move("/f", "/none/g") == file_fault::not_there);
  CHECK_FALSE(copy("/f", "/f"));
  put(in + "/g", "other");
  CHECK_FALSE(move("/f", "/g"));
  CHECK(tests::read_file(in + "/g") == "f");
  CHECK_FALSE(move("/copy", "/moved", true));
  CHECK(tests::read_file(in + "/moved/sub/a") == "a");
  CHECK(entries(in) == 3);
}

TEST_CASE_FIXTURE(files_fixture, "a removal takes what it was asked to, and follows no link") {
  fs::create_directories(in + "/tree/sub/deep");
  put(in + "/tree/sub/a", "a");
  fs::create_directory_symlink(out, in + "/tree/link");
  fs::create_directory(in + "/empty");
  CHECK(fault(files::remove(served, in + "/tree", false)) == file_fault::wrong);
  CHECK_FALSE(fault(files::remove(served, in + "/empty", false)));
  CHECK_FALSE(fault(files::remove(served, in + "/tree", true)));
  CHECK(fault(files::remove(served, in + "/tree", true)) == file_fault::not_there);
  CHECK(fault(files::remove(served, in, true)) == file_fault::denied);
  CHECK(entries(in) == 0);
  CHECK(entries(out) == 1);
}
