#pragma once

#include "protocol/ahp/changesets.hpp"
#include "protocol/json.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ahpd::acp {

/// What an agent charged in all for a session so far (ACP "usage_update").
struct cost {
  double amount = 0;
  std::string currency;
};

/// One turn as chat actions: takes the agent's `session/update`s and gives what they stand for (AHP
/// "Chat channel"), in order.
///
/// It takes the updates of version 1 and those of the draft of version 2, whose names differ where
/// they mean something else.
///
/// Text and the content of running tool calls are gathered until `flush`, so that a client gets a
/// few large actions and not many small ones. Any other action takes the gathered text with it.
class turn {
public:
  /// `before`: what the session had cost when the turn began.
  turn(std::string id, cost before);

  /// Leaves out the agent's own word of calls that name one of these tools and are of no other
  /// kind: their runs are shown already, by who runs them. A call that the agent asks a person
  /// about is shown all the same.
  void leave_out(std::vector<std::string> tools) { left_out_ = std::move(tools); }

  /// Takes the member `update` of a `session/update`. What is not about a turn, and what nobody
  /// defined, is ignored.
  void take(const json::value& update);

  /// Shows a tool call that waits for a person's yes or no: `call` is the `toolCall` of a
  /// `session/request_permission`. Gives the id of the call; empty when it names none.
  std::string ask(const json::value& call, json::array options);

  /// A person said no to a call: it is over, whatever the agent still says of it.
  void deny(const std::string& call);

  /// Takes the token counts of an answer to `session/prompt`, where it has any.
  void take_answer(const json::value& result);

  /// Whether something was gathered that `flush` would give.
  bool gathered() const;
  void flush();

  /// Everything up to the turn's end: what was gathered, and the end of its plan.
  void finish();

  /// The actions that came about since the last time.
  std::vector<json::value> drain();

  /// The edits of files that its completed calls told since the last time. What was only asked
  /// about, denied or failed is none.
  std::vector<ahp::file_edit> drain_edits();

  /// Bytes that the turn holds at its clients and in the store, about.
  std::size_t size() const { return text_bytes_ + call_bytes_; }

  const cost& total_cost() const { return now_; }

private:
  struct shown_call {
    std::string title;
    std::string input;
    json::array content;
    std::vector<ahp::file_edit> edits;
    std::size_t bytes = 0;
    bool ready = false; ///< it was shown what it does, or asked about
    bool over = false;  ///< completed or denied
  };

  void take_text(std::string_view kind, const json::value& update);
  void take_message(std::string_view kind, const json::value& update);
  void show_text();
  void end_text(); ///< what comes next is another part
  bool is_left_out(const std::string& id, const json::value& update);
  shown_call& known(const std::string& id, const json::value& update);
  void take_call(const json::value& update);
  void take_call_chunk(const json::value& update);
  void hold_edits(shown_call& of, std::vector<ahp::file_edit> more);
  void drop_edits(shown_call& of);
  void weigh(shown_call& of, std::size_t bytes);
  void show_content();
  void complete(const std::string& id, shown_call& of, bool success);
  void take_plan(const json::value& update);
  void take_usage(const json::value& update);
  void show_usage();
  void put(json::value action);

  const std::string id_;
  const cost before_;
  cost now_;
  std::vector<json::value> out_;
  std::string kind_;    ///< of the open part: "markdown" or "reasoning"; empty: none is open
  std::string message_; ///< id of the message that the open part belongs to
  std::set<std::string> messages_; ///< that came, whole or in pieces
  std::string part_;               ///< id of the open part; empty: not shown yet
  std::string text_;               ///< gathered
  std::size_t parts_ = 0;
  std::map<std::string, shown_call> calls_;
  std::vector<std::string> left_out_; ///< names of tools
  std::set<std::string> unshown_;     ///< calls of them
  std::set<std::string> changed_;     ///< calls whose content was gathered
  bool planned_ = false;
  json::object usage_;
  bool usage_changed_ = false;
  std::size_t text_bytes_ = 0;
  std::size_t call_bytes_ = 0;
  std::vector<ahp::file_edit> edits_; ///< of completed calls
  std::size_t edit_bytes_ = 0;        ///< of the calls' that are not completed
};

/// How a turn ended (ACP "Stop reasons").
struct ending {
  bool cancelled = false;
  std::string error_type; ///< empty: it is complete
};

/// `what` is the answer to `session/prompt`, or in the draft the update that says `idle`.
ending ending_of(const json::value& what);

} // namespace ahpd::acp
