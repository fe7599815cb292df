#include "config/sandbox_options.hpp"

#include <doctest/doctest.h>

using namespace ahpd::config;

namespace {

sandbox_options read(const std::vector<std::string>& words,
                     const std::map<std::string, std::string>& environment = {}) {
  const auto got = read_sandbox_options(words, environment);
  REQUIRE(std::holds_alternative<sandbox_options>(got));
  return std::get<sandbox_options>(got);
}

std::string refusal(const std::vector<std::string>& words,
                    const std::map<std::string, std::string>& environment = {}) {
  const auto got = read_sandbox_options(words, environment);
  const auto* refused = std::get_if<start_refusal>(&got);
  REQUIRE(refused);
  CHECK(refused->exit_code == 2);
  return refused->sentence;
}

} // namespace

TEST_CASE("every flag of aiod wins over its variable, and every default is what help says") {
  const auto plain = read({});
  CHECK(plain.host == "0.0.0.0");
  CHECK(plain.port == 18091);
  CHECK(plain.warnings.empty());
  for (const auto& each : sandbox_flags()) {
    if (each.name.empty() || each.name == "--port" || each.name == "--api-surface")
      continue;
    const std::string name(each.name), variable(each.variable);
    const auto both = read({name, "by-flag"}, {{variable, "by-variable"}});
    const auto joined = read({name + "=by-flag"}, {{variable, "by-variable"}});
    const auto alone = read({}, {{variable, "by-variable"}});
    const auto all = [](const sandbox_options& o) {
      return o.host + o.api_key + o.default_user + o.runtime_dir + o.mcp_servers;
    };
    for (const auto& got : {both, joined}) {
      CHECK(all(got).find("by-flag") != std::string::npos);
      CHECK(all(got).find("by-variable") == std::string::npos);
    }
    CHECK(all(alone).find("by-variable") != std::string::npos);
  }
  CHECK(read({"--api-surface", "v2"}, {{"AIO_API_SURFACE", "full"}}).only_v2);
  CHECK(read({"--port", "1"}, {{"AIO_PORT", "2"}}).port == 1);
  CHECK(read({}, {{"SANDBOX_API_KEY", "a"}}).api_key == "a");
  CHECK(read({}, {{"SANDBOX_API_KEY", "a"}, {"AIO_API_KEY", "b"}}).api_key == "b");
}

TEST_CASE("what aiod cannot start with is refused by its name") {
  CHECK(refusal({"--port"}) == "--port needs a value behind it.");
  CHECK(refusal({"--port", "65536"}) == "--port is '65536'; expected a port from 0 to 65535.");
  CHECK(refusal({}, {{"AIO_SHELL_BACKEND", "screen"}}) ==
        "AIO_SHELL_BACKEND is 'screen'; expected auto, native or tmux.");
  CHECK(refusal({}, {{"AIO_SHELL_MAX_SESSIONS", "0"}}) ==
        "AIO_SHELL_MAX_SESSIONS is '0'; expected a number from 1 on.");
  CHECK(refusal({"--colour", "red"}).find("aiod start does not know --colour") == 0);
}

TEST_CASE("what is set and not looked at is said") {
  CHECK(read({}, {{"JWT_PUBLIC_KEY", "x"}}).warnings.size() == 1);
  CHECK(read({}, {{"JWT_PUBLIC_KEY", "x"}, {"AIO_API_KEY", "k"}}).warnings.empty());
  CHECK(read({"--mcp-servers", "{}"}).warnings.size() == 1);
  CHECK(read({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317"}}).warnings.size() == 1);
}
