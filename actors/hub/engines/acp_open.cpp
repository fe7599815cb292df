#include "actors/hub/engines/acp_agent.hpp"
#include "actors/hub/services.hpp"
#include "actors/hub/store_actor.hpp"
#include "config/options.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <memory>

namespace ahpd::hub::acp_agent {

namespace {

std::string methods_of(const acp::agent_facts& facts) {
  std::string out;
  for (const auto& id : facts.auth_methods)
    out += (out.empty() ? "" : ", ") + id;
  return out.empty() ? "none" : out;
}

bool offers(const acp::agent_facts& facts, const std::string& method) {
  const auto& all = facts.auth_methods;
  return std::find(all.begin(), all.end(), method) != all.end();
}

/// One step of the opening: asks, and fails the turn when the answer is an error.
void step(self_ptr self, const server_ptr& of, std::string method, const json::value& params,
          std::function<void(json::value)> then) {
  of->asked = method;
  ask(self, of, method, params, [self, of, then](acp::outcome what) {
    if (const auto* error = std::get_if<jsonrpc::error>(&what)) {
      auto [type, sentence] = explain(self->state, *of, *error);
      return fail(self, std::move(type), std::move(sentence));
    }
    then(std::move(std::get<json::value>(what)));
  });
}

/// The session is there: the settings it is to have, and then its prompts.
void opened(self_ptr self, const server_ptr& of, const json::value& result) {
  of->settings.take_opened(result);
  const auto& model = self->state.agent->model;
  if (!model.empty() && !self->state.wanted.contains("model"))
    self->state.wanted["model"] = model;
  of->open = true;
  prompt(self);
}

void new_session(self_ptr self, const server_ptr& of) {
  step(self, of, "session/new",
       acp::session_params(self->state.now->what.directory, offer_tools(self, of)),
       [self, of](const json::value& result) {
         auto& st = self->state;
         const auto id = json::string_member(result, "sessionId").value_or("");
         if (id.empty())
           return fail(self, "agentError",
                       st.agent->id + ": its answer to session/new has no sessionId");
         st.session = std::string(id);
         // Durable before it is used, so that a later hub goes on where this one was.
         auto job = [uri = st.context.chat_uri, id = *st.session](config::store& db) {
           db.set_backend_of_chat(uri, id);
         };
         self->request(st.context.host->store->get(), caf::infinite, make_store_job(job))
           .then(
             [self, of, result] {
               if (!of->ending)
                 opened(self, of, result);
             },
             [self](const caf::error& why) { self->quit(why); });
       });
}

void load_session(self_ptr self, const server_ptr& of) {
  auto& st = self->state;
  if (!of->facts.load_session)
    return fail(self, "agentError",
                st.agent->id + ": this ACP server cannot load a session, so \"" + *st.session +
                  "\" cannot be resumed");
  step(self, of, of->draft() ? "session/resume" : "session/load",
       acp::session_params(st.now->what.directory, offer_tools(self, of), *st.session),
       [self, of](const json::value& result) { opened(self, of, result); });
}

void begin_session(self_ptr self, const server_ptr& of) {
  if (self->state.session->empty())
    new_session(self, of);
  else
    load_session(self, of);
}

/// Each setting once, one after the other: an option may change what another offers.
void apply_next(self_ptr self, const server_ptr& of, const std::shared_ptr<json::object>& wanted,
                const std::function<void()>& done) {
  while (!wanted->empty()) {
    const std::string key(wanted->begin()->key());
    const json::value value = wanted->begin()->value();
    wanted->erase(key);
    auto request = of->settings.change(key, value);
    if (!request)
      continue;
    request->params["sessionId"] = *self->state.session;
    if (of->draft())
      request->params.emplace("type", "id"); // unless it says boolean
    return ask(self, of, request->method, request->params,
               [self, of, wanted, key, value, done](const acp::outcome& what) {
                 of->settings.answered(key, value, what);
                 apply_next(self, of, wanted, done);
               });
  }
  done();
}

/// Whether one of the variables is set where the agent runs.
bool has_variable(const state& st) {
  const auto& agent = *st.agent;
  auto all = agent.env;
  if (st.context.where.machine.empty())
    all.merge(config::real_surroundings().environment);
  else
    for (const auto& [key, value] : agent.machine_env)
      all[key] = value;
  return std::any_of(agent.sign_in_variables.begin(), agent.sign_in_variables.end(),
                     [&](const auto& name) {
                       const auto found = all.find(name);
                       return found != all.end() && !found->second.empty();
                     });
}

void sign_in(self_ptr self, const server_ptr& of) {
  const auto& st = self->state;
  const auto& agent = *st.agent;
  auto method = agent.sign_in;
  if (!method.empty() && !offers(of->facts, method))
    return fail(self, "authRequired",
                agent.id + " offers " + methods_of(of->facts) + ", not " + method);
  if (method.empty() && offers(of->facts, agent.template_sign_in) && has_variable(st))
    method = agent.template_sign_in;
  if (method.empty())
    return begin_session(self, of);
  step(self, of, of->draft() ? "auth/login" : "authenticate", json::object{{"methodId", method}},
       [self, of](const json::value&) { begin_session(self, of); });
}

} // namespace

std::pair<std::string, std::string> explain(const state& st, const server& of,
                                            const jsonrpc::error& why) {
  if (why.code == acp::auth_required) {
    auto sentence = st.agent->id +
                    ": this ACP server wants to be signed in before it answers, and offers " +
                    methods_of(of.facts) + "; set the authenticate option to the one to use";
    if (!why.message.empty() && why.message != "Authentication required")
      sentence += ". It said: " + why.message;
    return {"authRequired", std::move(sentence)};
  }
  auto sentence = st.agent->id + ": " + (why.message.empty() ? "it failed" : why.message);
  if (const auto* data = why.data.if_string())
    sentence += ": " + std::string(*data);
  else if (const auto details = json::string_member(why.data, "details"))
    sentence += ": " + std::string(*details);
  return {"agentError", std::move(sentence)};
}

void open_session(self_ptr self, const server_ptr& of) {
  const auto greeted = [self, of](const json::value& result) {
    std::string problem;
    of->facts = acp::read_initialize(result, problem);
    if (!problem.empty())
      return fail(self, "agentError", self->state.agent->id + ": " + problem);
    sign_in(self, of);
  };
  of->asked = "initialize";
  ask(self, of, of->asked, acp::initialize_params(AHPD_VERSION, {true, true}),
      [self, of, greeted](acp::outcome what) {
        if (auto* result = std::get_if<json::value>(&what))
          return greeted(*result);
        const auto& error = std::get<jsonrpc::error>(what);
        if (acp::wants_draft(error))
          return step(self, of, "initialize", acp::initialize_draft_params(AHPD_VERSION), greeted);
        auto [type, sentence] = explain(self->state, *of, error);
        fail(self, std::move(type), std::move(sentence));
      });
}

void apply_settings(self_ptr self, const server_ptr& of, std::function<void()> done) {
  ++of->applying;
  apply_next(self, of, std::make_shared<json::object>(self->state.wanted), [of, done] {
    --of->applying;
    done();
  });
}

} // namespace ahpd::hub::acp_agent
