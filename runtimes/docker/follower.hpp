#pragma once

#include "protocol/docker/records.hpp"
#include "runtimes/docker/engine.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ahpd::runtimes {

/// What a follower tells. On the engine's strand.
struct follow_events {
  std::function<void(const docker::event&)> on_event;
  std::function<void()> on_gap; ///< connected again; events in between may be missing
  std::function<void(const std::string&)> on_lost;
};

/// Follows what happens to the containers with a label, until the engine is closed. Events of the
/// last second before it connected may be told too, and one of them twice after a gap.
class event_follower : public std::enable_shared_from_this<event_follower> {
public:
  event_follower(std::shared_ptr<docker_engine> engine, std::string label);

  /// On the strand: hears from now on. The first listener starts the following.
  void add(follow_events events);

private:
  boost::asio::awaitable<void> follow();
  boost::asio::awaitable<std::string> follow_once();
  void lost(const std::string& why);
  void connected();

  std::shared_ptr<docker_engine> engine_;
  std::string label_;
  std::vector<follow_events> listeners_;
  bool started_ = false;
  bool was_lost_ = false;
  bool heard_ = false; ///< something came on the running connection
};

} // namespace ahpd::runtimes
