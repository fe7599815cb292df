#pragma once

#include "actors/core/metrics.hpp"
#include "config/store.hpp"

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/behavior.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace ahpd::hub {

/// A piece of work on the database, run on the store's own thread. Answered with `unit` once what
/// it wrote is on disk, together with everything else that waited (group commit); an exception
/// rolls the piece back alone and answers with its sentence.
struct store_job {
  std::shared_ptr<const std::function<void(config::store&)>> run;
};

inline store_job make_store_job(std::function<void(config::store&)> run) {
  return {std::make_shared<const std::function<void(config::store&)>>(std::move(run))};
}

struct store_state {
  static inline const char* name = "store";
  std::vector<caf::response_promise> waiting; ///< of the open transaction
};

/// Owns the database. Spawn detached; a failed commit ends it, and with it the hub: nothing may be
/// acknowledged any more.
caf::behavior store_actor(caf::stateful_actor<store_state>* self,
                          std::shared_ptr<config::store> database, core::metrics* count);

/// Writes, then goes on. Every other message of `self` waits meanwhile (`await`), so what is
/// acknowledged is on disk and what came later is answered later. A write that fails ends the
/// actor: its state is ahead of the database, and its successor starts from what is there.
template <class Self>
void after_commit(Self* self, const caf::actor& store, std::function<void(config::store&)> write,
                  std::function<void()> then) {
  self->request(store, caf::infinite, make_store_job(std::move(write)))
    .await([then = std::move(then)]() { then(); },
           [self](const caf::error& why) { self->quit(why); });
}

/// Writes what nobody waits for.
template <class Self>
void write_later(Self* self, const caf::actor& store, std::function<void(config::store&)> write) {
  self->request(store, caf::infinite, make_store_job(std::move(write)))
    .then([]() {}, [](const caf::error&) {});
}

} // namespace ahpd::hub

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ahpd::hub::store_job)
