#pragma once

#include "protocol/ahp/versions.hpp"

#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace ahpd::core {

/// What a client said once and does not say again when it comes back.
struct client_memory {
  ahp::dialect speaks = ahp::dialect::v1_0;
  std::string default_shell = {}; ///< of its root configuration; empty: the host's
};

/// The memory of clients that come back with `reconnect`, which names no version (AHP
/// "reconnect"). The ones that were heard of longest ago are forgotten. Callable from any thread.
class clients {
public:
  static constexpr std::size_t most = 10'000;

  void remember(const std::string& id, client_memory what);
  std::optional<client_memory> find(const std::string& id) const;

private:
  using entry = std::pair<std::string, client_memory>;

  mutable std::mutex guard_;
  std::list<entry> newest_first_;
  std::unordered_map<std::string, std::list<entry>::iterator> by_id_;
};

} // namespace ahpd::core
