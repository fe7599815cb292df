#pragma once

#include "protocol/docker/streams.hpp"
#include "runtimes/docker/engine.hpp"
#include "runtimes/exec.hpp"
#include "runtimes/process/outputs.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace ahpd::runtimes {

class exec_run;

/// What a run asks of those who know the machine it runs in. Any thread.
class run_controls {
public:
  virtual ~run_controls() = default;
  virtual void resize(std::shared_ptr<exec_run> run, window_size size) = 0;
  virtual void signal(std::shared_ptr<exec_run> run, int number) = 0;
  virtual void kill(std::shared_ptr<exec_run> run, std::chrono::milliseconds grace) = 0;
};

/// One program in a container: its streams, and what is known of its end.
class exec_run final : public running,
                       public awaited,
                       public std::enable_shared_from_this<exec_run> {
public:
  exec_run(docker_strand on, const exec_request& what, std::string marker,
           std::shared_ptr<run_controls> controls);

  // running; any thread
  chunk read(output which, std::uint64_t offset, std::size_t most) const override;
  void write(std::string bytes) override;
  void close_input() override;
  void resize(window_size size) override;
  void signal(int number) override;
  void kill(std::chrono::milliseconds grace) override;

  /// Takes the opened connection, on any thread, and gives what is to be heard of it.
  transport::stream_events attach(std::shared_ptr<transport::byte_stream> stream);

  // The rest is for the strand.

  /// From now on `events` are told, beginning with what is there already.
  void open(exec_events events);

  /// Ends the run: nothing is told after `status`.
  void finish(exit_status status);

  /// The engine said that the program has ended.
  void died() { died_ = true, changed.raise(); }
  void give_up(const std::string& why) override;

  bool has_died() const { return died_; }
  bool stream_ended() const { return stream_ended_; }
  bool finished() const { return finished_; }
  /// Why the streams broke off before their end; empty when they did not.
  const std::string& broken() const { return broken_; }

  /// Raised with each change of the above.
  wake changed;
  /// Each is raised once when the run is finished.
  std::vector<std::weak_ptr<wake>> at_end;

  std::string exec_id;
  std::string container; ///< id
  std::string machine;   ///< name, for sentences
  const std::string user;
  const std::string marker;
  const bool terminal;

private:
  void take(std::string_view bytes);
  void append(output which, std::string_view bytes);
  void tell();
  void stream_over(std::string why);
  std::shared_ptr<transport::byte_stream> stream() const;

  const docker_strand strand_;
  const std::shared_ptr<run_controls> controls_;
  mutable process::outputs outputs_;
  docker::demultiplexer frames_; // on the connection's strand
  mutable std::mutex guard_;     // of stream_
  std::shared_ptr<transport::byte_stream> stream_;
  exec_events events_;
  bool opened_ = false;
  bool missed_ = false; ///< output came before `open`
  bool died_ = false;
  bool stream_ended_ = false;
  bool finished_ = false;
  std::string broken_;
};

} // namespace ahpd::runtimes
