#pragma once

#include "tools/ahpd/client/hub_link.hpp"
#include "tools/ahpd/client/turn_view.hpp"

#include <boost/asio/signal_set.hpp>

#include <functional>
#include <optional>
#include <string>

namespace ahpd::client {

/// One turn that a person asked for.
struct turn_request {
  std::string session;  ///< URI
  bool creates = false; ///< the session is new
  std::string agent;    ///< of a new session; empty: the hub's choice
  std::string computer; ///< `computer` setting of a new session; empty: none
  std::string folder;   ///< file URI, of a new session; empty: none
  std::string prompt;
  bool json = false; ///< events as JSON lines instead of their bytes
};

/// Sends a turn and follows it to its end, over one lost connection and Ctrl-C.
class turn_run {
public:
  /// `find` is asked for the hub's address at each dial: a restarted hub may be elsewhere.
  turn_run(turn_request what, std::function<hub_address()> find);

  /// The exit code. Throws as the verbs do.
  int go();

private:
  void watch_signals();
  void interrupted(int signal);
  void open_session();
  void open_chat();
  void start_turn();
  void follow();
  void resume();
  int conclude();

  void hear(std::string_view method, const json::value& params);
  void hear_session(const json::value& action);
  void hear_chat(const json::value& envelope, const json::value& action);
  void answer_question(const json::value& action);
  void look_at_turn();
  const json::value* ended_turn() const;
  void write(turn_view::stream to, std::string_view bytes);
  void cancel(int exit_code);
  void print_event(const json::value& envelope);

  turn_request what_;
  std::function<hub_address()> find_;
  hub_link link_;
  boost::asio::signal_set signals_;
  turn_view view_;

  json::value session_state_;
  json::value chat_state_;
  std::int64_t chat_seq_ = 0; ///< actions up to this one are in `chat_state_`
  std::string chat_;
  std::string turn_id_;
  std::int64_t turn_seq_ = 0;          ///< clientSeq of the turn's start; 0: not yet sent
  std::optional<std::string> refused_; ///< why the hub did not take the turn
  int cancelled_with_ = 0;             ///< exit code of a turn that was cancelled from here
};

} // namespace ahpd::client
