#include "actors/sandbox/sandbox.hpp"

#include "actors/core/owner.hpp"
#include "actors/core/supervisor.hpp"
#include "actors/sandbox/capabilities.hpp"
#include "actors/sandbox/commands.hpp"
#include "actors/sandbox/file_call.hpp"

#include <caf/all.hpp>

namespace ahpd::sandbox {

caf::actor start_sandbox(caf::actor_system& system, const services_ptr& host) {
  std::vector<core::child_spec> children;
  const auto add = [&](const char* name, auto behaviour, std::shared_ptr<core::address> where) {
    children.push_back({name,
                        [host, behaviour](caf::actor_system& s) {
                          return caf::actor_cast<caf::actor>(s.spawn(behaviour, host));
                        },
                        std::move(where)});
  };
  add("capabilities", capabilities_actor, host->capabilities);
  add("commands", commands_actor, host->commands);
  add("files", files_actor, host->files);
  auto root = system.spawn(core::supervisor, std::move(children), core::restart_policy{});
  caf::scoped_actor here(system);
  here->request(root, caf::infinite, core::are_you_up{}).receive([] {}, [](const caf::error&) {});
  return root;
}

} // namespace ahpd::sandbox
