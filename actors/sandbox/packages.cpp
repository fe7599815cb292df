#include "actors/sandbox/packages.hpp"

#include "actors/core/scheduler.hpp"
#include "actors/sandbox/runner.hpp"
#include "protocol/utf8.hpp"
#include "runtimes/process/program.hpp"

#include <caf/actor_system.hpp>

namespace ahpd::sandbox {

namespace {

constexpr std::size_t kept_bytes = 4u << 20;

std::vector<std::string> tool_of(package_language of) {
  if (of == package_language::python)
    return {"python3", "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"};
  return {"npm", "ls", "--global", "--depth=0"};
}

} // namespace

void answer_packages(caf::actor_system& system, const call_ptr& what, package_language of) {
  const auto as = find_runner(*what->host, std::nullopt);
  if (const auto* why = std::get_if<refusal>(&as))
    return what->fail(why->status, why->message);
  const auto& who = std::get<runner>(as);
  process::spawn_request program;
  program.argv = tool_of(of);
  program.env = environment_of(*what->host, who);
  program.as = who.as;
  const auto name = program.argv.front();
  const auto running = std::make_shared<std::shared_ptr<runtimes::running>>();
  process::run_options options;
  options.keep_bytes = kept_bytes;
  process::start_program(
    core::io_of(system), core::blocking_pool_of(system), std::move(program), std::move(options),
    {{},
     [what, running, name](const runtimes::exit_status& how) {
       const auto words = utf8::repaired((*running)->read(runtimes::output::out, 0).bytes);
       // npm's status tells of what it finds wrong with the packages, which it lists all the same.
       if (how.ok() || !words.empty())
         what->succeed(json::string(words));
       else
         what->fail(
           503, name + " could not list its packages", nullptr,
           json::string(utf8::repaired((*running)->read(runtimes::output::err, 0, 500).bytes)));
       running->reset();
     }},
    [what, running](runtimes::exec_result started) {
      if (!started.program)
        return what->fail(503, started.refused);
      *running = std::move(started.program);
    });
}

} // namespace ahpd::sandbox
