#pragma once

#include "actors/core/log.hpp"
#include "actors/core/metrics.hpp"
#include "actors/core/outbox.hpp"
#include "protocol/ahp/telemetry.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace ahpd::core {

/// Tells those who follow the telemetry channels what this host logs, does and counts. Callable
/// from any thread.
///
/// Only the live edge is told: nothing is kept, and what a client is too slow for is left out and
/// counted, so that no follower makes the process grow. Without followers it costs a look at an
/// atomic.
class telemetry {
public:
  /// What is left out is counted in `numbers`, which is exported too.
  explicit telemetry(core::metrics& numbers);

  /// Who it is from; said once, before anybody follows.
  void introduce(otlp::resource from) { from_ = std::move(from); }

  /// Tells `box` from now on, under the URI as it spells it. Following twice is following once.
  void follow(const ahp::telemetry_channel& what, const std::shared_ptr<outbox>& box,
              const std::string& spelling);
  void unfollow(const outbox& box, const std::string& spelling);

  bool followed(ahp::signal what) const {
    return followers_of_[static_cast<std::size_t>(what)].load(std::memory_order_relaxed) > 0;
  }

  /// Tells followers of the traces. Attributes are redacted and cut as those of a log line are.
  void export_span(otlp::span what);

  /// Tells followers of the metrics what all numbers are now.
  void export_metrics();

private:
  struct follower {
    ahp::telemetry_channel channel;
    std::shared_ptr<outbox> box;
    std::string spelling;
  };

  void tell_log(log::level at, std::string_view event, const log::tap::details& details);
  void tell(ahp::signal what, const json::value& payload,
            otlp::severity at = otlp::severity::fatal);
  void recount();

  core::metrics& numbers_;
  const std::int64_t started_ns_;
  otlp::resource from_;
  std::atomic<int> followers_of_[3] = {};
  std::mutex guard_;
  std::vector<follower> followers_;
  log::tap tap_; ///< last: it tells into all of the above
};

} // namespace ahpd::core
