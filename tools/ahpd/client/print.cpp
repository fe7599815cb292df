#include "tools/ahpd/client/print.hpp"

#include "tools/ahpd/client/failure.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include <unistd.h>

namespace ahpd::client {

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

void print_line(std::string_view text) {
  if (!write_all(STDOUT_FILENO, std::string(text) + "\n"))
    throw client_failure{exit_refused, "standard output cannot be written", ""};
}

void print_note(std::string_view text) {
  write_all(STDERR_FILENO, "ahpd: " + std::string(text) + "\n");
}

std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return out;
}

void print_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size())
        widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += plain(row[i]);
      if (i + 1 < row.size())
        line.append(widths[i] - row[i].size() + 2, ' ');
    }
    print_line(line);
  }
}

std::string bytes_text(std::uint64_t count) {
  static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(count);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit)
    value /= 1024;
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return out.data();
}

double number_of(const json::value* v) {
  if (!v)
    return 0;
  if (v->is_int64())
    return static_cast<double>(v->get_int64());
  if (v->is_uint64())
    return static_cast<double>(v->get_uint64());
  return v->is_double() ? v->get_double() : 0;
}

std::string text_at(const json::value& v, std::initializer_list<std::string_view> path) {
  const json::value* at = &v;
  for (const auto key : path) {
    at = json::member(*at, key);
    if (!at)
      return "";
  }
  return at->is_string() ? std::string(at->get_string()) : json::serialize(*at);
}

} // namespace ahpd::client
