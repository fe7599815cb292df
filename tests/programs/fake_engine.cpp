#include "tests/programs/fake_engine.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace ahpd::tests {

namespace {

void send_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (n <= 0)
      return; // the hub went, which its tests notice
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void respond(int fd, int status, const std::string& body, const std::string& more = {}) {
  send_all(fd, "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Type: application/json\r\n" +
                 more + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
}

void begin_chunks(int fd) {
  send_all(fd, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
               "Transfer-Encoding: chunked\r\n\r\n");
}

void send_chunk(int fd, const std::string& text) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  send_all(fd, size + text + "\r\n");
}

/// Reads more of a connection; false at its end.
bool read_more(int fd, std::string& into) {
  char piece[4096];
  const auto n = ::recv(fd, piece, sizeof piece, 0);
  if (n > 0)
    into.append(piece, static_cast<std::size_t>(n));
  return n > 0;
}

std::size_t body_size(const std::string& head) {
  constexpr std::string_view name = "Content-Length: ";
  const auto at = head.find(name);
  return at == std::string::npos ? 0 : std::stoul(head.substr(at + name.size()));
}

} // namespace

fake_engine::fake_engine(std::string api) : api_(std::move(api)) {
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  std::strncpy(where.sun_path, path().c_str(), sizeof where.sun_path - 1);
  REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0);
  REQUIRE(::listen(listener_, 16) == 0);
  accepting_ = std::thread([this] { accept_all(); });
}

fake_engine::~fake_engine() {
  ::shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  ::close(listener_);
  {
    const std::lock_guard held(guard_);
    for (const int fd : open_)
      ::shutdown(fd, SHUT_RDWR);
  }
  for (auto& thread : serving_)
    thread.join();
}

void fake_engine::accept_all() {
  while (true) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0)
      return;
    const std::lock_guard held(guard_);
    open_.insert(fd);
    serving_.emplace_back([this, fd] { serve(fd); });
  }
}

void fake_engine::serve(int fd) {
  std::string bytes;
  bool more = true;
  while (more) {
    const auto end = bytes.find("\r\n\r\n");
    const auto size = end == std::string::npos ? 0 : end + 4 + body_size(bytes.substr(0, end));
    if (size == 0 || bytes.size() < size) {
      more = read_more(fd, bytes);
      continue;
    }
    request what;
    const auto space = bytes.find(' ');
    what.method = bytes.substr(0, space);
    what.path = bytes.substr(space + 1, bytes.find_first_of(" ?", space + 1) - space - 1);
    what.body = bytes.substr(end + 4, size - end - 4);
    bytes.erase(0, size);
    const auto prefix = "/v" + api_;
    if (what.path.rfind(prefix, 0) == 0)
      what.path.erase(0, prefix.size());
    more = answer(fd, what);
  }
  const std::lock_guard held(guard_);
  if (puller_ == fd)
    puller_ = -1;
  open_.erase(fd);
  ::close(fd);
}

/// False when the connection is over.
bool fake_engine::answer(int fd, const request& what) {
  std::unique_lock held(guard_);
  seen_.push_back(what.method + " " + what.path);
  constexpr std::string_view folder = "/containers/";
  std::string id;
  if (what.path.rfind(folder, 0) == 0)
    id = what.path.substr(folder.size(), what.path.find('/', folder.size()) - folder.size());
  if (what.path == "/_ping") {
    respond(fd, 200, "OK", "Api-Version: " + api_ + "\r\nDate: Mon, 30 Nov 2026 17:26:40 GMT\r\n");
  } else if (what.path == "/containers/json") {
    json::array rows;
    for (const auto& entry : containers_)
      rows.push_back(json::object{{"Id", entry.first}});
    respond(fd, 200, json::serialize(rows));
  } else if (what.path == "/events") {
    begin_chunks(fd);
  } else if (what.path == "/images/create") {
    begin_chunks(fd);
    puller_ = fd;
    changed_.notify_all();
  } else if (what.path.rfind("/images/", 0) == 0) {
    respond(fd, has_image_ ? 200 : 404, R"({"message": "No such image"})");
  } else if (what.path == "/containers/create") {
    const auto body = json::parse(what.body);
    containers_["c0ffee"] = json::object{{"Id", "c0ffee"},
                                         {"Name", "/pulled"},
                                         {"Created", "2026-11-30T17:26:40Z"},
                                         {"State", {{"Running", true}, {"Status", "running"}}},
                                         {"Config", body}};
    respond(fd, 201, R"({"Id": "c0ffee"})");
  } else if (what.method == "POST") {
    respond(fd, 204, "");
  } else if (containers_.count(id)) {
    respond(fd, 200, json::serialize(containers_[id]));
  } else if (id == "pulled" && !containers_.empty()) {
    respond(fd, 200, json::serialize(containers_.begin()->second));
  } else {
    respond(fd, 404, R"({"message": "No such container"})");
  }
  return true;
}

int fake_engine::wait_puller() {
  std::unique_lock held(guard_);
  const bool pulls =
    changed_.wait_for(held, std::chrono::seconds(60), [&] { return puller_ >= 0; });
  std::string all;
  for (const auto& one : seen_)
    all += "\n  " + one;
  REQUIRE_MESSAGE(pulls, "nobody pulls; what was asked:" << all);
  return puller_;
}

void fake_engine::say(const json::object& line) {
  send_chunk(wait_puller(), json::serialize(line) + "\r\n");
}

void fake_engine::end_pull(bool there) {
  const int fd = wait_puller();
  const std::lock_guard held(guard_);
  has_image_ = there;
  send_all(fd, "0\r\n\r\n");
  puller_ = -1;
}

std::vector<std::string> fake_engine::seen() const {
  const std::lock_guard held(guard_);
  return seen_;
}

} // namespace ahpd::tests
