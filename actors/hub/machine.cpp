#include "actors/hub/machine.hpp"

#include "actors/core/errors.hpp"
#include "actors/core/run_here.hpp"
#include "protocol/ahp/codes.hpp"

#include <caf/all.hpp>

namespace ahpd::hub {

namespace {

using machine_ptr = caf::stateful_actor<machine_state>*;
using queue_ptr = caf::stateful_actor<docker_queue_state>*;

/// Takes the promise of the operation that is over.
template <class Self> caf::response_promise take_front(Self* self) {
  auto promise = std::move(self->state.queue.front().second);
  self->state.queue.pop_front();
  return promise;
}

void next_verb(machine_ptr self) {
  auto& st = self->state;
  if (st.queue.empty())
    return;
  auto report = core::back_to<runtimes::outcome<runtimes::nothing>>(self, [self](auto outcome) {
    auto promise = take_front(self);
    if (const auto* why = std::get_if<runtimes::refusal>(&outcome))
      promise.deliver(wire_refusal(*why));
    else
      promise.deliver(caf::unit);
    next_verb(self);
  });
  switch (st.queue.front().first) {
  case machine_verb::start:
    return st.runtime->start(st.id, std::move(report));
  case machine_verb::stop:
    return st.runtime->stop(st.id, std::move(report));
  case machine_verb::restart:
    return st.runtime->restart(st.id, std::move(report));
  case machine_verb::suspend:
    return st.runtime->suspend(st.id, std::move(report));
  case machine_verb::remove:
    return st.runtime->remove(st.id, std::move(report));
  }
}

void next_machine(queue_ptr self) {
  auto& st = self->state;
  if (st.queue.empty())
    return;
  const auto& what = st.queue.front().first;
  st.runtime->create(
    what.spec, what.on_progress,
    core::back_to<runtimes::outcome<runtimes::machine_record>>(self, [self](auto outcome) {
      auto promise = take_front(self);
      if (const auto* why = std::get_if<runtimes::refusal>(&outcome))
        promise.deliver(wire_refusal(*why));
      else
        promise.deliver(made_machine{std::get<0>(std::move(outcome))});
      next_machine(self);
    }));
}

/// Every promise is answered, also when the actor ends early.
template <class Queue> void answer_all(Queue& queue) {
  for (auto& waiting : queue)
    waiting.second.deliver(core::refusal(jsonrpc::internal_error, "The host is stopping"));
}

} // namespace

machine_state::~machine_state() {
  answer_all(queue);
}

docker_queue_state::~docker_queue_state() {
  answer_all(queue);
}

caf::error wire_refusal(const runtimes::refusal& why) {
  switch (why.what) {
  case runtimes::fault::not_there:
    return core::refusal(ahp::not_found, why.sentence);
  case runtimes::fault::taken:
    return core::refusal(ahp::already_exists, why.sentence);
  case runtimes::fault::refused:
  case runtimes::fault::unsupported:
    return core::refusal(jsonrpc::invalid_params, why.sentence);
  case runtimes::fault::unreachable:
  case runtimes::fault::failed:
    break;
  }
  return core::refusal(jsonrpc::internal_error, why.sentence);
}

caf::behavior machine_actor(caf::stateful_actor<machine_state>* self,
                            std::shared_ptr<runtimes::runtime> runtime, std::string id) {
  self->state.runtime = std::move(runtime);
  self->state.id = std::move(id);
  return {
    core::take_run_here(),
    [self](const do_verb& what) {
      auto promise = self->make_response_promise();
      auto& queue = self->state.queue;
      queue.emplace_back(what.verb, promise);
      if (queue.size() == 1)
        next_verb(self);
      return promise;
    },
  };
}

caf::behavior docker_queue_actor(caf::stateful_actor<docker_queue_state>* self,
                                 std::shared_ptr<runtimes::runtime> runtime) {
  self->state.runtime = std::move(runtime);
  return {
    core::take_run_here(),
    [self](const make_machine& what) {
      auto promise = self->make_response_promise();
      auto& queue = self->state.queue;
      queue.emplace_back(what, promise);
      if (queue.size() == 1)
        next_machine(self);
      return promise;
    },
  };
}

} // namespace ahpd::hub
