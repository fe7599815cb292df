#include "config/daemon_record.hpp"

#include "config/files.hpp"
#include "config/process_id.hpp"
#include "protocol/json.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <stdexcept>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace ahpd::config {

namespace {

constexpr std::size_t most_bytes = 1u << 20;

std::string file_of(const std::string& directory) {
  return directory + "/daemon.json";
}

std::string text_of(const json::value& v, std::string_view key) {
  return std::string(json::string_member(v, key).value_or(std::string_view()));
}

std::vector<std::string> list_of(const json::value& v, std::string_view key) {
  std::vector<std::string> out;
  const auto* list = json::member(v, key);
  if (list && list->is_array())
    for (const auto& item : list->get_array())
      if (item.is_string())
        out.emplace_back(item.get_string());
  return out;
}

json::array to_array(const std::vector<std::string>& list) {
  json::array out;
  for (const auto& item : list)
    out.emplace_back(item);
  return out;
}

/// The record as it stands, alive or not.
std::optional<daemon_record> read_record(const std::string& directory) {
  std::string text;
  try {
    text = read_whole(file_of(directory), most_bytes);
  } catch (const file_error& e) {
    if (e.error_number == ENOENT || e.error_number == ENOTDIR)
      return std::nullopt;
    throw;
  }
  std::string error;
  const auto v = json::parse_text(text, 8, error);
  daemon_record out; // what is no record says pid 0, which is nobody's
  if (!v)
    return out;
  if (const auto* pid = json::member(*v, "pid"); pid && pid->is_int64())
    out.pid = static_cast<pid_t>(pid->get_int64());
  out.process = text_of(*v, "process");
  out.url = text_of(*v, "url");
  out.connect_url = text_of(*v, "connectUrl");
  out.paths = list_of(*v, "paths");
  out.started_at = text_of(*v, "startedAt");
  out.argv = list_of(*v, "argv");
  return out;
}

std::string percent_encoded(const std::string& text) {
  static constexpr std::string_view plain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
  std::string out;
  for (const char c : text) {
    if (plain.find(c) != std::string_view::npos) {
      out += c;
      continue;
    }
    out += '%';
    out += "0123456789ABCDEF"[static_cast<unsigned char>(c) >> 4];
    out += "0123456789ABCDEF"[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

} // namespace

std::optional<daemon_record> find_daemon(const std::string& directory) {
  auto record = read_record(directory);
  if (!record)
    return std::nullopt;
  if (record->pid > 0 && !record->process.empty() && start_of(record->pid) == record->process)
    return record;
  ::unlink(file_of(directory).c_str());
  return std::nullopt;
}

void write_daemon(const std::string& directory, const daemon_record& record) {
  const json::value v{{"pid", record.pid},
                      {"process", record.process},
                      {"url", record.url},
                      {"connectUrl", record.connect_url},
                      {"paths", to_array(record.paths)},
                      {"startedAt", record.started_at},
                      {"argv", to_array(record.argv)}};
  write_whole(file_of(directory), json::pretty(v) + '\n');
}

void clear_daemon(const std::string& directory, pid_t pid) {
  const auto record = read_record(directory);
  if (record && record->pid == pid)
    ::unlink(file_of(directory).c_str());
}

std::string connect_url(const std::string& url, const std::string& token) {
  std::string origin = "http" + url.substr(2); // "ws" goes, an "s" after it stays
  for (const auto& [wildcard, address] :
       {std::pair{"//0.0.0.0:", "//127.0.0.1:"}, std::pair{"//[::]:", "//[::1]:"}})
    if (const auto at = origin.find(wildcard); at != std::string::npos)
      origin.replace(at, std::strlen(wildcard), address);
  return token.empty() ? origin + '/' : origin + "/?tkn=" + percent_encoded(token);
}

std::string iso_time(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

directory_lock::directory_lock(const std::string& directory) {
  const std::string path = directory + "/ahpd.lock";
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0)
    throw std::runtime_error(path + " could not be opened: " + std::strerror(errno));
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    const int error_number = errno;
    char text[32]{};
    const auto size = ::pread(file_, text, sizeof text - 1, 0);
    ::close(file_);
    if (error_number != EWOULDBLOCK)
      throw std::runtime_error(path + " could not be locked: " + std::strerror(error_number));
    const std::string pid(text, std::strcspn(text, "\n"));
    throw std::runtime_error("Another ahpd" + (size > 0 ? " (pid " + pid + ")" : std::string()) +
                             " keeps its sessions in " + directory +
                             "; stop it, or pass --sessions memory");
  }
  const std::string pid = std::to_string(::getpid()) + '\n';
  if (::ftruncate(file_, 0) != 0 ||
      ::pwrite(file_, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    const int error_number = errno;
    ::close(file_);
    throw std::runtime_error(path + " could not be written: " + std::strerror(error_number));
  }
}

directory_lock::~directory_lock() {
  ::close(file_);
}

} // namespace ahpd::config
