#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

namespace ahpd::sandbox {

/// What the daemon counts, in Prometheus' text format (spec "Logs, metrics, traces"). Any thread.
class metrics {
public:
  using duration = std::chrono::steady_clock::duration;

  /// `route` is a template of the table, "<unmatched>" where there is none.
  void request_done(std::string_view method, std::string_view route, unsigned status,
                    duration took);
  void command_done(duration took);

  /// Text exposition, version 0.0.4.
  std::string text() const;

private:
  static constexpr std::array bounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                     0.25,  0.5,    1.0,   2.5,  5.0,   10.0, 30.0};
  struct histogram {
    std::array<std::uint64_t, bounds.size()> upto{};
    std::uint64_t count = 0;
    double sum = 0;

    void add(duration took);
    std::string text(std::string_view name) const;
  };

  mutable std::mutex guard_;
  std::map<std::tuple<std::string, std::string, unsigned>, std::uint64_t> requests_;
  histogram request_time_;
  histogram command_time_;
};

} // namespace ahpd::sandbox
