#pragma once

#include "protocol/json.hpp"

#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace ahpd::tests {

/// Collects what a benchmark measured and prints it at the end: with `--json` one object
/// {"name","value","unit","goal","met"} a line, else a table.
class bench_report {
public:
  bench_report(int argc, char** argv) {
    for (int i = 1; i < argc; ++i)
      json_ = json_ || std::strcmp(argv[i], "--json") == 0;
  }

  /// A figure that should be at most `goal`.
  void at_most(std::string name, double value, std::string unit, double goal) {
    rows_.push_back({std::move(name), value, std::move(unit), goal, "<=", value <= goal});
  }

  /// A figure that should be at least `goal`.
  void at_least(std::string name, double value, std::string unit, double goal) {
    rows_.push_back({std::move(name), value, std::move(unit), goal, ">=", value >= goal});
  }

  /// A figure without a goal.
  void shows(std::string name, double value, std::string unit) {
    rows_.push_back({std::move(name), value, std::move(unit), std::nullopt, "", true});
  }

  /// Prints all rows; the exit code of the program: 0 when every goal was met.
  int finish() const {
    bool met = true;
    if (!json_)
      std::printf("%-52s %12s %-12s %13s  %s\n", "name", "value", "unit", "goal", "met");
    for (const auto& r : rows_) {
      met = met && r.met;
      if (json_) {
        const json::value out{{"name", r.name},
                              {"value", r.value},
                              {"unit", r.unit},
                              {"goal", r.goal ? json::value(*r.goal) : json::value(nullptr)},
                              {"met", r.met}};
        std::printf("%s\n", json::serialize(out).c_str());
      } else if (!r.goal) {
        std::printf("%-52s %12.3f %-12s\n", r.name.c_str(), r.value, r.unit.c_str());
      } else {
        std::printf("%-52s %12.3f %-12s %s %10.3f  %s\n", r.name.c_str(), r.value, r.unit.c_str(),
                    r.relation, *r.goal, r.met ? "yes" : "NO");
      }
    }
    return met ? 0 : 1;
  }

private:
  struct row {
    std::string name;
    double value;
    std::string unit;
    std::optional<double> goal;
    const char* relation;
    bool met;
  };

  bool json_ = false;
  std::vector<row> rows_;
};

} // namespace ahpd::tests
