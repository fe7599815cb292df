#include "actors/sandbox/front.hpp"

#include "actors/sandbox/auth.hpp"
#include "actors/sandbox/commands.hpp"
#include "actors/sandbox/file_download.hpp"
#include "actors/sandbox/file_edits.hpp"
#include "actors/sandbox/file_searches.hpp"
#include "actors/sandbox/file_trees.hpp"
#include "actors/sandbox/file_upload.hpp"
#include "actors/sandbox/files.hpp"
#include "actors/sandbox/info.hpp"
#include "protocol/aio/checks.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace ahpd::sandbox {

namespace {

std::string header(const transport::http_request& request, std::string_view name) {
  const auto i = request.headers.find(name);
  return i == request.headers.end() ? std::string() : i->second;
}

const handler& handler_of(const aio::route& route) {
  static const auto by_operation = [] {
    std::map<std::string_view, const handler*> out;
    for (const auto& each : handlers())
      out[each.operation] = &each;
    return out;
  }();
  return *by_operation.at(route.operation);
}

/// Browsers ask before they send a key, so this is answered without one.
void answer_preflight(call& c) {
  auto asked = header(c.request, "Access-Control-Request-Headers");
  c.send({204,
          {{"Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS"},
           {"Access-Control-Allow-Headers", asked.empty() ? "*" : asked},
           {"Access-Control-Max-Age", "86400"}},
          {}});
}

void answer_wrong_method(call& c, const std::vector<std::string_view>& methods) {
  std::string allowed;
  for (const auto each : methods)
    allowed += (allowed.empty() ? "" : ", ") + std::string(each);
  c.send({405,
          {{"Content-Type", "application/json"}, {"Allow", allowed}},
          json::serialize(aio::failure("Method Not Allowed"))});
}

/// Finds the route and checks the key and the query. True when the call is not answered yet.
bool admit(call& c) {
  if (c.request.method == "OPTIONS") {
    answer_preflight(c);
    return false;
  }
  const auto& target = c.request.target;
  const auto& options = c.host->options;
  auto found = aio::find_route(c.request.method, target,
                               options.only_v2 ? aio::surface::v2 : aio::surface::full);
  c.route = found.what;
  c.path = std::move(found.values);
  if (!is_public(target) && !is_authorised(options.api_key, c.request.headers, target)) {
    c.fail(401, "Unauthorized");
    return false;
  }
  if (!c.route) {
    found.methods.empty() ? c.fail(404, "Not Found") : answer_wrong_method(c, found.methods);
    return false;
  }
  auto query = aio::check_query(aio::query_of(target), c.route->query);
  if (!query.errors.empty()) {
    c.answer(422, aio::invalid(std::move(query.errors)));
    return false;
  }
  c.query = std::move(query.members);
  return true;
}

bool take_json(call& c) {
  const auto type = header(c.request, "Content-Type");
  const auto media = type.substr(0, type.find_first_of("; "));
  if (!c.request.body.empty() && !media.empty() && media != "application/json") {
    c.fail(415, "Expected request with `Content-Type: application/json`", nullptr,
           "send the header Content-Type: application/json");
    return false;
  }
  auto body = aio::check_body(c.request.body, c.route->body);
  if (!body.errors.empty()) {
    c.answer(422, aio::invalid(std::move(body.errors)));
    return false;
  }
  c.body = std::move(body.members);
  return true;
}

void on_request(const services_ptr& host, transport::http_request request,
                transport::reply_function reply) {
  const auto c = std::make_shared<call>(host, std::move(request), std::move(reply));
  if (!admit(*c))
    return;
  const auto& by = handler_of(*c->route);
  if (c->route->in == aio::takes::json && !take_json(*c))
    return;
  if (by.serve)
    by.serve(c);
  else if (by.open)
    c->fail(426, "This route is a WebSocket", nullptr, "connect to it with a WebSocket client");
  else
    c->fail(400, "This route needs a body");
}

std::optional<transport::body_taker> on_body(const services_ptr& host,
                                             const transport::http_request& head,
                                             transport::reply_function reply) {
  const auto found = aio::find_route(head.method, head.target, aio::surface::full);
  if (!found.what || (found.what->in != aio::takes::multipart && found.what->in != aio::takes::tar))
    return std::nullopt;
  const auto c = std::make_shared<call>(host, head, std::move(reply));
  if (admit(*c))
    return handler_of(*c->route).take(c);
  return transport::body_taker{[](const std::string&, const std::function<void()>&) {},
                               [](bool) {}};
}

transport::upgrade_answer on_upgrade(const services_ptr& host,
                                     const transport::http_request& request) {
  transport::http_response refused{500, {}, {}};
  const auto c = std::make_shared<call>(
    host, request, [&refused](transport::http_response what) { refused = std::move(what); });
  if (!admit(*c))
    return refused;
  const auto& by = handler_of(*c->route);
  if (!by.open) {
    c->fail(400, "This route is no WebSocket");
    return refused;
  }
  auto out = by.open(c);
  if (auto* refusal = std::get_if<transport::http_response>(&out)) {
    c->send(std::move(*refusal));
    return refused;
  }
  c->send({101, {}, {}}); // counted and logged
  return out;
}

} // namespace

const std::vector<handler>& handlers() {
  static const std::vector<handler> all = [] {
    std::vector<handler> out;
    for (const auto& part : {info_handlers(), command_handlers(), file_handlers(),
                             file_edit_handlers(), file_download_handlers(), file_upload_handlers(),
                             file_search_handlers(), file_tree_handlers()})
      out.insert(out.end(), part.begin(), part.end());
    return out;
  }();
  return all;
}

transport::server_handlers front(services_ptr host) {
  for (const auto& route : aio::routes())
    if (std::none_of(handlers().begin(), handlers().end(),
                     [&](const auto& each) { return each.operation == route.operation; }))
      throw std::logic_error("nothing serves " + std::string(route.operation));
  return {[host](transport::http_request request, transport::reply_function reply) {
            on_request(host, std::move(request), std::move(reply));
          },
          [host](const transport::http_request& head, transport::reply_function reply) {
            return on_body(host, head, std::move(reply));
          },
          [host](const transport::http_request& request) { return on_upgrade(host, request); }};
}

} // namespace ahpd::sandbox
