#pragma once

#include "protocol/ahp/builders.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace ahpd::core {

/// The newest actions of all channels, for clients that were away (AHP "reconnect"). Older ones are
/// evicted past `keep_bytes` of text.
class replay {
public:
  struct entry {
    std::uint64_t seq = 0;
    std::uint64_t channel = 0;                 ///< `channel::id`
    std::string type;                          ///< of the action
    std::shared_ptr<const std::string> action; ///< JSON text in the 1.0 model
    std::optional<ahp::build::origin> from;
    bool alone = false; ///< for the client that it is from, and for no other

    bool is_for(const std::string& client) const {
      return !alone || (from && from->client_id == client);
    }
  };

  /// Holds nothing yet of what follows number `start`.
  replay(std::uint64_t start, std::size_t keep_bytes) : gone_(start), keep_bytes_(keep_bytes) {}

  void add(entry what) {
    bytes_ += size_of(what);
    entries_.push_back(std::move(what));
    while (bytes_ > keep_bytes_) {
      gone_ = entries_.front().seq;
      bytes_ -= size_of(entries_.front());
      entries_.pop_front();
    }
  }

  /// Whether every action above `seq` is here.
  bool reaches(std::uint64_t seq) const { return seq >= gone_; }

  /// Calls `use` with every action above `seq`, oldest first.
  template <class Use> void after(std::uint64_t seq, Use use) const {
    auto i = entries_.end();
    while (i != entries_.begin() && std::prev(i)->seq > seq)
      --i;
    for (; i != entries_.end(); ++i)
      use(*i);
  }

private:
  /// With what an entry costs beside its text.
  static std::size_t size_of(const entry& e) {
    return e.type.size() + e.action->size() + sizeof(entry) + 64;
  }

  std::uint64_t gone_; ///< the highest number that was evicted
  std::size_t keep_bytes_;
  std::size_t bytes_ = 0;
  std::deque<entry> entries_;
};

} // namespace ahpd::core
