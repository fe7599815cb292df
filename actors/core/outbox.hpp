#pragma once

#include "protocol/ahp/versions.hpp"
#include "protocol/transport/websocket.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace ahpd::core {

/// One connection's way out: frames leave in the order in which they were pushed. Callable from any
/// thread.
///
/// An answer that takes a while, and that nothing may overtake, has a slot in that order: what is
/// pushed after it waits until the slot is filled.
class outbox {
public:
  /// Bytes that may wait behind slots; past it the peer is dropped with 1013.
  static constexpr std::size_t most_waiting = 32u << 20;
  static constexpr std::size_t most_offered = 1u << 20;

  /// `tap` hears every frame on its way to the socket; it may be empty.
  explicit outbox(std::shared_ptr<transport::websocket> socket,
                  std::function<void(const std::string&)> tap = {});

  /// Who its peer is and what it speaks: said once, by the handshake, before it follows anything.
  void introduce(std::string client_id, ahp::dialect speaks) {
    client_id_ = std::move(client_id);
    speaks_ = speaks;
  }
  const std::string& client_id() const { return client_id_; }
  ahp::dialect speaks() const { return speaks_; }

  void push(transport::frame frame) { push({std::move(frame), 0, false}); }
  /// The same for a frame with an action, which `take_back_actions` takes back.
  void push_action(transport::frame frame) { push({std::move(frame), 0, true}); }

  /// Pushes a frame that its peer can do without, unless more than `most_offered` bytes wait for
  /// the peer already: then it is left out, and false.
  bool offer(transport::frame frame);

  /// A slot behind all that was pushed. Never 0.
  std::uint64_t reserve();
  /// Moves a slot behind all that was pushed since.
  void postpone(std::uint64_t slot);
  void fill(std::uint64_t slot, transport::frame answer);
  /// Forgets the actions that wait behind slots.
  void take_back_actions();

  void close(std::uint16_t code, std::string_view why);

private:
  struct entry {
    transport::frame frame; ///< null: a slot that is not filled
    std::uint64_t slot = 0; ///< 0: not a slot
    bool action = false;
  };

  void push(entry what);
  void drain();
  std::deque<entry>::iterator find(std::uint64_t slot);

  std::weak_ptr<transport::websocket> socket_;
  std::function<void(const std::string&)> tap_;
  std::string client_id_;
  ahp::dialect speaks_ = ahp::dialect::v1_0;
  std::mutex guard_;
  std::uint64_t last_slot_ = 0;
  std::deque<entry> waiting_; ///< empty, or a slot that is not filled comes first
  std::size_t waiting_bytes_ = 0;
};

} // namespace ahpd::core
