#pragma once

#include "protocol/ahp/reducers.hpp"
#include "protocol/ahp/versions.hpp"
#include "protocol/json.hpp"
#include "protocol/transport/websocket.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ahpd::core {

/// One connection's way out. Callable from any thread.
///
/// While a handshake or a subscription is being answered the box is held: what would overtake the
/// answer waits behind it.
class outbox {
public:
  /// `tap` hears every frame on its way to the socket; it may be empty.
  explicit outbox(std::shared_ptr<transport::websocket> socket,
                  std::function<void(const std::string&)> tap = {});

  /// What its peer speaks; set once, when the version is negotiated.
  ahp::dialect speaks() const { return speaks_; }
  void set_dialect(ahp::dialect d) { speaks_ = d; }

  void push(transport::frame frame);

  /// Holds back what is pushed until as many `release`s as holds were called.
  void hold();

  /// Queues `answer` in front of what is held.
  void release(transport::frame answer);

  void close(std::uint16_t code, std::string_view why);

private:
  void send(transport::websocket& socket, transport::frame frame);

  std::weak_ptr<transport::websocket> socket_;
  std::function<void(const std::string&)> tap_;
  std::atomic<ahp::dialect> speaks_{ahp::dialect::v1_0};
  std::mutex guard_;
  unsigned holds_ = 0;
  std::vector<transport::frame> answers_;
  std::vector<transport::frame> held_;
};

/// Who dispatched an action (AHP "Envelope"); absent for the host's own.
struct action_origin {
  std::string client_id;
  std::uint64_t client_seq = 0;
  /// Hears of the action also when it does not follow the channel: it waits for the echo.
  std::shared_ptr<outbox> sender = nullptr;
  std::string spelling = {}; ///< of the channel, as the sender wrote it
};

/// One AHP channel: its state document and who follows it. The document belongs to the actor that
/// owns the channel; the followers are the sequencer's. A channel outlives its actor: when that
/// crashes, its successor goes on with the state that subscribers have.
class channel {
public:
  channel(ahp::channel_kind what, std::string name, json::value initial)
      : kind(what), uri(std::move(name)), state(std::move(initial)) {}

  const ahp::channel_kind kind;
  const std::string uri;
  json::value state;

private:
  friend class sequencer;
  struct follower {
    std::shared_ptr<outbox> box;
    std::string spelling; ///< of the URI, as this client subscribed
  };
  std::vector<follower> followers_;
};

/// A state document as text, and the number it is true at.
struct snapshot {
  std::string state;
  std::uint64_t from_seq = 0;
};

/// Gives every change its place in one host-wide order and brings it to all who follow the channel.
/// One short critical section stamps an action and pushes it, so a client that saw number n has
/// every smaller one it was to see (AHP "Ordering guarantees"). Callable from any thread.
class sequencer {
public:
  /// Goes on above `start`; numbers up to `reserved` are on disk as used. `reserve(n)` is called
  /// when half are gone and must make n durable, then call `reserved`.
  sequencer(std::uint64_t start, std::uint64_t reserved,
            std::function<void(std::uint64_t)> reserve);

  /// How many numbers are reserved at a time.
  static constexpr std::uint64_t block = 1'000'000;

  std::uint64_t current() const;
  void reserved(std::uint64_t upto);

  /// Reduces `action` into the channel's state, stamps it and pushes it to all followers. Called by
  /// the owner of the channel only. Gives the number, which all frames have when a follower's
  /// dialect says the action in several.
  std::uint64_t publish(channel& where, json::value action,
                        const std::optional<action_origin>& origin = std::nullopt);

  /// Stamps and pushes an action that its owner has reduced already: what must be durable first is
  /// reduced, committed, then announced, and nobody looks at the state in between.
  std::uint64_t announce(channel& where, json::value action,
                         const std::optional<action_origin>& origin = std::nullopt);

  /// Echoes an action to `origin.sender` alone, refused: no state moves and no number is used.
  void refuse(const json::value& action, const action_origin& origin, std::string_view why) const;

  /// Takes the state as text and adds a follower in one step. `view` may shorten a copy of the
  /// state for this follower. Following twice gives a fresh snapshot and one place in the list.
  snapshot follow(channel& where, std::shared_ptr<outbox> box, std::string spelling,
                  const std::function<void(json::value&)>& view = {});
  void unfollow(channel& where, const outbox& box);
  void unfollow_all(channel& where);
  std::size_t followers(const channel& where) const;

  /// Sends a notification, such as root/sessionAdded, to all followers, each in its dialect. It has
  /// no number.
  void notify(channel& where, std::string_view method, const json::value& params);

private:
  mutable std::mutex guard_;
  std::uint64_t current_;
  std::uint64_t reserved_;
  bool asked_ = false;
  std::function<void(std::uint64_t)> reserve_;
};

} // namespace ahpd::core
