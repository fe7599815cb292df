// Files of aiod that come and go as bytes: `/v2/fs/upload`, `/v2/fs/download` and their v1 forms.

#include "tests/programs/aiod_files_support.hpp"

#include <algorithm>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace ahpd;
using fixture = tests::files_fixture;
using tests::check_error;
using tests::stat_of;
namespace fs = std::filesystem;

namespace {

std::string all_bytes() {
  std::string out;
  for (int i = 0; i < 1024; ++i)
    out += static_cast<char>(i * 7);
  return out + "\r\n--b\r\n--";
}

std::string part(const std::string& disposition, const std::string& bytes) {
  return "--bound\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + bytes + "\r\n";
}
std::string file_part(const std::string& bytes, const std::string& name = "up.bin") {
  return part("name=\"file\"; filename=\"" + name + "\"", bytes);
}
std::string path_part(const std::string& path) {
  return part("name=\"path\"", path);
}
const std::string form_end = "--bound--\r\n";

tests::aiod_answer upload(fixture& f, const std::string& form,
                          const std::string& target = "/v2/fs/upload") {
  return f.aiod.send(
    {"POST", target, {{"Content-Type", "multipart/form-data; boundary=\"bound\""}}, form, {}});
}

/// A connection that is read only when the test wants to.
class raw_socket {
public:
  explicit raw_socket(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{30, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    REQUIRE(::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
  }
  ~raw_socket() { ::close(fd_); }
  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      REQUIRE(n > 0);
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  /// Up to and with a text; "" without one: to the end.
  std::string read(std::string_view upto) const {
    std::string out;
    char piece[1 << 16];
    while (upto.empty() || out.find(upto) == std::string::npos) {
      const auto n = ::recv(fd_, piece, upto.empty() ? sizeof piece : 1, 0);
      if (n <= 0)
        break;
      out.append(piece, static_cast<std::size_t>(n));
    }
    return out;
  }

private:
  int fd_;
};

/// The most memory that a process has had, in KiB.
long peak_of(pid_t pid) {
  const auto status = tests::read_file("/proc/" + std::to_string(pid) + "/status");
  return std::stol(status.substr(status.find("VmHWM:") + 6));
}

/// Asks aiod things until it has done what it does without being asked.
template <class Done> void until(fixture& f, Done done) {
  for (int i = 0; i < 20'000 && !done(); ++i)
    f.aiod.ask("GET", "/health");
  CHECK(done());
}

} // namespace

TEST_CASE("aiod download: all bytes, ranges of them, and what HTTP says about both") {
  fixture f;
  const auto bytes = all_bytes();
  f.put("a \"b\".bin", bytes);
  for (const std::string base : {"/v2/fs/", "/v1/file/"}) {
    const auto target = base + "download?path=" + percent::encode(f.at("a \"b\".bin"));
    const auto get = [&](transport::fields headers) {
      return f.aiod.ask("GET", target, std::nullopt, std::move(headers));
    };
    auto got = get({});
    CHECK(got.status == 200);
    CHECK(got.body == bytes);
    CHECK(got.headers.at("Content-Type") == "application/octet-stream");
    CHECK(got.headers.at("Accept-Ranges") == "bytes");
    CHECK(got.headers.at("Content-Disposition") == "attachment; filename=\"a \\\"b\\\".bin\"");
    CHECK(got.headers.at("Last-Modified").find(" GMT") != std::string::npos);
    const auto tag = got.headers.at("ETag");
    CHECK(tag.size() > 2);

    got = get({{"Range", "bytes=3-9"}});
    CHECK(got.status == 206);
    CHECK(got.body == bytes.substr(3, 7));
    CHECK(got.headers.at("Content-Range") == "bytes 3-9/" + std::to_string(bytes.size()));
    CHECK(get({{"Range", "bytes=-5"}}).body == bytes.substr(bytes.size() - 5));
    CHECK(get({{"Range", "bytes=1000-"}}).body == bytes.substr(1000));
    CHECK(get({{"Range", "bytes=1-2,4-5"}}).status == 200);
    CHECK(get({{"Range", "bytes=9999-"}}).status == 416);
    CHECK(get({{"Range", "bytes=0-1"}, {"If-Range", tag}}).status == 206);
    CHECK(get({{"Range", "bytes=0-1"}, {"If-Range", "\"old\""}}).body == bytes);
    CHECK(get({{"If-None-Match", tag}}).status == 304);
    CHECK(get({{"If-Match", "\"old\""}}).status == 412);
    CHECK(f.aiod.ask("GET", target + "&change_policy=x").status == 422);

    got = f.aiod.send({"HEAD", target, {}, {}, {}});
    CHECK(got.status == 200);
    CHECK(got.headers.at("Content-Length") == std::to_string(bytes.size()));
    CHECK(got.body.empty());

    // 404 on both versions; a client tells its failure by the status alone
    check_error(f.aiod.ask("GET", base + "download?path=/nowhere"), 404, "not_found", "ENOENT");
    check_error(f.aiod.ask("GET", base + "download?path=/tmp"), 400, "invalid_target", "EISDIR");
  }
  f.put("empty", "");
  CHECK(f.get("download", "empty").status == 200);
  CHECK(f.get("download", "empty").body.empty());
  CHECK(f.aiod.ask("GET", "/v2/fs/download?path=/proc/self/comm").body == "aiod\n");
  CHECK(f.aiod.ask("GET", "/v2/fs/download?path=/dev/zero").status == 400);
}

TEST_CASE("aiod download: with change_policy=abort a changed file is told, or cut off") {
  fixture f;
  f.put("a", "1");
  const auto tag = f.get("download", "a").headers.at("ETag");
  f.put("a", "22");
  const auto target = "/v2/fs/download?change_policy=abort&path=" + percent::encode(f.at("a"));
  CHECK(f.aiod.ask("GET", target).body == "22");
  check_error(f.aiod.ask("GET", target, std::nullopt, {{"If-Match", tag}}), 409, "changed", "");

  constexpr std::size_t size = 128u << 20;
  for (const char* policy : {"abort", "ignore"}) {
    fs::remove(f.at("big"));
    f.put("big", "x");
    fs::resize_file(f.at("big"), size);
    raw_socket to(f.aiod.port());
    to.send("GET /v2/fs/download?change_policy=" + std::string(policy) +
            "&path=" + percent::encode(f.at("big")) + " HTTP/1.0\r\nHost: x\r\n\r\n");
    CHECK(to.read("\r\n\r\n").find("Content-Length: " + std::to_string(size)) != std::string::npos);
    f.put("new", std::string(size / 1024, 'y')); // another file in its place, as large as nothing
    fs::rename(f.at("new"), f.at("big"));
    const auto got = to.read("").size();
    if (std::string(policy) == "abort")
      CHECK(got < size);
    else
      CHECK(got == size);
  }
}

TEST_CASE("aiod upload: any bytes, in any order of fields") {
  fixture f({}, {{"TMPDIR", "/var/tmp"}});
  const auto bytes = all_bytes();
  const auto target = f.at("x/y/a");
  for (const std::string route : {"/v2/fs/upload", "/v1/file/upload"}) {
    for (const auto& form : {path_part(target) + file_part(bytes) + form_end,
                             file_part(bytes) + path_part(target) + form_end,
                             "preamble\r\n" + part("name=other", "1") + file_part(bytes) +
                               part("name=after", "") + path_part(target) + form_end + "rest"}) {
      fs::remove_all(f.at("x"));
      const auto got = upload(f, form, route);
      CHECK_MESSAGE(got.status == 200, got.body);
      CHECK(got.text("file_path") == target);
      CHECK(got.data().at("file_size") == bytes.size());
      CHECK(got.data().at("success") == true);
      CHECK(f.disk("x/y/a") == bytes);
    }
  }
  CHECK(upload(f, path_part(f.at("e")) + file_part("") + form_end).data().at("file_size") == 0);
  CHECK(f.disk("e").empty());

  const auto name = "aiod-upload-" + std::to_string(::getpid()) + ".txt";
  const auto got = upload(f, file_part("tmp", "C:\\\\dir\\\\" + name) + form_end);
  CHECK(got.text("file_path") == "/var/tmp/" + name);
  CHECK(tests::read_file("/var/tmp/" + name) == "tmp");
  fs::remove("/var/tmp/" + name);

  fs::permissions(f.at("x/y/a"), fs::perms(0604));
  fs::create_symlink("x/y/a", f.at("link"));
  upload(f, path_part(f.at("link")) + file_part("new") + form_end);
  CHECK(f.disk("x/y/a") == "new");
  CHECK(fs::is_symlink(f.at("link")));
  CHECK((stat_of(f.at("x/y/a")).st_mode & 0777) == 0604);
  if (::geteuid() == 0) {
    upload(f, path_part(f.at("o/p")) + file_part("1") + form_end, "/v2/fs/upload?user=65534");
    CHECK(stat_of(f.at("o")).st_uid == 65534);
    CHECK(stat_of(f.at("o/p")).st_uid == 65534);
  }
}

TEST_CASE("aiod upload: what fails leaves nothing") {
  fixture f({}, {{"TMPDIR", "/var/tmp"}});
  f.put("keep", "old");
  fs::create_directory(f.at("dir"));
  const auto form = [&](const std::string& name) {
    return path_part(f.at(name)) + file_part("new") + form_end;
  };
  check_error(upload(f, form("dir")), 400, "invalid_target", "EISDIR");
  check_error(upload(f, form("keep/a")), 400, "invalid_target", "ENOTDIR");
  check_error(upload(f, form("keep/a"), "/v1/file/upload"), 200, "invalid_target", "ENOTDIR");
  check_error(upload(f, form("new/")), 400, "invalid_target", "EISDIR");
  check_error(upload(f, path_part(f.at("keep")) + file_part("new")), 400, "bad_request", "");
  check_error(upload(f, file_part("1") + file_part("2") + form_end), 400, "bad_request", "");
  check_error(upload(f, file_part("1", "..") + form_end), 400, "bad_request", "");
  check_error(upload(f, "--bound!\r\n"), 400, "bad_request", "");
  CHECK(upload(f, path_part("a") + form_end).status == 422);
  CHECK(upload(f, form("a"), "/v2/fs/upload?user=nobody-such").status == 400);
  CHECK(f.aiod.ask("POST", "/v2/fs/upload", json::value{{"path", "a"}}).status == 415);
  CHECK(f.disk("keep") == "old");
  CHECK(f.names() == 2);

  { // the peer goes in the middle
    raw_socket to(f.aiod.port());
    to.send("POST /v2/fs/upload HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n"
            "Content-Type: multipart/form-data; boundary=bound\r\n\r\n" +
            path_part(f.at("keep")) + file_part(std::string(1000, 'x')));
    until(f, [&] { return f.names() == 3; });
    bool staged = false;
    for (const auto& each : fs::directory_iterator(f.root)) {
      const auto name = each.path().filename().string();
      staged = staged || (name.starts_with(".aiod-upload-") && name.ends_with(".part"));
    }
    CHECK(staged);
    CHECK(f.disk("keep") == "old");
  }
  until(f, [&] { return f.names() == 2; });
  CHECK(f.disk("keep") == "old");

  const auto small = f.at("dir");
  if (::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=64k") != 0)
    return tests::skip("the right to mount a tmpfs");
  f.put("dir/a", "old");
  const std::string big(1u << 20, 'x');
  for (const auto& each : {path_part(f.at("dir/a")) + file_part(big) + form_end,
                           file_part(big) + path_part(f.at("dir/a")) + form_end}) {
    const auto full = upload(f, each);
    check_error(full, 507, "no_space_left", "ENOSPC");
    until(f, [&] { return std::distance(fs::directory_iterator(small), {}) == 1; });
    CHECK(f.disk("dir/a") == "old");
  }
  ::umount2(small.c_str(), MNT_DETACH);
  for (const auto& each : fs::directory_iterator("/var/tmp"))
    CHECK(!each.path().filename().string().starts_with(".aiod-upload-"));
}

TEST_CASE("aiod transfer: memory does not grow with a file") {
  fixture f;
  f.put("big", "x");
  fs::resize_file(f.at("big"), 100u << 20);
  f.aiod.ask("GET", "/health");
  const auto before = peak_of(f.aiod.pid());
  const auto form = tests::run_program({{"/usr/bin/curl", "-sS", "-F", "file=@" + f.at("big"), "-F",
                                         "path=" + f.at("copy"), f.aiod.url("/v2/fs/upload")},
                                        {},
                                        {}});
  CHECK(form.output.find("\"file_size\":104857600") != std::string::npos);
  CHECK(fs::file_size(f.at("copy")) == 100u << 20);
  const auto down =
    tests::run_program({{"/usr/bin/curl", "-sS", "-o", f.at("back"),
                         f.aiod.url("/v2/fs/download?path=" + percent::encode(f.at("copy")))},
                        {},
                        {}});
  CHECK(down.exit_code == 0);
  CHECK(fs::file_size(f.at("back")) == 100u << 20);
  f.post("copy", {{"source", "big"}, {"destination", "again"}});
  CHECK(fs::file_size(f.at("again")) == 100u << 20);
  fs::create_directory(f.at("tree"));
  fs::rename(f.at("again"), f.at("tree/big"));
  fs::remove(f.at("back"));
  tests::run_program({{"/usr/bin/curl", "-sS", "-o", f.at("tar"),
                       f.aiod.url("/v2/fs/tree?path=" + percent::encode(f.at("tree")))},
                      {},
                      {}});
  const auto in =
    tests::run_program({{"/usr/bin/curl", "-sS", "-T", f.at("tar"),
                         f.aiod.url("/v2/fs/tree?path=" + percent::encode(f.at("tree2")))},
                        {},
                        {}});
  CHECK(in.output.find("\"bytes\":104857600") != std::string::npos);
  CHECK(fs::file_size(f.at("tree2/big")) == 100u << 20);
  CHECK(peak_of(f.aiod.pid()) - before < 30'000);
}
