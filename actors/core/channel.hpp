#pragma once

#include "actors/core/outbox.hpp"
#include "actors/core/replay.hpp"
#include "protocol/ahp/reducers.hpp"
#include "protocol/json.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ahpd::core {

/// Who dispatched an action (AHP "Envelope"); absent for the host's own.
struct action_origin {
  std::string client_id;
  std::uint64_t client_seq = 0;
  /// Hears of the action also when it does not follow the channel: it waits for the echo.
  std::shared_ptr<outbox> sender = nullptr;
  std::string spelling = {}; ///< of the channel, as the sender wrote it
  bool alone = false;        ///< nobody but that client is told, now or in a replay
};

/// One AHP channel: its state document and who follows it. The document belongs to the actor that
/// owns the channel; the followers are the sequencer's. A channel outlives its actor: when that
/// crashes, its successor goes on with the state that subscribers have.
class channel {
public:
  channel(ahp::channel_kind what, std::string name, json::value initial);

  const std::uint64_t id; ///< of this channel alone, also when a later one has its URI
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
  std::optional<std::uint64_t> since_; ///< the host's number when the sequencer first saw it
};

/// Asks a channel's owner to add a follower; answered with `followed`.
struct follow {
  std::string spelling; ///< of the channel's URI, as this client writes it
  std::shared_ptr<outbox> box;
  std::optional<std::uint64_t> turns; ///< `view.turns`: how many turns of a chat, newest last
  std::uint64_t slot =
    0; ///< of the answer, which moves to where the follower begins to hear; 0: it does not
};

/// The snapshot a `follow` is answered with. The state is its receiver's own.
struct followed {
  std::uint64_t channel = 0; ///< `channel::id`
  ahp::channel_kind kind{};
  std::shared_ptr<json::value> state; ///< in the 1.0 model
  std::uint64_t from_seq = 0;
};

/// One action that a client missed.
struct missed {
  std::string spelling;
  std::uint64_t seq = 0;
  std::shared_ptr<const std::string> action; ///< JSON text in the 1.0 model
  std::optional<ahp::build::origin> from;
};

/// Gives every change its place in one host-wide order and brings it to all who follow the channel.
/// One short critical section stamps an action and pushes it, so a client that saw number n has
/// every smaller one it was to see (AHP "Ordering guarantees"). Callable from any thread.
class sequencer {
public:
  /// Goes on above `start`; numbers up to `reserved` are on disk as used. `reserve(n)` is called
  /// when half are gone and must make n durable, then call `reserved`.
  sequencer(std::uint64_t start, std::uint64_t reserved, std::function<void(std::uint64_t)> reserve,
            std::size_t replay_bytes = 16u << 20);

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

  /// Takes the state and adds a follower in one step. `view` may shorten the copy of the state.
  /// Following twice gives a fresh snapshot and one place in the list.
  followed follow(channel& where, const core::follow& what,
                  const std::function<void(json::value&)>& view = {});

  /// Brings snapshots that `box` got one after the other to one number, which it gives: what came
  /// in between is folded into them, and is taken back from behind their answer's slot. Nothing
  /// when so much came that some of it is lost; then they have to be taken again.
  std::optional<std::uint64_t> settle(outbox& box, std::vector<followed>& shots);

  /// Goes on following channels where a client stopped: gives every action on them above
  /// `last_seen`, oldest first, and pushes those that come later. Nothing, and no follower, when
  /// not all of that is there any more, when its text is more than `most_bytes`, or when the
  /// follower's dialect cannot say it without the states. Channels are
  /// given with the client's spelling.
  std::optional<std::vector<missed>>
  resume(const std::vector<std::pair<std::string, std::shared_ptr<channel>>>& channels,
         const std::shared_ptr<outbox>& box, std::uint64_t last_seen, std::size_t most_bytes);

  void unfollow(channel& where, const outbox& box);
  std::size_t followers(const channel& where) const;
  bool followed_by(const channel& where, std::string_view client_id) const;

  /// Sends a notification, such as root/sessionAdded, to all followers, each in its dialect. It has
  /// no number.
  void notify(channel& where, std::string_view method, const json::value& params);

private:
  static void add_follower(channel& where, const std::shared_ptr<outbox>& box,
                           const std::string& spelling);

  mutable std::mutex guard_;
  std::uint64_t current_;
  std::uint64_t reserved_;
  bool asked_ = false;
  std::function<void(std::uint64_t)> reserve_;
  replay replay_;
};

} // namespace ahpd::core
