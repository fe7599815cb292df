#pragma once

#include "actors/core/later.hpp"
#include "actors/hub/engines/acp.hpp"
#include "actors/hub/tools_server.hpp"
#include "protocol/acp/handshake.hpp"
#include "protocol/acp/lines.hpp"
#include "protocol/acp/peer.hpp"
#include "protocol/acp/settings.hpp"
#include "protocol/acp/turn.hpp"

#include <caf/atom.hpp>
#include <caf/stateful_actor.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

/// The actor of one chat with an ACP server, in parts: turns (acp.cpp), the server's process
/// (acp_process.cpp), how its session opens (acp_open.cpp), the files (acp_files.cpp) and the
/// terminals (acp_terminals.cpp) that it asks for, the tools it is offered (acp_tools.cpp).
/// Everything here is called inside the actor only.
namespace ahpd::hub::acp_agent {

/// One server process, from the order to start it until nothing of it is left. Callbacks hold it,
/// so that what comes late finds its own and not a successor's.
struct server {
  server(std::string provider, std::shared_ptr<runtimes::place> where, std::string mark)
      : place(std::move(where)), marker(std::move(mark)), settings(std::move(provider)) {}

  const std::shared_ptr<runtimes::place> place;
  const std::string marker;                   ///< of all it starts, longer than any turn
  std::shared_ptr<runtimes::running> program; ///< null: it is being started
  acp::line_reader lines;
  acp::peer peer;
  std::uint64_t read_to = 0;   ///< of its standard output
  std::uint64_t errors_to = 0; ///< of its standard error
  unsigned garbage = 0;        ///< lines that were no messages
  bool ending = false;         ///< it was told to go; what it still says is ignored

  acp::agent_facts facts;
  acp::settings settings;
  bool draft() const { return facts.version == acp::draft_version; }
  std::string asked; ///< the method that is to open the session; for a sentence when it takes long
  unsigned applying = 0; ///< rounds of settings that it was not asked all of yet
  bool open = false;     ///< its session is there and takes prompts
  core::later late = {}; ///< tells when that takes too long

  /// Requests for a person's yes or no that were not answered yet, by the call they are about.
  struct question {
    json::value id;
    json::value options;
  };
  std::map<std::string, question> questions;
  std::map<std::uint64_t, std::shared_ptr<runtimes::running>> files; ///< being read or written
  std::uint64_t last_file = 0;
  std::uint64_t last_question = 0;
  std::set<std::string> terminals;       ///< that it asked for and did not release
  std::unique_ptr<tools_endpoint> tools; ///< that it was offered; null: none
};
using server_ptr = std::shared_ptr<server>;

struct state {
  static inline const char* name = "acp";

  struct turn {
    turn(const begin_turn& begun, const acp::cost& before)
        : what(begun), shown(begun.turn_id, before) {}

    begin_turn what;
    acp::turn shown;
    bool prompted = false;
    bool cancelled = false;
    bool ran = false;                ///< in the draft: the agent said that it works on the prompt
    bool accepted = false;           ///< in the draft: the prompt was answered
    std::optional<json::value> idle; ///< in the draft: how it said that it was done
    std::string error_type;          ///< why it fails, once that is known
    std::string error_message;
  };

  agent_context context;
  std::shared_ptr<const config::acp_agent> agent;
  acp_limits limits;
  server_ptr server;                  ///< null: none
  std::optional<std::string> session; ///< the server's own id for the session; empty: none yet
  std::optional<turn> now;
  acp::cost cost;      ///< of the session so far
  json::object wanted; ///< settings, as the session has them
  tool_list tools = std::make_shared<const std::vector<offered_tool>>(); ///< the session's
  bool flush_due = false;
  bool leaving = false;
  std::size_t going = 0; ///< servers that something may be left of

  state() = default;
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state(); ///< kills the server of an actor that crashed
};

using self_ptr = caf::stateful_actor<state>*;

using flush_atom = caf::atom_constant<caf::atom("flush")>;
using leave_atom = caf::atom_constant<caf::atom("leave")>;
using late_atom = caf::atom_constant<caf::atom("late")>;   ///< a server did not open in time
using grace_atom = caf::atom_constant<caf::atom("grace")>; ///< a cancelled turn has not ended

// acp_process.cpp

/// Starts the server for the turn under way; `open_session` follows, or `fail`.
void start_server(self_ptr self);

/// Asks the server; `done` hears the answer, unless the server is gone by then.
void ask(self_ptr self, const server_ptr& of, std::string_view method, const json::value& params,
         std::function<void(acp::outcome)> done);
void send(const server_ptr& to, std::string frame);

/// The turn under way fails for this reason and the server goes; `end` follows when nothing of it
/// is left.
void fail(self_ptr self, std::string error_type, std::string message);

/// Ends a server: its input ends, SIGTERM to its tree, after `grace` SIGKILL.
void stop(const server_ptr& what, std::chrono::milliseconds grace);

// acp_open.cpp

/// Handshake, sign-in, and a session: new, or the one that an earlier server had.
void open_session(self_ptr self, const server_ptr& of);

/// Asks for the settings that the session wants and the server does not have, then `done`.
void apply_settings(self_ptr self, const server_ptr& of, std::function<void()> done);

/// What an error of the server means to a person: type and sentence.
std::pair<std::string, std::string> explain(const state& st, const server& of,
                                            const jsonrpc::error& why);

// acp.cpp

/// The server is ready for the prompt of the turn under way.
void prompt(self_ptr self);

/// A file was edited in a turn.
void tell_edit(self_ptr self, const begin_turn& in, ahp::file_edit what);

/// The turn under way is over.
void end(self_ptr self);

void on_call(self_ptr self, const server_ptr& of, acp::peer::call call);
void on_word(self_ptr self, const server_ptr& of, const acp::peer::word& word);

// acp_tools.cpp

/// Opens the tools server that the server is to reach the session's tools through; `mcpServers` of
/// its session. Empty when it is not offered any: it does not take one, its record says so, or
/// it could not reach it.
json::array offer_tools(self_ptr self, const server_ptr& of);

// acp_files.cpp

void read_file(self_ptr self, const server_ptr& of, const acp::peer::call& call);
void write_file(self_ptr self, const server_ptr& of, const acp::peer::call& call);

// acp_terminals.cpp

/// Serves `terminal/*`: each is a terminal of the host's, whose URI is the id that the server gets.
void on_terminal(self_ptr self, const server_ptr& of, const acp::peer::call& call);

/// Closes what the server did not release.
void close_terminals(self_ptr self, const server_ptr& of);

} // namespace ahpd::hub::acp_agent
