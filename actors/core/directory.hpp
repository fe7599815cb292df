#pragma once

#include "actors/core/channel.hpp"

#include <caf/actor.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace ahpd::core {

/// Where a named actor is now. A supervisor changes it when it restarts the actor.
class address {
public:
  caf::actor get() const {
    std::lock_guard lock(guard_);
    return actor_;
  }
  void set(caf::actor a) {
    std::lock_guard lock(guard_);
    actor_ = std::move(a);
  }

private:
  mutable std::mutex guard_;
  caf::actor actor_;
};

/// Which actor owns which channel. Callable from any thread. The channels themselves are kept here,
/// not in the actors, so that the successor of a crashed owner goes on with the state its followers
/// have.
class directory {
public:
  /// Makes `owner` the owner of `uri`: of the channel that is there, else of a new one with
  /// `initial`.
  std::shared_ptr<channel> claim(const std::string& uri, ahp::channel_kind kind,
                                 const caf::actor& owner, json::value initial);

  /// The channel of `uri`, or null.
  std::shared_ptr<channel> find(const std::string& uri) const;

  /// The owner of `uri`, or an invalid handle.
  caf::actor owner_of(const std::string& uri) const;

  void remove(const std::string& uri);

  /// URIs of all channels of a kind.
  std::vector<std::string> of_kind(ahp::channel_kind kind) const;

private:
  struct entry {
    std::shared_ptr<core::channel> channel;
    caf::actor owner;
  };
  mutable std::mutex guard_;
  std::unordered_map<std::string, entry> entries_;
};

} // namespace ahpd::core
