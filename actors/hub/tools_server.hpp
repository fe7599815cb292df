#pragma once

#include "actors/hub/tools.hpp"
#include "protocol/transport/http.hpp"

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

/// The MCP servers that agents reach their session's tools through: one for each agent's process,
/// under a path and a token that only it is told. It is one per agent and not per session because
/// a session's chats run turns at once, and a call belongs into the turn of the agent that made it.
namespace ahpd::hub {

struct services;

/// Which tools server is where. Any thread.
class tools_directory {
public:
  using reply = std::function<void(transport::http_response)>;

  /// The listener that requests come through. Before that no server can be offered.
  void listens_at(const std::string& host, std::uint16_t port);

  /// "host:port" of the listener; empty: there is none.
  std::string listener() const;

  /// "http://host:port", as a program on this host reaches the listener, or one in a machine:
  /// nothing when it cannot, as the listener is bound to loopback or to all addresses.
  std::optional<std::string> origin(bool from_machine) const;

  static constexpr std::string_view prefix = "/ahp-mcp/"; ///< of every path

  /// Answers a request whose path begins with `prefix`, at once or later.
  void serve(transport::http_request what, reply answer) const;

  void add(const std::string& id, const std::string& token, const caf::actor& server);
  void remove(const std::string& id);

private:
  struct entry {
    std::string token;
    caf::actor server;
  };
  mutable std::mutex guard_;
  std::string host_;
  std::uint16_t port_ = 0;
  std::map<std::string, entry> entries_;
};

/// A tools server, from the side of the agent that opened it. It ends with this.
struct tools_endpoint {
  std::string url;
  std::string token;
  caf::actor server; ///< takes `session_tools`

  tools_endpoint() = default;
  tools_endpoint(const tools_endpoint&) = delete;
  tools_endpoint& operator=(const tools_endpoint&) = delete;
  ~tools_endpoint();
};

/// Opens a tools server at an origin, whose calls go to `chat`.
std::unique_ptr<tools_endpoint> open_tools_server(caf::actor_system& system,
                                                  const std::shared_ptr<services>& host,
                                                  const caf::actor& chat, const std::string& origin,
                                                  tool_list tools);

} // namespace ahpd::hub
