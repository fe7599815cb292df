#pragma once

#include "runtimes/docker/docker_runtime.hpp"
#include "tests/support/support.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ahpd::tests {

/// Whether an engine with the image debian:bookworm-slim answers on the standard socket.
bool docker_is_there();

/// What `docker <arguments>` prints; the arguments are the test's own words.
std::string docker_says(const std::string& arguments);

/// One program in a machine and all that was told of it.
struct docker_program {
  std::shared_ptr<runtimes::running> program;
  std::string refused;
  std::optional<runtimes::exit_status> status;
  bool answered = false;
  std::size_t told = 0;    ///< calls of on_output
  bool told_early = false; ///< an event before `answered`, or after the end

  std::string out() const { return program->read(runtimes::output::out, 0).bytes; }
  std::string err() const { return program->read(runtimes::output::err, 0).bytes; }
};

/// A Docker runtime whose io_context runs on the test's own thread. At the end everything it made
/// is removed, on failure too.
class docker_fixture {
public:
  explicit docker_fixture(std::map<std::string, std::string> env = {},
                          std::chrono::milliseconds start_limit = std::chrono::seconds(60));
  ~docker_fixture();

  /// Runs the io_context until `done`; fails the test after a generous deadline.
  void until(const char* what, const std::function<bool()>& done);

  /// Calls a verb and waits for its answer.
  template <class T> runtimes::outcome<T> ask(const std::function<void(runtimes::done<T>)>& verb) {
    std::optional<runtimes::outcome<T>> answer;
    verb([&](runtimes::outcome<T> result) { answer = std::move(result); });
    until("an answer", [&] { return answer.has_value(); });
    return std::move(*answer);
  }

  /// A name for a machine that no other test has; `docker rm` follows at the end.
  std::string name(const std::string& what);

  runtimes::machine_spec spec(const std::string& name) const;
  runtimes::machine_record create(const std::string& name);
  runtimes::machine_record create(runtimes::machine_spec spec);

  std::shared_ptr<docker_program> start(const std::string& machine, runtimes::exec_request what);
  std::shared_ptr<docker_program> run(const std::string& machine, runtimes::exec_request what);
  std::shared_ptr<docker_program> sh(const std::string& machine, const std::string& script);

  boost::asio::io_context io;
  const std::string host_id;
  std::shared_ptr<runtimes::runtime> sut;

private:
  std::vector<std::string> names_;
};

runtimes::exec_request program(std::vector<std::string> argv);

} // namespace ahpd::tests
