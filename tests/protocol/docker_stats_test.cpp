#include "protocol/docker/stats.hpp"

#include <doctest/doctest.h>

using namespace ahpd;

namespace {

json::value parse(std::string_view text) {
  std::string error;
  auto v = json::parse_text(text, 32, error);
  REQUIRE_MESSAGE(v, error);
  return *v;
}

const char* v1 = R"({
  "cpu_stats": {"cpu_usage": {"total_usage": 400, "percpu_usage": [1, 2, 3, 4]}, "system_cpu_usage": 2000, "online_cpus": 2},
  "precpu_stats": {"cpu_usage": {"total_usage": 300}, "system_cpu_usage": 1000},
  "memory_stats": {"usage": 521888, "limit": 536870912, "stats": {"total_inactive_file": 100000, "inactive_file": 7}},
  "pids_stats": {"current": 7},
  "networks": {"eth0": {"rx_bytes": 200, "tx_bytes": 80}, "eth1": {"rx_bytes": 66, "tx_bytes": 4}},
  "blkio_stats": {"io_service_bytes_recursive": [
    {"op": "Read", "value": 4000}, {"op": "Write", "value": 0}, {"op": "Sync", "value": 9}, {"op": "Read", "value": 100}]}})";

} // namespace

TEST_CASE("usage has the shape and sums of docker stats") {
  const auto out = docker::usage(parse(v1), 2.0);
  REQUIRE(out);
  CHECK(json::value(*out) == parse(R"({
    "running": true, "cpu": {"percent": 20.0, "cores": 2},
    "memory": {"used": 421888, "limit": 536870912, "percent": 0.08}, "pids": 7,
    "network": {"rx": 266, "tx": 84}, "block": {"read": 4100, "write": 0}})"));
}

TEST_CASE("cores are there only with a limit, and may be a part of one") {
  CHECK_FALSE(docker::usage(parse(v1), {})->at("cpu").as_object().contains("cores"));
  CHECK(docker::usage(parse(v1), 0.5)->at("cpu").at("cores") == 0.5);
}

TEST_CASE("percent of one core can exceed 100, and no time passed is no percent") {
  auto v = parse(v1);
  v.at("cpu_stats").at("cpu_usage").as_object()["total_usage"] = 1800;
  CHECK(docker::usage(v, {})->at("cpu").at("percent") == 300.0);
  v.at("precpu_stats") = parse(R"({"cpu_usage":{"total_usage":1800},"system_cpu_usage":2000})");
  CHECK(docker::usage(v, {})->at("cpu").at("percent") == 0.0);
}

TEST_CASE("an engine that names no online cpus is counted by its list") {
  auto v = parse(v1);
  v.at("cpu_stats").as_object().erase("online_cpus");
  CHECK(docker::usage(v, {})->at("cpu").at("percent") == 40.0);
}

TEST_CASE("cached file pages are left out under cgroup v2 too, but never more than is used") {
  auto v = parse(v1);
  v.at("memory_stats") = parse(R"({"usage":1000,"limit":4000,"stats":{"inactive_file":250}})");
  CHECK(docker::usage(v, {})->at("memory") ==
        parse(R"({"used":750,"limit":4000,"percent":18.75})"));
  v.at("memory_stats") = parse(R"({"usage":1000,"limit":4000,"stats":{"inactive_file":1500}})");
  CHECK(docker::usage(v, {})->at("memory").at("used") == 1000);
}

TEST_CASE("small operations of cgroup v2, no network and no disk are read") {
  auto v = parse(v1);
  v.at("blkio_stats") =
    parse(R"({"io_service_bytes_recursive":[{"op":"read","value":5},{"op":"write","value":6}]})");
  v.as_object().erase("networks");
  auto out = docker::usage(v, {});
  CHECK(out->at("block") == parse(R"({"read":5,"write":6})"));
  CHECK(out->at("network") == parse(R"({"rx":0,"tx":0})"));
  v.at("blkio_stats") = parse(R"({"io_service_bytes_recursive":null})");
  CHECK(docker::usage(v, {})->at("block") == parse(R"({"read":0,"write":0})"));
}

TEST_CASE("an unreadable group is left out, and unreadable memory leaves nothing") {
  auto v = parse(v1);
  v.at("networks") = parse(R"({"eth0":{"rx_bytes":"x"}})");
  v.at("blkio_stats") = parse(R"({"io_service_bytes_recursive":[{"op":"Read"}]})");
  v.at("pids_stats") = parse("{}");
  v.at("cpu_stats") = parse("{}");
  const auto out = docker::usage(v, {});
  REQUIRE(out);
  CHECK(out->size() == 2); // running, memory
  v.at("memory_stats") = parse("{}");
  CHECK_FALSE(docker::usage(v, {}));
}
