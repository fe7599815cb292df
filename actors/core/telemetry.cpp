#include "actors/core/telemetry.hpp"

#include "actors/core/clock.hpp"
#include "protocol/jsonrpc/message.hpp"
#include "protocol/random.hpp"

#include <algorithm>
#include <optional>

namespace ahpd::core {

namespace {

constexpr std::size_t trace_id_bytes = 16;
constexpr std::size_t span_id_bytes = 8;

otlp::severity severity_of(log::level at) {
  switch (at) {
  case log::level::debug:
    return otlp::severity::debug;
  case log::level::info:
    return otlp::severity::info;
  case log::level::warning:
    return otlp::severity::warn;
  case log::level::error:
    break;
  }
  return otlp::severity::error;
}

/// The lowest level that somebody who follows from `from` on is told; nothing when the log has
/// none so high.
std::optional<log::level> level_from(otlp::severity from) {
  for (const auto at :
       {log::level::debug, log::level::info, log::level::warning, log::level::error})
    if (severity_of(at) >= from)
      return at;
  return std::nullopt;
}

} // namespace

telemetry::telemetry(core::metrics& numbers)
    : numbers_(numbers), started_ns_(now_ns()),
      tap_([this](log::level at, std::string_view event, const log::tap::details& details) {
        tell_log(at, event, details);
      }) {}

void telemetry::follow(const ahp::telemetry_channel& what, const std::shared_ptr<outbox>& box,
                       const std::string& spelling) {
  std::lock_guard lock(guard_);
  const bool known = std::any_of(followers_.begin(), followers_.end(), [&](const auto& f) {
    return f.box == box && f.spelling == spelling;
  });
  if (!known)
    followers_.push_back({what, box, spelling});
  recount();
}

void telemetry::unfollow(const outbox& box, const std::string& spelling) {
  std::lock_guard lock(guard_);
  followers_.erase(
    std::remove_if(followers_.begin(), followers_.end(),
                   [&](const auto& f) { return f.box.get() == &box && f.spelling == spelling; }),
    followers_.end());
  recount();
}

/// Who is told what has changed: so has what is worth saying.
void telemetry::recount() {
  int count[3] = {};
  std::optional<log::level> lowest;
  for (const auto& f : followers_) {
    ++count[static_cast<std::size_t>(f.channel.signal)];
    if (f.channel.signal != ahp::signal::logs)
      continue;
    const auto from = level_from(f.channel.from);
    if (from && (!lowest || *from < *lowest))
      lowest = from;
  }
  for (std::size_t i = 0; i < 3; ++i)
    followers_of_[i].store(count[i], std::memory_order_relaxed);
  tap_.hear(lowest);
}

void telemetry::tell_log(log::level at, std::string_view event, const log::tap::details& details) {
  const auto severity = severity_of(at);
  tell(ahp::signal::logs,
       otlp::logs_request(from_, {now_ns(), severity, log::shown(std::string(event)), details}),
       severity);
}

void telemetry::export_span(otlp::span what) {
  if (!followed(ahp::signal::traces))
    return;
  what.name = log::shown(std::move(what.name));
  for (auto& [name, text] : what.attributes)
    text = log::shown(std::move(text));
  tell(ahp::signal::traces,
       otlp::traces_request(from_, what, random_hex(trace_id_bytes), random_hex(span_id_bytes)));
}

void telemetry::export_metrics() {
  if (followed(ahp::signal::metrics))
    tell(ahp::signal::metrics,
         otlp::metrics_request(from_, numbers_.rows(), started_ns_, now_ns()));
}

void telemetry::tell(ahp::signal what, const json::value& payload, otlp::severity at) {
  const auto text = json::serialize(payload);
  std::lock_guard lock(guard_);
  for (const auto& f : followers_) {
    if (f.channel.signal != what || at < f.channel.from)
      continue;
    std::string frame = R"({"jsonrpc":"2.0","method":")";
    frame.append(ahp::export_method(what)).append(R"(","params":{"channel":)");
    jsonrpc::append_quoted(frame, f.spelling);
    frame.append(R"(,"payload":)").append(text).append("}}");
    if (!f.box->offer(std::make_shared<const std::string>(std::move(frame))))
      ++numbers_.otlp_dropped_total;
  }
}

} // namespace ahpd::core
