#pragma once

#include "actors/core/channel.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

/// What every owner of a channel understands.
namespace ahpd::core {

/// A client's `dispatchAction`. No answer: the owner echoes it, refused or not, in the order of
/// arrival.
struct client_action {
  json::shared action;
  action_origin origin;
};

/// Ends a `follow`. No answer.
struct unfollow {
  std::shared_ptr<outbox> box;
  bool lost = false;         ///< the connection ended; its client may come back
  std::string spelling = {}; ///< of the channel's URI, as this client wrote it
};

/// Asks an actor whether it serves yet; answered with `unit` by the hub's own children once they
/// do.
struct are_you_up {};

} // namespace ahpd::core

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::core::are_you_up)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::core::client_action)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::core::follow)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::core::followed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::core::unfollow)
