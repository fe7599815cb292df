// Whole directories as tar archives: GET and PUT `/v2/fs/tree`, against the machine's own tar.

#include "tests/programs/aiod_files_support.hpp"

#include "protocol/aio/tar.hpp"

#include <sys/stat.h>
#include <unistd.h>

using namespace ahpd;
using fixture = tests::files_fixture;
using tests::check_error;
using tests::stat_of;
namespace fs = std::filesystem;

namespace {

constexpr const char* tar = "/usr/bin/tar";

tests::aiod_answer put(fixture& f, const std::string& name, const std::string& archive,
                       const std::string& more = {}) {
  return f.aiod.send({"PUT",
                      "/v2/fs/tree?path=" + percent::encode(f.at(name)) + more,
                      {{"Content-Type", "application/x-tar"}},
                      archive,
                      {}});
}

std::string member(aio::tar_member what, const std::string& bytes = {}) {
  what.size = bytes.size();
  return aio::tar_header(what) + bytes + aio::tar_padding(bytes.size());
}
std::string file(const std::string& path, const std::string& bytes = "1") {
  return member({aio::tar_kind::file, path, {}, 0, 0600, 0}, bytes);
}
std::string symbolic(const std::string& path, const std::string& target) {
  return member({aio::tar_kind::link, path, target, 0, 0777, 0});
}

void run(const std::vector<std::string>& words) {
  const auto done = tests::run_program({words, {}, {}});
  REQUIRE_MESSAGE(done.exit_code == 0, done.errors);
}

} // namespace

TEST_CASE("aiod tree: what goes out is what tar reads, and what tar writes comes in") {
  if (!fs::exists(tar))
    return tests::skip("tar");
  fixture f;
  const std::string deep = "d/" + std::string(90, 'n') + "/" + std::string(90, 'm') + "/x";
  std::string bytes;
  for (int i = 0; i < 300'000; ++i)
    bytes += static_cast<char>(i * 31 >> 3);
  f.put("src/a", bytes);
  f.put("src/empty", "");
  f.put("src/" + deep, "deep");
  f.put("src/\xff name", "bytes");
  fs::create_directory(f.at("src/nothing"));
  fs::create_symlink("d/x", f.at("src/link"));
  fs::create_symlink(std::string(150, 't'), f.at("src/long"));
  REQUIRE(::mkfifo(f.at("src/fifo").c_str(), 0600) == 0);
  fs::permissions(f.at("src/a"), fs::perms(0750));

  const auto got = f.get("tree", "src");
  CHECK(got.status == 200);
  CHECK(got.headers.at("Content-Type") == "application/x-tar");
  CHECK(got.headers.at("Content-Disposition") == "attachment; filename=\"src.tar\"");
  f.put("out.tar", got.body);
  fs::create_directory(f.at("by_tar"));
  run({tar, "-xpf", f.at("out.tar"), "-C", f.at("by_tar")});
  CHECK((stat_of(f.at("by_tar/a")).st_mode & 0777) == 0750);
  CHECK(stat_of(f.at("by_tar/a")).st_mtim.tv_sec == stat_of(f.at("src/a")).st_mtim.tv_sec);

  const auto back = put(f, "back", got.body);
  CHECK_MESSAGE(back.status == 200, back.body);
  CHECK(back.text("mode") == "rename");
  fs::remove(f.at("src/fifo"));
  for (const char* format : {"gnu", "pax", "ustar"}) {
    if (std::string(format) == "ustar") // has no room for the long link
      fs::remove(f.at("src/long"));
    run({tar, "-cf", f.at("in.tar"), "--format", format, "-C", f.at("src"), "."});
    const auto in = put(f, std::string("by_") + format, f.disk("in.tar"));
    CHECK_MESSAGE(in.status == 200, in.body);
  }
  for (const char* copy : {"by_tar", "back", "by_gnu", "by_pax", "by_ustar"}) {
    const auto at = [&](const std::string& name) { return std::string(copy) + "/" + name; };
    CHECK(f.disk(at("a")) == bytes);
    CHECK(f.disk(at("empty")).empty());
    CHECK(f.disk(at(deep)) == "deep");
    CHECK(f.disk(at("\xff name")) == "bytes");
    CHECK(fs::is_empty(f.at(at("nothing"))));
    CHECK(fs::read_symlink(f.at(at("link"))) == "d/x");
    CHECK(!fs::exists(f.at(at("fifo"))));
    if (std::string(copy) != "by_ustar")
      CHECK(fs::read_symlink(f.at(at("long"))) == std::string(150, 't'));
  }
  CHECK((stat_of(f.at("back/a")).st_mode & 0777) == 0644); // an archive's rights are not taken over

  f.put("one", "single");
  fs::create_directory(f.at("single"));
  put(f, "single", f.get("tree", "one").body);
  CHECK(f.disk("single/one") == "single");
  fs::create_directory(f.at("none"));
  CHECK(put(f, "made/none", f.get("tree", "none").body).status == 200);
  CHECK(fs::is_empty(f.at("made/none")));
  check_error(f.get("tree", "no"), 404, "not_found", "ENOENT");
  CHECK(f.aiod.ask("GET", "/v2/fs/tree?path=/dev/zero").status == 400);
}

TEST_CASE("aiod tree: an archive goes over what is there, and through no link") {
  fixture f;
  f.put("d/keep", "old");
  f.put("d/over", "old");
  f.put("d/sub/keep", "old");
  f.put("out/a", "safe");
  fs::create_directory_symlink("../out", f.at("d/to_out"));
  fs::create_symlink("../out/a", f.at("d/to_a"));
  const auto got = put(f, "d",
                       file("over", "new") + file("sub/new") + file("to_out/a", "evil") +
                         file("to_a", "evil") + aio::tar_end());
  CHECK_MESSAGE(got.status == 200, got.body);
  CHECK(got.text("mode") == "merge");
  CHECK(got.data().at("entries") == 6);
  CHECK(got.data().at("bytes") == 12);
  CHECK(f.disk("d/keep") == "old");
  CHECK(f.disk("d/over") == "new");
  CHECK(f.disk("d/sub/keep") == "old");
  CHECK(f.disk("d/sub/new") == "1");
  CHECK(f.disk("out/a") == "safe");
  CHECK(f.disk("d/to_out/a") == "evil");
  CHECK(f.disk("d/to_a") == "evil");

  check_error(put(f, "d", file("first") + file("sub") + aio::tar_end()), 400, "invalid_target",
              "EISDIR");
  check_error(put(f, "d", file("first") + file("keep/a") + aio::tar_end()), 400, "invalid_target",
              "ENOTDIR");
  CHECK(!fs::exists(f.at("d/first")));
  check_error(put(f, "d/keep", file("a") + aio::tar_end()), 400, "invalid_target", "ENOTDIR");
  CHECK(std::distance(fs::directory_iterator(f.at("d")), {}) == 5);
}

TEST_CASE("aiod tree: what leads out or is no archive leaves nothing behind") {
  fixture f;
  f.put("d/keep", "");
  f.put("victim", "safe");
  const std::string good = file("good");
  const std::string bad[] = {
    file("../victim", "evil"),
    file("a/../../victim", "evil"),
    file("/tmp/evil"),
    file("a/..", "evil"),
    symbolic("l", "/etc/passwd"),
    symbolic("l", "../victim"),
    symbolic("a/l", "../../victim"),
    symbolic("a/l", "b/../../../victim"),
    symbolic("l", "a") + symbolic("l/x", "a"),
    symbolic("s", ".") + file("s/x"),
    member({aio::tar_kind::hard_link, "h", "../victim", 0, 0, 0}),
    member({aio::tar_kind::hard_link, "h", "/etc/passwd", 0, 0, 0}),
    member({aio::tar_kind::hard_link, "h", "nothing", 0, 0, 0}),
    symbolic("d/l", "..") + member({aio::tar_kind::hard_link, "h", "d/l", 0, 0, 0}),
    file("x") + file("x/y"),
    file("x/y") + file("x"),
    std::string(512, 'x'),
    file("short", "1234").substr(0, 514),
  };
  for (const auto& each : bad)
    for (const char* to : {"d", "new"}) {
      CAPTURE(each.substr(0, 100));
      const bool is_short = each.size() == 514;
      check_error(put(f, to, good + each + (is_short ? "" : aio::tar_end())), 400, "bad_request",
                  "");
      CHECK(f.disk("victim") == "safe");
      CHECK(f.names() == 2);
      CHECK(std::distance(fs::directory_iterator(f.at("d")), {}) == 1);
    }
  CHECK(!fs::exists("/tmp/evil"));
  // what a link names may be above it, within the archive
  CHECK(put(f, "new", file("a/b/x") + symbolic("a/b/l", "../../top") + file("./top") + aio::tar_end())
          .status == 200);
  CHECK(f.disk("new/a/b/l") == "1");

  CHECK(put(f, "large", std::string()).status == 400);
  std::string many;
  for (int i = 0; i < 100'001; ++i)
    many += member({aio::tar_kind::file, std::to_string(i), {}, 0, 0, 0});
  const auto got = put(f, "many", many);
  check_error(got, 413, "bad_request", "");
  CHECK(f.names() == 3);
}

TEST_CASE("aiod tree: what comes in belongs to whom the call names") {
  if (::geteuid() != 0)
    return tests::skip("root");
  fixture f;
  CHECK(put(f, "p/d", file("a/b") + symbolic("l", "a") + aio::tar_end(), "&user=65534").status == 200);
  for (const char* made : {"p", "p/d", "p/d/a", "p/d/a/b", "p/d/l"})
    CHECK(stat_of(f.at(made)).st_uid == 65534);
  CHECK(put(f, "q", file("a") + aio::tar_end(), "&user=nobody-such").status == 400);
  CHECK(!fs::exists(f.at("q")));
}
