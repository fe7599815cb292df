#include "config/daemon_record.hpp"

#include "config/files.hpp"
#include "config/process_id.hpp"
#include "protocol/json.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <ctime>

#include <unistd.h>

namespace ahpd::config {

namespace {

constexpr std::size_t most_bytes = 1u << 20;

std::string file_of(const std::string& directory) {
  return directory + "/daemon.json";
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
  out.process = json::text(*v, "process");
  out.url = json::text(*v, "url");
  out.connect_url = json::text(*v, "connectUrl");
  out.paths = list_of(*v, "paths");
  out.started_at = json::text(*v, "startedAt");
  out.argv = list_of(*v, "argv");
  out.cwd = json::text(*v, "cwd");
  const auto* typed = json::member(*v, "tokenTyped");
  out.token_typed = typed && *typed == json::value(true);
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
                      {"argv", to_array(record.argv)},
                      {"cwd", record.cwd},
                      {"tokenTyped", record.token_typed}};
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

std::string token_of(const std::string& connect_url) {
  constexpr std::string_view query = "/?tkn=";
  const auto at = connect_url.find(query);
  if (at == std::string::npos)
    return {};
  std::string out;
  for (auto i = at + query.size(); i < connect_url.size(); ++i) {
    if (connect_url[i] != '%') {
      out += connect_url[i];
      continue;
    }
    unsigned byte = 0;
    std::from_chars(connect_url.data() + i + 1,
                    connect_url.data() + std::min(i + 3, connect_url.size()), byte, 16);
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

std::string iso_time(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

} // namespace ahpd::config
