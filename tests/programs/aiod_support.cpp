#include "tests/programs/aiod_support.hpp"

#include "tests/programs/openapi_check.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace ahpd::tests {

json::value aiod_answer::json() const {
  std::string why;
  auto parsed = json::parse_text(body, 64, why);
  REQUIRE_MESSAGE(parsed, why << ": " << body.substr(0, 500));
  return std::move(*parsed);
}

json::value aiod_answer::data() const {
  return json().at("data");
}

std::string aiod_answer::message() const {
  return json::text(json(), "message");
}

std::string aiod_answer::text(const char* key) const {
  return json::text(data(), key);
}

aiod_process::aiod_process(std::vector<std::string> words, std::map<std::string, std::string> env) {
  program_options how;
  how.argv = {AIOD_BINARY, "start", "--host", "127.0.0.1", "--port", "0"};
  how.argv.insert(how.argv.end(), words.begin(), words.end());
  how.env = std::move(env);
  how.env.emplace("AIO_RUNTIME_DIR", files_.path() + "/run");
  running_ = std::make_unique<tests::program>(how);
  running_->wait_for_output("\"event\":\"aiod serves\"");
  running_->wait_for_output("\n");
  const auto& said = running_->output();
  const auto at = said.find("\"port\":\"");
  REQUIRE(at != std::string::npos);
  port_ = static_cast<std::uint16_t>(std::stoi(said.substr(at + 8)));
  transport::target where;
  where.host = "127.0.0.1";
  where.port = port_;
  client_ = transport::make_http_client(io_, where);
}

std::string aiod_process::url(const std::string& target) const {
  return "http://127.0.0.1:" + std::to_string(port_) + target;
}

std::string aiod_process::log() {
  ask("GET", "/health"); // whatever was said before this one's line is there then
  running_->wait_for_output("\"path\":\"/health\"");
  return running_->output();
}

aiod_answer aiod_process::send(transport::http_request what) {
  std::optional<transport::http_result> got;
  const auto what_method = what.method, what_target = what.target;
  const auto name = what_method + " " + what_target;
  const auto exchange =
    client_->send(std::move(what), {std::chrono::seconds(60), 256u << 20},
                  [&](transport::http_result result) { got = std::move(result); });
  io_.restart();
  while (!got && io_.run_one() > 0) {
  }
  REQUIRE_MESSAGE(got, name);
  REQUIRE_MESSAGE(got->response, name << ": " << got->failed.text);
  check(what_method, what_target, *got->response);
  return {got->response->status, std::move(got->response->headers), std::move(got->response->body)};
}

void aiod_process::check(const std::string& method, const std::string& target,
                         const transport::http_response& got) {
  if (method == "HEAD" || method == "OPTIONS")
    return;
  static const json::value document =
    json::parse(run_program({{AIOD_BINARY, "print-openapi"}, {}, {}}).output);
  const auto type = got.headers.find("Content-Type");
  const auto fault = openapi_fault(document, method, target, got.status,
                                   type == got.headers.end() ? "" : type->second, got.body);
  CHECK_MESSAGE(fault.empty(), method << " " << target << " (" << got.status << "): " << fault
                                      << "\n"
                                      << got.body.substr(0, 500));
}

aiod_answer aiod_process::ask(const std::string& method, const std::string& target,
                              std::optional<json::value> body, transport::fields headers) {
  transport::http_request what{method, target, std::move(headers), {}, {}};
  if (body) {
    what.headers.emplace("Content-Type", "application/json");
    what.body = json::serialize(*body);
  }
  return send(std::move(what));
}

json::value aiod_process::run(json::object what) {
  const auto got = ask("POST", "/v2/commands", json::value(std::move(what)));
  REQUIRE_MESSAGE(got.status == 200, got.body);
  return got.data();
}

} // namespace ahpd::tests
