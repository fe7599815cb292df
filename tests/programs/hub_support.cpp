#include "tests/programs/hub_support.hpp"

#include "protocol/ahp/uris.hpp"
#include "protocol/transport/client.hpp"

#include <doctest/doctest.h>

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ahpd::tests {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr auto gone_limit = 20s;

hub_options with_mark(hub_options how, const std::string& mark) {
  how.env["HUB_UNDER_TEST"] = mark;
  return how;
}

std::string fresh_mark() {
  static std::atomic<unsigned> count{0};
  return std::to_string(::getpid()) + "." + std::to_string(++count);
}

/// Empty when the process is gone or not ours to look at.
std::string environment_of(const fs::path& process) {
  std::ifstream in(process / "environ", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool has_entry(const std::string& environment, const std::string& start) {
  return environment.rfind(start, 0) == 0 || environment.find('\0' + start) != std::string::npos;
}

bool is_ending(const std::string& type) {
  return type == "chat/turnComplete" || type == "chat/turnCancelled" || type == "chat/error";
}

} // namespace

marked_hub::marked_hub(hub_options how)
    : mark(fresh_mark()), hub(with_mark(std::move(how), mark)) {}

std::vector<pid_t> marked_hub::programs() const {
  std::vector<pid_t> out;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator("/proc", ec)) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos)
      continue;
    const auto environment = environment_of(entry.path());
    const bool ours = has_entry(environment, "HUB_UNDER_TEST=" + mark + '\0');
    if (ours && has_entry(environment, "AHPD_RUN="))
      out.push_back(std::stoi(name));
  }
  return out;
}

void marked_hub::wait_no_programs() const {
  // What dies may have started another meanwhile, so look again until there is none.
  for (auto left = programs(); !left.empty(); left = programs())
    wait_gone(left.front());
}

void wait_gone(pid_t pid) {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (process < 0)
    return;
  pollfd waits{process, POLLIN, 0};
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(gone_limit).count();
  const int there = ::poll(&waits, 1, static_cast<int>(limit));
  ::close(process);
  REQUIRE_MESSAGE(there == 1, "process " << pid << " ends in time");
}

namespace {

/// Whether the last writer of a FIFO goes within `ms` milliseconds.
bool let_go_within(int fd, int ms) {
  pollfd line{fd, 0, 0};
  return ::poll(&line, 1, ms) == 1 && (line.revents & POLLHUP) != 0;
}

} // namespace

lifeline::lifeline(std::string path) : path_(std::move(path)) {
  REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
  fd_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(fd_ >= 0);
}

lifeline::~lifeline() {
  ::close(fd_);
}

bool lifeline::held() const {
  return !let_go_within(fd_, 0);
}

void lifeline::wait_let_go() const {
  CHECK_MESSAGE(let_go_within(fd_, 60'000), path_ << " is still held");
}

shell_session open_session(ahp_peer& peer, const std::string& uri, json::object params) {
  params["channel"] = uri;
  if (!params.contains("provider"))
    params["provider"] = "shell";
  CHECK(peer.request("createSession", std::move(params)).is_null());
  const auto state = peer.subscribe(uri);
  const std::string chat(state.at("defaultChat").as_string());
  peer.subscribe(chat);
  return {uri, chat};
}

json::object turn_started(const std::string& id, const std::string& command) {
  return {{"type", "chat/turnStarted"},
          {"turnId", id},
          {"startedAt", "2026-11-30T10:00:05.000Z"},
          {"message", {{"text", command}, {"origin", {{"kind", "user"}}}}}};
}

json::object queued(const std::string& id, const std::string& command) {
  return {{"type", "chat/pendingMessageSet"},
          {"kind", "queued"},
          {"id", id},
          {"message", {{"text", command}, {"origin", {{"kind", "user"}}}}}};
}

std::string type_of(const json::value& envelope) {
  return std::string(envelope.at("action").at("type").as_string());
}

json::value wait_turn_end(ahp_peer& peer, const std::string& chat, const std::string& id) {
  const auto frame = peer.wait_for("the end of turn " + id, [&](const json::value& f) {
    const auto* params = json::member(f, "params");
    const auto* action = params ? json::member(*params, "action") : nullptr;
    return action && json::string_member(*params, "channel") == chat &&
           json::string_member(*action, "turnId") == id &&
           is_ending(std::string(json::string_member(*action, "type").value_or(""))) &&
           !json::member(*params, "rejectionReason");
  });
  return *json::member(frame, "params");
}

json::value run_turn(ahp_peer& peer, const std::string& chat, const std::string& id,
                     const std::string& command) {
  peer.dispatch(chat, turn_started(id, command));
  return wait_turn_end(peer, chat, id);
}

json::value call_result(const ahp_peer& peer, const std::string& id) {
  for (const auto& envelope : peer.actions("chat/toolCallComplete"))
    if (envelope.at("action").at("turnId") == json::value(id))
      return envelope.at("action").at("result");
  FAIL("turn " << id << " has a finished call");
  return nullptr;
}

std::string text_of(const json::value& content, std::string_view stream) {
  std::string out;
  for (const auto& entry : content.as_array())
    if (json::string_member(entry.at("_meta"), "ahpd.stream") == stream) {
      if (const auto text = json::string_member(entry, "text"))
        out += *text;
      else
        out += ahp::base64_decode(entry.at("data").as_string()).value();
    }
  return out;
}

std::string wait_for_file(const std::string& file) {
  return "while [ ! -e " + file + " ]; do sleep 0.02; done";
}

void touch(const std::string& path) {
  std::ofstream made(path);
  REQUIRE(made.good());
}

transport::http_response http_get(std::uint16_t port, const std::string& target,
                                  transport::fields headers) {
  boost::asio::io_context io;
  const auto client = transport::make_http_client(io, {"127.0.0.1", port, false, {}, {}, {}, {}});
  std::optional<transport::http_result> got;
  const auto pending =
    client->send({"GET", target, std::move(headers), {}, {}}, {},
                 [&](transport::http_result result) { got = std::move(result); });
  while (!got && io.run_one_for(20s) > 0) {
  }
  REQUIRE_MESSAGE((got && got->response),
                  target << " is answered: " << (got ? got->failed.text : "no answer"));
  return *got->response;
}

} // namespace ahpd::tests
