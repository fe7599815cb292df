#pragma once

#include "protocol/docker/records.hpp"
#include "runtimes/docker/engine.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ahpd::runtimes {

/// How a host keeps its machines on a Docker.
struct docker_options {
  std::string host_id;                   ///< this host's own, written on every machine it makes
  std::string label = "ahpd.computer=1"; ///< on every machine
  /// The environment Docker is found by: DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH,
  /// DOCKER_CONFIG and HOME.
  std::map<std::string, std::string> env;
  /// How long an engine may take to start a program that it has accepted.
  std::chrono::milliseconds start_limit{60'000};
};

/// A container that is this host's machine, and what the engine says of it.
struct found_machine {
  docker::container facts;
  machine_record record;
};

/// The machines of one host on one engine, one coroutine an operation. On the engine's strand; each
/// coroutine keeps what it needs alive itself.
class docker_machines {
public:
  docker_machines(std::shared_ptr<docker_engine> engine, docker_options options);

  const std::shared_ptr<docker_engine>& shared_engine() const { return engine_; }
  std::chrono::milliseconds start_limit() const { return options_.start_limit; }

  boost::asio::awaitable<outcome<std::vector<machine_record>>> list();

  /// The machine of that name; `fault::not_there` for any other container too.
  boost::asio::awaitable<outcome<found_machine>> find(std::string id);

  boost::asio::awaitable<outcome<machine_record>> create(machine_spec spec,
                                                         std::function<void(progress)> on_progress);

  /// `verb` is "start", "stop" or "restart".
  boost::asio::awaitable<outcome<nothing>> change(std::string id, std::string verb);
  boost::asio::awaitable<outcome<nothing>> remove(std::string id);
  boost::asio::awaitable<outcome<json::value>> stats(std::string id);

private:
  bool ours(const docker::container& it) const;
  boost::asio::awaitable<outcome<found_machine>> read(std::string name_or_id);
  boost::asio::awaitable<std::optional<refusal>> check_free(std::string name);
  boost::asio::awaitable<std::optional<refusal>>
  have_image(std::string image, std::function<void(progress)> on_progress);
  boost::asio::awaitable<std::optional<refusal>> discard(std::string id);
  boost::asio::awaitable<void> discard_unanswered(std::string name);

  std::shared_ptr<docker_engine> engine_;
  docker_options options_;
  std::string label_key_;
  std::string label_value_;
};

/// Fetches an image; `on_progress` is told how far that is.
boost::asio::awaitable<std::optional<refusal>>
pull_image(docker_engine& from, const std::map<std::string, std::string>& env, std::string image,
           std::function<void(progress)> on_progress);

} // namespace ahpd::runtimes
