#include "actors/sandbox/capabilities.hpp"

#include "actors/core/run_here.hpp"
#include "actors/core/scheduler.hpp"
#include "actors/sandbox/machine_facts.hpp"
#include "actors/sandbox/packages.hpp"
#include "actors/sandbox/probes.hpp"

#include <caf/all.hpp>

namespace ahpd::sandbox {

namespace {

using self_ptr = caf::stateful_actor<capabilities_state>*;
constexpr std::chrono::seconds fresh_for{5};
constexpr std::chrono::milliseconds probe_limit{1'000};

void finish(self_ptr self) {
  auto& st = self->state;
  if (!st.now->here || !st.now->browser || !st.now->computer)
    return;
  auto all = std::move(*st.now->here);
  all["browser"] = std::move(*st.now->browser);
  all["computer"] = std::move(*st.now->computer);
  st.now.reset();
  st.known = std::make_shared<const json::object>(std::move(all));
  st.known_at = std::chrono::steady_clock::now();
  for (const auto& each : std::exchange(st.waiting, {}))
    (*each.then)(*st.known);
}

/// Asks a server of this machine; `then` runs in the actor.
template <class Then>
std::shared_ptr<transport::exchange> get(self_ptr self, const transport::target& where,
                                         const std::string& path, Then then) {
  transport::http_request what;
  what.target = path;
  auto client = transport::make_http_client(core::io_of(self->system()), where, 0);
  return client->send(std::move(what), {probe_limit, 1u << 20},
                      core::back_to<transport::http_result>(
                        self, [self, client, then](const transport::http_result& got) {
                          then(got);
                          finish(self);
                        }));
}

void probe(self_ptr self) {
  auto& st = self->state;
  if (st.now)
    return;
  st.now.emplace();
  const auto& options = st.host->options;
  core::run_blocking(self->system(), [host = st.host, done = core::back_to<json::object>(
                                                        self, [self](json::object found) {
                                                          self->state.now->here = std::move(found);
                                                          finish(self);
                                                        })] { done(probe_here(*host)); });
  transport::target browser;
  browser.host = options.browser_host;
  browser.port = options.browser_port;
  st.asking_browser = get(self, browser, "/json/version", [self](const auto& got) {
    self->state.now->browser = browser_answer(self->state.host->options, got);
  });
  const auto worker = plain_target(options.computer_url);
  if (!worker) {
    st.now->computer = computer_answer("AIO_COMPUTER_USE_URL is no http:// URL");
    return finish(self);
  }
  st.asking_computer = get(self, *worker, "/capabilities", [self](const auto& got) {
    self->state.now->computer = computer_answer(failure_of(got));
  });
}

void ask(self_ptr self, const want_capabilities& what) {
  auto& st = self->state;
  const bool fresh = st.known && std::chrono::steady_clock::now() - st.known_at < fresh_for;
  if (st.known && !what.refresh) {
    (*what.then)(*st.known);
    if (!fresh)
      probe(self);
    return;
  }
  st.waiting.push_back(what);
  probe(self);
}

// ---- its routes ---------------------------------------------------------------------------------

void answer_sandbox(self_ptr self, const call_ptr& what) {
  auto then = [self, what](const json::object& capabilities) {
    core::run_blocking(self->system(), [what, capabilities] {
      const auto facts = machine_facts(*what->host, capabilities);
      if (what->route->operation == "sandboxV1")
        what->answer(200, machine_facts_v1(*what->host, facts));
      else
        what->succeed(facts);
    });
  };
  ask(self, {false, std::make_shared<std::function<void(const json::object&)>>(std::move(then))});
}

void serve_route(self_ptr self, const call_ptr& what) {
  const auto operation = what->route->operation;
  const auto language = what->text("lang");
  if (operation == "capabilities") {
    auto then = [what](const json::object& found) { what->succeed(found); };
    ask(self, {what->query.at("refresh").as_bool(),
               std::make_shared<std::function<void(const json::object&)>>(std::move(then))});
  } else if (operation == "sandbox" || operation == "sandboxV1") {
    answer_sandbox(self, what);
  } else if (operation == "pythonPackagesV1" || language == "python") {
    answer_packages(self->system(), what, package_language::python);
  } else if (operation == "nodejsPackagesV1" || language == "nodejs" || language == "node") {
    answer_packages(self->system(), what, package_language::nodejs);
  } else {
    what->fail(400, "unknown lang: " + language + "; expected python or nodejs");
  }
}

} // namespace

caf::behavior capabilities_actor(caf::stateful_actor<capabilities_state>* self, services_ptr host) {
  self->state.host = std::move(host);
  probe(self);
  return {
    core::take_run_here(),
    [self](const serve& what) { serve_route(self, what.what); },
    [self](const want_capabilities& what) { ask(self, what); },
  };
}

} // namespace ahpd::sandbox
