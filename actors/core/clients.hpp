#pragma once

#include "protocol/ahp/versions.hpp"

#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace ahpd::core {

/// What clients negotiated, for those that come back with `reconnect`, which names no version (AHP
/// "reconnect"). The ones that were heard of longest ago are forgotten. Callable from any thread.
class clients {
public:
  static constexpr std::size_t most = 10'000;

  void remember(const std::string& id, ahp::dialect speaks);
  std::optional<ahp::dialect> find(const std::string& id) const;

private:
  using entry = std::pair<std::string, ahp::dialect>;

  mutable std::mutex guard_;
  std::list<entry> newest_first_;
  std::unordered_map<std::string, std::list<entry>::iterator> by_id_;
};

} // namespace ahpd::core
