#pragma once

#include "protocol/json.hpp"
#include "tests/support/ahp_peer.hpp"
#include "tests/support/hub_process.hpp"

#include <optional>
#include <string>
#include <vector>

/// What tests of machines on a real Docker Engine share.
namespace ahpd::tests {

/// Whether an engine answers; tests without one are skipped.
bool engine_answers();

/// `docker <words>`, whose failure fails the test; its standard output without the last newline.
std::string docker(std::vector<std::string> words);

/// How `docker <words>` went, whatever that was.
program_result try_docker(std::vector<std::string> words);

/// The record of a container as the engine gives it.
json::value inspect(const std::string& container);

/// A name that no other test and no other run of the tests uses.
std::string unique_name(const std::string& word);

/// Removes what carries a label, now and at the end, whatever becomes of the test.
class label_guard {
public:
  explicit label_guard(std::string label) : label_(std::move(label)) {}
  ~label_guard();
  label_guard(const label_guard&) = delete;
  label_guard& operator=(const label_guard&) = delete;

  std::vector<std::string> containers() const; ///< ids of all that are there, running or not

private:
  std::string label_;
};

/// A hub with the plugin @ahpd/computer, and nothing left of its machines at the end.
class computer_hub {
public:
  explicit computer_hub(json::object options = {}, std::map<std::string, std::string> env = {});

  hub_process& process() { return hub_; }
  ahp_peer peer(std::string client = "peer") const;

  std::string host_id() const;
  std::size_t machines() const { return left_.containers().size(); }

private:
  hub_process hub_;
  label_guard left_;
};

/// Whether the image node:22 is there or can be made.
bool node_image();

/// Makes a machine by a write and gives its name.
std::string make_machine(ahp_peer& peer, const std::string& word, json::object manifest = {});

/// `resourceWrite` of a text.
json::object write_params(const std::string& uri, const std::string& data);

/// Asks for what must be refused: "<code> <message>".
std::string refused(ahp_peer& peer, const std::string& method, json::object params);

/// The text of a resource.
std::string read_text(ahp_peer& peer, const std::string& uri);

/// A session with its first chat followed.
struct session {
  std::string uri;
  std::string chat;
};
session begin_session(ahp_peer& peer, json::object config, json::object more = {});

/// How a turn ended.
struct turn_end {
  std::string type;    ///< chat/turnComplete, chat/turnCancelled or chat/error
  std::string message; ///< of an error
  json::value result;  ///< of its command; null when it never started
  std::string out;     ///< bytes of the command's standard output
  std::string err;

  std::optional<int> code() const; ///< the command's exit status
  std::string failure() const;     ///< why the command failed, in words
};

/// Starts a turn and gives its id.
std::string begin_turn(ahp_peer& peer, const session& in, const std::string& command);

/// Waits until the running command has written `text`.
void wait_output(ahp_peer& peer, const session& in, const std::string& text);

turn_end end_of_turn(ahp_peer& peer, const session& in, const std::string& turn);

inline turn_end run_turn(ahp_peer& peer, const session& in, const std::string& command) {
  return end_of_turn(peer, in, begin_turn(peer, in, command));
}

} // namespace ahpd::tests
