#pragma once

#include "protocol/json.hpp"
#include "protocol/jsonrpc/message.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>

/// The Agent Client Protocol (ACP): JSON-RPC 2.0 with requests in both directions.
namespace ahpd::acp {

/// What came of a request of ours.
using outcome = std::variant<json::value, jsonrpc::error>;

/// The requests that are under way between this host and one agent.
///
/// Frames are JSON texts without a newline. Each of our requests is answered once: its handler is
/// called by `take`. Each of the agent's is answered once: a second answer to it gives no frame.
class peer {
public:
  /// Requests of the agent that may wait for their answers at the same time.
  static constexpr std::size_t most_open = 256;

  /// The frame of a new request; `done` hears its answer.
  std::string ask(std::string_view method, const json::value& params,
                  std::function<void(outcome)> done);

  static std::string tell(std::string_view method, const json::value& params);

  /// What a line was.
  struct call { ///< a request of the agent, to be answered by `answer` or `refuse`
    json::value id;
    std::string method;
    json::object params;
  };
  struct word { ///< a notification
    std::string method;
    json::object params;
  };
  struct answered {};  ///< the answer to a request of ours, whose handler was called
  struct fault {       ///< nothing that can be used
    std::string why;   ///< one sentence
    std::string reply; ///< a frame that tells the agent; empty: there is nothing to answer
    bool garbage;      ///< not even a JSON-RPC message
  };
  using event = std::variant<call, word, answered, fault>;

  event take(std::string_view line);

  /// The frame that answers a request of the agent; empty when it was answered before.
  std::string answer(const json::value& id, const json::value& result);
  std::string refuse(const json::value& id, const jsonrpc::error& why);

  /// The agent will answer nothing any more: drops the handlers, which may own what owns this.
  void forget() { asked_.clear(); }

private:
  event take_request(jsonrpc::request& what);
  event take_response(jsonrpc::response& what);

  std::int64_t last_id_ = 0;
  std::map<std::int64_t, std::function<void(outcome)>> asked_;
  std::set<std::string> open_; ///< ids of the agent's requests, as JSON text
};

} // namespace ahpd::acp
