// OpenTelemetry's export requests as AHP channels carry them, and the channels' names.

#include "protocol/ahp/telemetry.hpp"

#include <doctest/doctest.h>

using namespace ahpd;

namespace {

const otlp::resource host{"1.2.3", "an-id", "box"};

/// The first item in the nest of a request, whose resource and scope are checked on the way.
json::value only_item(const json::value& request, const char* resources, const char* scopes,
                      const char* items) {
  REQUIRE(request.as_object().size() == 1);
  const auto& one = request.at(resources).at(0);
  CHECK(one.at("resource").at("attributes") == json::parse(R"([
    {"key":"service.name","value":{"stringValue":"ahpd"}},
    {"key":"service.version","value":{"stringValue":"1.2.3"}},
    {"key":"service.instance.id","value":{"stringValue":"an-id"}},
    {"key":"host.name","value":{"stringValue":"box"}}])"));
  const auto& scope = one.at(scopes).at(0);
  CHECK(scope.at("scope") == json::parse(R"({"name":"ahpd","version":"1.2.3"})"));
  return scope.at(items).at(0);
}

} // namespace

TEST_CASE("a log record has its times as strings, its severity as a number and its details") {
  const auto request = otlp::logs_request(
    host, {1'796'000'000'123'456'789, otlp::severity::warn, "it happened", {{"why", "because"}}});
  CHECK(only_item(request, "resourceLogs", "scopeLogs", "logRecords") == json::parse(R"({
    "timeUnixNano":"1796000000123456789","observedTimeUnixNano":"1796000000123456789",
    "severityNumber":13,"severityText":"WARN","body":{"stringValue":"it happened"},
    "attributes":[{"key":"why","value":{"stringValue":"because"}}]})"));
}

TEST_CASE("a metric is a gauge or a sum that grows since the start") {
  const auto gauge = otlp::metrics_request(host, {{"now", "What is.", false, -1}}, 5, 7);
  CHECK(only_item(gauge, "resourceMetrics", "scopeMetrics", "metrics") == json::parse(R"({
    "name":"now","description":"What is.",
    "gauge":{"dataPoints":[{"timeUnixNano":"7","asInt":"-1"}]}})"));
  const auto sum = otlp::metrics_request(host, {{"all", "What was.", true, 3}}, 5, 7);
  CHECK(only_item(sum, "resourceMetrics", "scopeMetrics", "metrics") == json::parse(R"({
    "name":"all","description":"What was.",
    "sum":{"dataPoints":[{"timeUnixNano":"7","asInt":"3","startTimeUnixNano":"5"}],
           "aggregationTemporality":2,"isMonotonic":true}})"));
}

TEST_CASE("a span has its ids, its times and whether it failed") {
  otlp::span what{"turn", 5, 7, {{"ahp.turn.id", "t1"}}};
  const auto done = otlp::traces_request(host, what, "00ff", "0f");
  CHECK(only_item(done, "resourceSpans", "scopeSpans", "spans") == json::parse(R"({
    "traceId":"00ff","spanId":"0f","name":"turn","kind":2,
    "startTimeUnixNano":"5","endTimeUnixNano":"7",
    "attributes":[{"key":"ahp.turn.id","value":{"stringValue":"t1"}}]})"));
  what.failed = true;
  const auto failed = otlp::traces_request(host, what, "00ff", "0f");
  CHECK(only_item(failed, "resourceSpans", "scopeSpans", "spans").at("status").at("code") == 2);
}

TEST_CASE("severities are named in any case, and by no other word") {
  CHECK(otlp::severity_named("trace") == otlp::severity::trace);
  CHECK(otlp::severity_named("Warn") == otlp::severity::warn);
  CHECK(otlp::severity_named("FATAL") == otlp::severity::fatal);
  for (const char* no : {"", "warning", "war", "warnx", "{level}", "info/", "w\x01rn"})
    CHECK_MESSAGE(!otlp::severity_named(no), no);
}

TEST_CASE("the telemetry that is announced is what is found by its URI") {
  const auto told = ahp::telemetry_capabilities();
  CHECK(told.size() == 3);
  CHECK(ahp::find_telemetry(told.at("traces").as_string())->signal == ahp::signal::traces);
  CHECK(ahp::find_telemetry(told.at("metrics").as_string())->signal == ahp::signal::metrics);
  const std::string logs(told.at("logs").as_string());
  CHECK_FALSE(ahp::find_telemetry(logs));
  const std::string variable = "{level}";
  const auto at = logs.find(variable);
  REQUIRE(at != std::string::npos);
  const auto expanded = [&](const std::string& level) {
    return ahp::find_telemetry(std::string(logs).replace(at, variable.size(), level));
  };
  CHECK(expanded("error")->signal == ahp::signal::logs);
  CHECK(expanded("error")->from == otlp::severity::error);
  CHECK_FALSE(expanded("loud"));
  for (const char* no : {"ahp-otlp:", "ahp-otlp:/logs", "ahp-otlp:/tracesx", "ahp-root://", ""})
    CHECK_MESSAGE(!ahp::find_telemetry(no), no);
}
