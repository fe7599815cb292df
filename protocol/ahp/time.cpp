#include "protocol/ahp/time.hpp"

#include <algorithm>
#include <chrono>

namespace ahpd::ahp {

namespace {

using namespace std::chrono;

constexpr std::int64_t earliest = -62'167'219'200'000; // 0000-01-01T00:00:00.000Z
constexpr std::int64_t latest = 253'402'300'799'999;   // 9999-12-31T23:59:59.999Z

/// Reads fixed-width numbers and marks off the front of a text; sticks at the first mismatch.
struct reader {
  std::string_view rest;
  bool ok = true;

  std::int64_t digits(std::size_t count) {
    std::int64_t n = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (rest.empty() || rest.front() < '0' || rest.front() > '9') {
        ok = false;
        return 0;
      }
      n = n * 10 + (rest.front() - '0');
      rest.remove_prefix(1);
    }
    return n;
  }

  bool mark(char c) {
    if (rest.empty() || rest.front() != c)
      return false;
    rest.remove_prefix(1);
    return true;
  }

  void expect(char c) { ok = mark(c) && ok; }

  /// Of one to nine digits after the point, what is whole milliseconds.
  std::int64_t fraction() {
    std::int64_t ms = 0;
    std::size_t seen = 0;
    for (; !rest.empty() && rest.front() >= '0' && rest.front() <= '9'; ++seen) {
      if (seen < 3)
        ms = ms * 10 + (rest.front() - '0');
      rest.remove_prefix(1);
    }
    ok = ok && seen >= 1 && seen <= 9;
    for (; seen < 3; ++seen)
      ms *= 10;
    return ms;
  }

  minutes zone() {
    if (mark('Z') || mark('z'))
      return minutes(0);
    const bool east = mark('+');
    if (!east && !mark('-')) {
      ok = false;
      return minutes(0);
    }
    const auto h = digits(2);
    expect(':');
    const auto m = digits(2);
    ok = ok && h < 24 && m < 60;
    const minutes offset(h * 60 + m);
    return east ? offset : -offset;
  }
};

void put(std::string& out, std::int64_t n, std::size_t width) {
  const auto text = std::to_string(n);
  out.append(width > text.size() ? width - text.size() : 0, '0');
  out += text;
}

} // namespace

std::string iso8601(std::int64_t unix_ms) {
  const sys_time<milliseconds> at(milliseconds(std::clamp(unix_ms, earliest, latest)));
  const auto day = floor<days>(at);
  const year_month_day date(day);
  const auto since = (at - day).count();
  std::string out;
  out.reserve(24);
  put(out, static_cast<int>(date.year()), 4);
  out += '-';
  put(out, static_cast<unsigned>(date.month()), 2);
  out += '-';
  put(out, static_cast<unsigned>(date.day()), 2);
  out += 'T';
  put(out, since / 3'600'000, 2);
  out += ':';
  put(out, since / 60'000 % 60, 2);
  out += ':';
  put(out, since / 1000 % 60, 2);
  out += '.';
  put(out, since % 1000, 3);
  out += 'Z';
  return out;
}

std::optional<std::int64_t> parse_iso8601(std::string_view text) {
  reader in{text};
  const auto y = in.digits(4);
  in.expect('-');
  const auto m = in.digits(2);
  in.expect('-');
  const auto d = in.digits(2);
  if (!in.mark('T') && !in.mark('t'))
    in.ok = false;
  const auto h = in.digits(2);
  in.expect(':');
  const auto min = in.digits(2);
  in.expect(':');
  const auto s = in.digits(2);
  const auto ms = in.mark('.') ? in.fraction() : 0;
  const auto offset = in.zone();
  const year_month_day date{year(static_cast<int>(y)), month(static_cast<unsigned>(m)),
                            day(static_cast<unsigned>(d))};
  if (!in.ok || !in.rest.empty() || !date.ok() || h > 23 || min > 59 || s > 60)
    return std::nullopt;
  const auto at = sys_days(date) + hours(h) + minutes(min) + seconds(s) + milliseconds(ms) - offset;
  return duration_cast<milliseconds>(at.time_since_epoch()).count();
}

} // namespace ahpd::ahp
