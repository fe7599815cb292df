#include "actors/sandbox/info.hpp"

#include "actors/sandbox/auth.hpp"
#include "actors/sandbox/capabilities.hpp"
#include "protocol/aio/openapi.hpp"

#include <caf/send.hpp>

namespace ahpd::sandbox {

namespace {

std::string header(const call& c, std::string_view name) {
  const auto i = c.request.headers.find(name);
  return i == c.request.headers.end() ? std::string() : i->second;
}

void health(const call_ptr& c) {
  const auto up = std::chrono::steady_clock::now() - c->host->started;
  c->answer(200, {{"status", "healthy"},
                  {"version", AHPD_VERSION},
                  {"uptime_seconds", std::chrono::duration<double>(up).count()}});
}

void ping(const call_ptr& c) {
  c->succeed("pong");
}

void metrics_text(const call_ptr& c) {
  c->send({200,
           {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},
           c->host->counters.text()});
}

void document(const call_ptr& c) {
  const auto operation = c->route->operation;
  const auto which = operation == "openapiV1"   ? aio::document::v1
                     : operation == "openapiV2" ? aio::document::v2
                                                : aio::document::all;
  const auto served = c->host->options.only_v2 ? aio::surface::v2 : aio::surface::full;
  c->answer(200, aio::openapi(which, served, AHPD_VERSION));
}

/// A proxy asks whether the request that it has may pass; without one, whether this one may.
void check_authorization(const call_ptr& c) {
  const auto original = header(*c, "X-Original-URI");
  const auto& target = original.empty() ? c->request.target : original;
  const bool may = (!original.empty() && is_public(target)) ||
                   is_authorised(c->host->options.api_key, c->request.headers, target);
  c->send({may ? 204U : 401U, {}, {}});
}

void to_actor(const call_ptr& c) {
  caf::anon_send(c->host->capabilities->get(), serve{c});
}

} // namespace

std::vector<handler> info_handlers() {
  return {{"health", health},
          {"ping", ping},
          {"metrics", metrics_text},
          {"openapi", document},
          {"openapiV1", document},
          {"openapiV2", document},
          {"checkAuthorization", check_authorization},
          {"capabilities", to_actor},
          {"sandbox", to_actor},
          {"sandboxV1", to_actor},
          {"sandboxPackages", to_actor},
          {"pythonPackagesV1", to_actor},
          {"nodejsPackagesV1", to_actor}};
}

} // namespace ahpd::sandbox
