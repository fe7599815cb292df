#include "actors/sandbox/call.hpp"

#include "actors/core/log.hpp"
#include "protocol/aio/checks.hpp"
#include "protocol/aio/request_log.hpp"
#include "protocol/random.hpp"
#include "protocol/utf8.hpp"

namespace ahpd::sandbox {

namespace {

constexpr std::size_t longest_id = 128;

std::string_view header(const transport::http_request& request, std::string_view name) {
  const auto i = request.headers.find(name);
  return i == request.headers.end() ? std::string_view() : std::string_view(i->second);
}

/// The caller's id for the request where it gave one (spec "Request id").
std::string id_of(const transport::http_request& request) {
  for (const char* name : {"x-tt-logid", "x-logid", "x-log-id", "x-request-id"})
    if (const auto given = header(request, name); !given.empty() && utf8::valid(given))
      return std::string(given.substr(0, longest_id));
  return random_hex(16);
}

std::string address_of(std::string_view peer) {
  return std::string(peer.substr(0, peer.rfind(':')));
}

bool is_json(const transport::http_response& what) {
  const auto i = what.headers.find("Content-Type");
  return i != what.headers.end() && i->second == "application/json";
}

} // namespace

call::call(services_ptr of, transport::http_request what, transport::reply_function reply)
    : host(std::move(of)), request(std::move(what)), reply_(std::move(reply)), id_(id_of(request)) {
}

call::~call() {
  if (!answered_)
    fail(500, "Internal error: the request was not answered");
}

std::string call::text(std::string_view name) const {
  for (const auto* from : {&body, &query})
    if (const auto* value = from->if_contains(name); value && value->is_string())
      return std::string(value->get_string());
  return {};
}

void call::succeed(json::value data, std::string_view message) {
  answer(200, aio::success(std::move(data), message));
}

void call::fail(unsigned status, std::string_view message, json::value data, json::value hint) {
  answer(status, aio::failure(message, std::move(data), std::move(hint)));
}

void call::answer(unsigned status, const json::object& whole) {
  send({status, {{"Content-Type", "application/json"}}, json::serialize(whole)});
}

void call::send(transport::http_response what) {
  if (answered_.exchange(true))
    return;
  what.headers.emplace("x-tt-logid", id_);
  what.headers.emplace("Access-Control-Allow-Origin", "*");
  what.headers.emplace("Access-Control-Expose-Headers", "*");
  const auto took = std::chrono::steady_clock::now() - began_;
  host->counters.request_done(request.method, route ? route->path : "<unmatched>", what.status,
                              took);
  log(what.status, what, took);
  reply_(std::move(what));
}

void call::log(unsigned status, const transport::http_response& what,
               metrics::duration took) const {
  if (!core::log::writes(core::log::level::info))
    return;
  const auto text = [](std::string_view v) { return json::string(utf8::repaired(v)); };
  json::object line{
    {"level", "info"},
    {"tag", "HTTP_REQUEST"},
    {"target", "app.request"},
    {"method", text(request.method)},
    {"path", text(std::string_view(request.target).substr(0, request.target.find('?')))},
    {"route", route ? route->path : "<unmatched>"},
    {"status", status},
    {"duration_ms", std::chrono::duration<double, std::milli>(took).count()},
    {"logid", text(id_)},
    {"client_ip", address_of(request.peer)},
    {"success", status < 400}};
  if (status >= 400) {
    line["error_kind"] = status < 500 ? "client" : "server";
    line["error_message"] = "";
    std::string ignored;
    if (is_json(what))
      if (const auto body_text = json::parse_text(what.body, 32, ignored))
        line["error_message"] = json::text(*body_text, "message");
  }
  line["query"] = aio::query_summary(aio::query_of(request.target));
  json::object values;
  for (const auto& [name, value] : path)
    values[name] = text(value);
  line["path_params"] = std::move(values);
  line["request"] = aio::body_summary(header(request, "Content-Type"),
                                      !header(request, "Content-Length").empty(), request.body);
  line["response"] = aio::body_summary(is_json(what) ? "application/json" : "", true, what.body);
  core::log::record(line);
}

} // namespace ahpd::sandbox
