#pragma once

#include "tests/support/ahp_peer.hpp"
#include "tests/support/hub_process.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

/// What the end-to-end tests of the hub share.
namespace ahpd::tests {

/// A hub whose programs can be told from those of every other hub on this machine.
struct marked_hub {
  explicit marked_hub(hub_options how = {});

  std::string mark;
  hub_process hub;

  /// Processes that a turn of this hub started and that still run: found by their environment.
  std::vector<pid_t> programs() const;

  /// Waits until none of them runs; fails the test when one does at the limit.
  void wait_no_programs() const;
};

/// Tells when the last process that holds it has ended: a FIFO in a folder of the test's.
class lifeline {
public:
  explicit lifeline(std::string path);
  ~lifeline();
  lifeline(const lifeline&) = delete;
  lifeline& operator=(const lifeline&) = delete;

  /// For a shell: from here on it holds the line, and so does all it starts.
  std::string take() const { return "exec 3<>" + path_ + "; "; }

  /// Whether somebody holds it, once it was taken.
  bool held() const;

  /// Waits until nobody does; fails the test when somebody does at the limit.
  void wait_let_go() const;

private:
  std::string path_;
  int fd_;
};

/// A session of the shell engine and its first chat; the peer that made it follows both.
struct shell_session {
  std::string uri;
  std::string chat;
};
shell_session open_session(ahp_peer& peer, const std::string& uri, json::object params = {});

/// `chat/turnStarted` of a message that a person wrote.
json::object turn_started(const std::string& id, const std::string& command);

/// `chat/pendingMessageSet` that queues one.
json::object queued(const std::string& id, const std::string& command);

/// The envelope of the next ending of turn `id`, however it ends.
json::value wait_turn_end(ahp_peer& peer, const std::string& chat, const std::string& id);

/// Dispatches a turn and waits for its ending.
json::value run_turn(ahp_peer& peer, const std::string& chat, const std::string& id,
                     const std::string& command);

/// The result of the call of turn `id`, as the peer was told.
json::value call_result(const ahp_peer& peer, const std::string& id);

/// The text of stream "stdout" or "stderr" in a call's content; "" when it wrote nothing.
std::string text_of(const json::value& content, std::string_view stream);

/// What an action changed last: the type in an envelope.
std::string type_of(const json::value& envelope);

/// A command that goes on when `file` appears in its folder.
std::string wait_for_file(const std::string& file);

/// Makes that file.
void touch(const std::string& path);

/// Waits for the end of a process that is nobody's child here.
void wait_gone(pid_t pid);

/// One plain HTTP request to a hub on loopback.
transport::http_response http_get(std::uint16_t port, const std::string& target,
                                  transport::fields headers = {});

} // namespace ahpd::tests
