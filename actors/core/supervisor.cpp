#include "actors/core/supervisor.hpp"

#include "actors/core/log.hpp"
#include "actors/core/owner.hpp"

#include <caf/all.hpp>

#include <algorithm>

namespace ahpd::core {

namespace {

using restart_atom = caf::atom_constant<caf::atom("restart")>;
using self_ptr = caf::stateful_actor<supervisor_state>*;

void start(self_ptr self, std::size_t i) {
  auto& child = self->state.children[i];
  child.handle = child.spec.start(self->system());
  self->monitor(child.handle);
  child.spec.where->set(child.handle);
}

/// Ends the last child that still runs; its DOWN brings the next one's turn.
void stop_next(self_ptr self) {
  auto& st = self->state;
  const auto last = std::find_if(st.children.rbegin(), st.children.rend(),
                                 [](const auto& c) { return static_cast<bool>(c.handle); });
  if (last == st.children.rend())
    return self->quit(st.reason);
  self->send_exit(last->handle, caf::exit_reason::user_shutdown);
}

void stop(self_ptr self, caf::error reason) {
  auto& st = self->state;
  if (st.stopping)
    return;
  st.stopping = true;
  st.reason = std::move(reason);
  stop_next(self);
}

void on_crash(self_ptr self, std::size_t i, const caf::error& reason) {
  auto& st = self->state;
  auto& child = st.children[i];
  const auto now = std::chrono::steady_clock::now();
  child.crashes.push_back(now);
  while (now - child.crashes.front() > st.policy.window)
    child.crashes.pop_front();
  log::error("actor crashed", {{"actor", child.spec.name},
                               {"reason", self->system().render(reason)},
                               {"crashes", std::to_string(child.crashes.size())}});
  if (child.spec.vital || child.crashes.size() > st.policy.most)
    return stop(self, reason);
  self->delayed_send(self, back_off(st.policy, child.crashes.size()), restart_atom::value, i);
}

} // namespace

std::chrono::milliseconds back_off(const restart_policy& policy, std::size_t crashes) {
  auto delay = policy.first_delay;
  for (std::size_t i = 1; i < crashes && delay < policy.longest_delay; ++i)
    delay *= 2;
  return std::min(delay, policy.longest_delay);
}

caf::behavior supervisor(caf::stateful_actor<supervisor_state>* self, std::vector<child_spec> specs,
                         restart_policy policy) {
  auto& st = self->state;
  st.policy = policy;
  for (auto& spec : specs)
    st.children.push_back({std::move(spec), nullptr, {}});
  self->set_exit_handler([self](caf::exit_msg& msg) { stop(self, std::move(msg.reason)); });
  self->set_down_handler([self](caf::down_msg& msg) {
    auto& children = self->state.children;
    const auto i = std::find_if(children.begin(), children.end(), [&](const auto& c) {
      return c.handle && c.handle.address() == msg.source;
    });
    if (i == children.end())
      return;
    i->handle = nullptr;
    if (self->state.stopping) {
      // A socket that is still closing may keep the address past the end of the system, and the
      // system waits until nobody keeps an actor that has a thread of its own.
      i->spec.where->set(nullptr);
      return stop_next(self);
    }
    on_crash(self, static_cast<std::size_t>(i - children.begin()), msg.reason);
  });
  for (std::size_t i = 0; i < st.children.size(); ++i)
    start(self, i);
  return {
    [](const are_you_up&) { return caf::unit; },
    [self](restart_atom, std::size_t i) {
      if (!self->state.stopping)
        start(self, i);
    },
  };
}

} // namespace ahpd::core
