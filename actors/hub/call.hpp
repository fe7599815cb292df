#pragma once

#include "actors/core/errors.hpp"
#include "actors/hub/connection.hpp"

#include <caf/all.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace ahpd::hub {

using connection_ptr = caf::stateful_actor<connection_state>*;

/// One request under way: what it asks, and the one answer it gets.
struct call {
  connection_ptr self;
  json::value id;
  std::string method;
  json::object params;
  std::int64_t began_ns = 0; ///< Unix time; 0: nobody followed the traces when it came

  /// `result` is of the 1.0 model.
  void answer(const json::value& result) const;
  /// The same for JSON text that every dialect has in the same words.
  void answer_text(const std::string& result) const;
  void refuse(int code, std::string sentence, json::value data = nullptr) const {
    refuse(jsonrpc::error{code, std::move(sentence), std::move(data)});
  }
  void refuse(const jsonrpc::error& why) const;
  void refuse(const caf::error& why) const { refuse(core::to_wire(why)); }

  /// The same into a slot of the outbox, for what nothing may overtake. `result` is JSON text.
  void answer_in(std::uint64_t slot, const std::string& result) const;
  void refuse_in(std::uint64_t slot, const jsonrpc::error& why) const;

private:
  void push(std::string frame) const;
  void fill(std::uint64_t slot, std::string frame) const;
  void over() const;
  void trace(std::optional<int> error = std::nullopt) const;
};

/// Serves every method but those of the handshake and subscriptions.
void serve_request(const call& c);

// Of those, the ones that are not in requests.cpp.
void create_the_terminal(const call& c);
void dispose_the_terminal(const call& c);

/// Runs `found` with the owner of a channel and the host's spelling of it, opening it when only the
/// store knows it; else `missing` with the refusal. Later frames wait for it, so a client's actions
/// keep their order.
void with_owner(connection_ptr self, const std::string& uri,
                std::function<void(const caf::actor&, const std::string&)> found,
                std::function<void(const caf::error&)> missing);

} // namespace ahpd::hub
