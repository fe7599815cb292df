#pragma once

#include "actors/core/owner.hpp"
#include "actors/hub/services.hpp"
#include "protocol/jsonrpc/message.hpp"
#include "protocol/transport/websocket.hpp"

#include <caf/behavior.hpp>
#include <caf/stateful_actor.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace ahpd::hub {

/// One frame from the socket.
struct frame_in {
  std::shared_ptr<const std::string> text;
};

/// The socket ended.
struct socket_closed {
  std::uint16_t code = 0;
};

struct connection_state {
  static inline const char* name = "connection";

  services_ptr host;
  std::weak_ptr<transport::websocket> socket;
  std::shared_ptr<core::outbox> box;
  std::string default_shell; ///< of this client's terminals on this host; empty: the host's
  bool initialized = false;  ///< the handshake is answered, or is being answered
  /// Owner of each, by the client's spelling; of telemetry, which has none, an empty handle.
  std::map<std::string, caf::actor> subscriptions;
  std::size_t asked = 0;                       ///< requests that are not answered yet
  std::size_t owed = 0;                        ///< frames the socket may read once some of them are
  std::deque<std::function<void()>> pool_work; ///< one after the other; the front one runs

  connection_state() = default;
  connection_state(const connection_state&) = delete;
  connection_state& operator=(const connection_state&) = delete;
  /// However the actor ends: no owner keeps its outbox, and the socket ends with it.
  ~connection_state();
};

/// One client: reads its frames, answers its requests, passes actions to the owners of channels.
/// Ends with its socket, and the socket with it.
caf::behavior connection_actor(caf::stateful_actor<connection_state>* self, services_ptr host,
                               std::shared_ptr<transport::websocket> socket);

} // namespace ahpd::hub

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::frame_in)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::socket_closed)
