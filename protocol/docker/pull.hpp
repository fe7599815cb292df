#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace ahpd::docker {

/// Folds the lines of `POST /images/create` into how far the whole pull is.
class pull_report {
public:
  /// Takes one line. True when what `current`, `total` or `message` say changed.
  bool take(std::string_view line);

  std::uint64_t current() const { return current_; } ///< bytes fetched so far
  std::uint64_t total() const {
    return total_;
  } ///< bytes known to be fetched; grows with the layers
  const std::string& message() const { return message_; }

  /// The registry's or the engine's own words when the pull failed; empty otherwise.
  const std::string& error() const { return error_; }

private:
  struct layer {
    std::uint64_t current = 0;
    std::uint64_t total = 0;
    bool complete = false;
  };

  void sum();

  std::map<std::string, layer, std::less<>> layers_;
  std::uint64_t current_ = 0;
  std::uint64_t total_ = 0;
  std::string message_;
  std::string error_;
};

} // namespace ahpd::docker
