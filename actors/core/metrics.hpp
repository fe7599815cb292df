#pragma once

#include "protocol/otlp/payloads.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace ahpd::core {

/// What the hub counts. Any thread adds; `text` reads without stopping anyone.
struct metrics {
  std::atomic<std::int64_t> connections{0}; ///< open WebSockets
  std::atomic<std::int64_t> sessions{0};    ///< open sessions
  std::atomic<std::int64_t> turns_running{0};
  std::atomic<std::int64_t> machines{0}; ///< listed
  std::atomic<std::uint64_t> connections_total{0};
  std::atomic<std::uint64_t> frames_in_total{0};
  std::atomic<std::uint64_t> requests_total{0};
  std::atomic<std::uint64_t> errors_total{0};  ///< error responses sent
  std::atomic<std::uint64_t> actions_total{0}; ///< published
  std::atomic<std::uint64_t> refused_actions_total{0};
  std::atomic<std::uint64_t> turns_total{0};
  std::atomic<std::uint64_t> commits_total{0};      ///< of the store, each of a group of writes
  std::atomic<std::uint64_t> otlp_dropped_total{0}; ///< telemetry that a slow client did not get

  /// Every number as it is now; the same names in both expositions.
  std::vector<otlp::metric> rows() const;

  /// Prometheus text exposition, version 0.0.4.
  std::string text() const;
};

} // namespace ahpd::core
