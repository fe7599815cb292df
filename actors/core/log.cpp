#include "actors/core/log.hpp"

#include "protocol/json.hpp"

#include <spdlog/async.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

namespace ahpd::core::log {

namespace {

constexpr std::size_t shortest_secret = 4;
constexpr std::size_t lines_waiting = 1024;  ///< for a reader of standard output
constexpr std::size_t longest_value = 2'000; ///< a longer detail is cut: a log is no transcript

std::mutex secrets_guard;
std::vector<std::string> secrets;

std::string without_secrets(std::string text) {
  std::lock_guard lock(secrets_guard);
  for (const auto& secret : secrets)
    for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at))
      text.replace(at, secret.size(), "<redacted>");
  return text;
}

/// Valid UTF-8 of at most `longest_value` bytes; JSON takes no other text.
std::string printable(std::string text) {
  if (text.size() > longest_value)
    text = text.substr(0, longest_value) + "…";
  std::string ignored;
  if (!json::parse_text(json::serialize(json::string(text)), 4, ignored))
    for (auto& c : text)
      if (static_cast<unsigned char>(c) >= 0x80)
        c = '?';
  return text;
}

std::shared_ptr<spdlog::logger>& sink() {
  static std::shared_ptr<spdlog::logger> logger;
  return logger;
}

constexpr int deaf = static_cast<int>(level::error) + 1;

std::mutex taps_guard;
std::vector<tap*> taps;
std::atomic<int> hearing{0};       ///< taps that are not deaf
thread_local bool telling = false; ///< this thread is in a listener

} // namespace

void tell_taps(level at, std::string_view event, std::initializer_list<field> details) {
  if (telling)
    return;
  struct scope {
    scope() { telling = true; }
    ~scope() { telling = false; }
  } const once;
  std::lock_guard lock(taps_guard);
  std::optional<tap::details> said;
  for (const auto* t : taps) {
    if (static_cast<int>(at) < t->from_.load(std::memory_order_relaxed))
      continue;
    if (!said) {
      said.emplace();
      for (const auto& [name, value] : details)
        said->emplace_back(name, shown(value));
    }
    t->told_(at, event, *said);
  }
}

namespace {

spdlog::level::level_enum of_spdlog(level at) {
  constexpr spdlog::level::level_enum all[]{spdlog::level::debug, spdlog::level::info,
                                            spdlog::level::warn, spdlog::level::err};
  return all[static_cast<int>(at)];
}

void write(level at, std::string_view name, std::string_view event,
           std::initializer_list<field> details) {
  if (writes(at))
    sink()->log(of_spdlog(at), line(name, event, details));
  if (hearing.load(std::memory_order_relaxed) > 0)
    tell_taps(at, event, details);
}

} // namespace

bool writes(level at) {
  return sink() && sink()->should_log(of_spdlog(at));
}

void record(const json::object& line) {
  if (writes(level::info))
    sink()->log(spdlog::level::info, without_secrets(json::serialize(line)).substr(1));
}

tap::tap(listener told) : told_(std::move(told)), from_(deaf) {
  std::lock_guard lock(taps_guard);
  taps.push_back(this);
}

tap::~tap() {
  hear(std::nullopt);
  std::lock_guard lock(taps_guard);
  taps.erase(std::find(taps.begin(), taps.end(), this));
}

void tap::hear(std::optional<level> from) {
  const int before = from_.exchange(from ? static_cast<int>(*from) : deaf);
  hearing += (from ? 1 : 0) - (before != deaf ? 1 : 0);
}

std::string shown(std::string text) {
  return printable(without_secrets(std::move(text)));
}

void start(std::string_view level, stream to) {
  std::shared_ptr<spdlog::logger> logger;
  if (to == stream::error) {
    logger =
      std::make_shared<spdlog::logger>("log", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  } else {
    static const auto writer =
      std::make_shared<spdlog::details::thread_pool>(lines_waiting, std::size_t{1});
    logger = std::make_shared<spdlog::async_logger>(
      "log", std::make_shared<spdlog::sinks::stdout_sink_mt>(), writer,
      spdlog::async_overflow_policy::overrun_oldest);
  }
  // `line` gives an object without its opening brace and time; both come from the pattern, so that
  // the time is taken once, by spdlog.
  logger->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ",%v)", spdlog::pattern_time_type::utc);
  logger->set_level(level == "debug"     ? spdlog::level::debug
                    : level == "warning" ? spdlog::level::warn
                    : level == "error"   ? spdlog::level::err
                                         : spdlog::level::info);
  logger->flush_on(spdlog::level::info);
  sink() = std::move(logger);
}

void redact(const std::string& secret) {
  if (secret.size() < shortest_secret)
    return;
  std::lock_guard lock(secrets_guard);
  if (std::find(secrets.begin(), secrets.end(), secret) == secrets.end())
    secrets.push_back(secret);
}

void debug(std::string_view event, std::initializer_list<field> details) {
  write(level::debug, "debug", event, details);
}
void info(std::string_view event, std::initializer_list<field> details) {
  write(level::info, "info", event, details);
}
void warning(std::string_view event, std::initializer_list<field> details) {
  write(level::warning, "warning", event, details);
}
void error(std::string_view event, std::initializer_list<field> details) {
  write(level::error, "error", event, details);
}

std::string line(std::string_view level, std::string_view event,
                 std::initializer_list<field> details) {
  json::object o{{"level", level}, {"event", event}};
  for (const auto& [name, value] : details)
    o[name] = shown(value);
  return json::serialize(o).substr(1);
}

} // namespace ahpd::core::log
