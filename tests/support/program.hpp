#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace ahpd::tests {

struct program_options {
  std::vector<std::string> argv;          ///< the first is a path
  std::map<std::string, std::string> env; ///< laid over the test's own, without its AHPD_…
  std::string directory;                  ///< empty: the test's own
};

/// One started program in a process group of its own: its standard input is empty, its standard
/// output is read on request, its standard error is kept. It dies with the thread that started it,
/// and with this object. Every wait has a limit that fails the test.
class program {
public:
  explicit program(const program_options& what);
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  pid_t pid() const { return pid_; }
  bool running();

  /// Reads standard output until `text` stands in it; fails the test when the program ends before.
  void wait_for_output(const std::string& text,
                       std::chrono::milliseconds limit = std::chrono::seconds(30));

  void signal(int number);

  /// Waits for its end and reads what is left of its output. The exit code, or 128 + the signal.
  int wait(std::chrono::milliseconds limit = std::chrono::seconds(60));

  /// SIGKILL to the program and its group, then waits.
  void kill();

  const std::string& output() const { return output_; } ///< standard output, as far as it was read
  std::string errors() const;                           ///< standard error so far

private:
  void read_available();
  void reap(int status);

  pid_t pid_ = -1;
  int pid_fd_ = -1;
  int out_fd_ = -1;
  int err_fd_ = -1;
  bool ended_ = false;
  int exit_code_ = -1;
  std::string output_;
};

/// How a program that was run to its end went.
struct program_result {
  int exit_code = -1;
  std::string output;
  std::string errors;
};

/// Starts a program and waits for its end.
program_result run_program(const program_options& what,
                           std::chrono::milliseconds limit = std::chrono::seconds(60));

} // namespace ahpd::tests
