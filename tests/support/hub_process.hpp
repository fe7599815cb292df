#pragma once

#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

#include <csignal>
#include <cstdint>
#include <memory>

namespace ahpd::tests {

struct hub_options {
  std::vector<std::string> flags; ///< beyond `--port 0 --path <its own folder>`
  std::map<std::string, std::string> env;
  std::string config; ///< text of config.json; empty: no such file
  std::map<std::string, std::string> files =
    {};                                    ///< more in its configuration directory, by path there
  std::chrono::milliseconds limit{30'000}; ///< for its start
};

/// The real `ahpd` in the foreground, with a configuration directory and a folder of its own, on a
/// free loopback port. The constructor returns once it announced itself; the destructor kills it.
class hub_process {
public:
  explicit hub_process(hub_options how = {});

  std::string url() const; ///< "ws://127.0.0.1:<port>"
  std::uint16_t port() const { return port_; }
  pid_t pid() const { return running_->pid(); }

  std::string announcement() const { return running_->output(); }
  std::string log() const { return running_->errors(); }
  std::string config_home() const { return files_.path(); } ///< its XDG_CONFIG_HOME
  std::string config_directory() const { return files_.path() + "/ahpd"; }
  std::string folder() const { return files_.path() + "/work"; } ///< what it serves

  void signal(int number) { running_->signal(number); }
  bool running() { return running_->running(); }

  /// SIGTERM, or another signal that ends it; its exit code.
  int stop(std::chrono::milliseconds limit = std::chrono::seconds(30), int number = SIGTERM);

  /// SIGKILL, as a crash would end it.
  void kill() { running_->kill(); }

  /// Starts it again on the same directory, after `stop` or `kill`. Port 0: another one.
  void start(std::uint16_t on_port = 0);

private:
  hub_options how_;
  scratch files_;
  std::unique_ptr<program> running_;
  std::uint16_t port_ = 0;
};

} // namespace ahpd::tests
