// Telemetry of the real hub over AHP's channels.

#include "tests/programs/hub_support.hpp"

#include <doctest/doctest.h>

using namespace ahpd;
using namespace ahpd::tests;

namespace {

const std::string warnings = "ahp-otlp:/logs/warn";
const std::string token = "a-token-of-this-test";

peer_options named(std::string client, std::string version = "1.0.0") {
  peer_options how;
  how.client_id = std::move(client);
  how.token = token;
  how.versions = {std::move(version)};
  return how;
}

hub_options guarded() {
  return {{"--connection-token", token}, {}, {}};
}

/// Has the hub log a warning that holds `word`: it refuses a page of that host.
void warn(const hub_process& hub, const std::string& word) {
  auto page = named("page");
  page.headers["Origin"] = "https://" + word + ".example";
  CHECK(ahp_peer::refused(hub.url(), page).status == 403);
}

json::value wait_record(ahp_peer& peer, const std::string& channel) {
  const auto params = peer.wait_notification("otlp/exportLogs", [&](const json::value& p) {
    return p.at("channel") == json::value(channel);
  });
  return params.at("payload").at("resourceLogs").at(0).at("scopeLogs").at(0).at("logRecords").at(0);
}

std::string detail(const json::value& record, const std::string& key) {
  for (const auto& a : record.at("attributes").as_array())
    if (a.at("key") == json::value(key))
      return std::string(a.at("value").at("stringValue").as_string());
  return {};
}

} // namespace

TEST_CASE("every version is told of the telemetry, follows the log, and is given no snapshot") {
  hub_process hub(guarded());
  for (const char* version : {"1.0.0", "0.9.0", "0.8.0", "0.7.0", "0.6.0"}) {
    CAPTURE(version);
    ahp_peer peer(hub.url(), named("reader", version));
    const auto hello = peer.initialize({"ahp-root://", "ahp-otlp:/logs/ERROR"});
    CHECK(hello.at("snapshots").as_array().size() == 1);
    CHECK(hello.at("telemetry") == json::parse(R"({"logs":"ahp-otlp:/logs/{level}",
      "traces":"ahp-otlp:/traces","metrics":"ahp-otlp:/metrics"})"));
    CHECK(peer.request("subscribe", {{"channel", warnings}}) == json::object{});
    warn(hub, "evil");
    const auto record = wait_record(peer, warnings);
    CHECK(record.at("body").at("stringValue") == "connection refused");
    CHECK(record.at("severityText") == "WARN");
    CHECK(detail(record, "why").find("evil") != std::string::npos);
    peer.notify("unsubscribe", {{"channel", warnings}});
    peer.request("ping");
    const auto before = peer.frames().size();
    warn(hub, "evil");
    peer.request("ping");
    CHECK(peer.frames().size() == before + 1);
  }
}

TEST_CASE("a debug line is told to who asked for it, though standard error has none") {
  hub_process hub(guarded());
  ahp_peer peer(hub.url(), named("reader"));
  peer.initialize({"ahp-otlp:/logs/debug"});
  peer.notify("dispatchAction", {{"channel", "ahp-root://"}});
  const auto record = wait_record(peer, "ahp-otlp:/logs/debug");
  CHECK(record.at("severityNumber") == 5);
  CHECK(hub.log().find("dispatchAction") == std::string::npos);
}

TEST_CASE("the token is in no record") {
  hub_process hub(guarded());
  ahp_peer peer(hub.url(), named("reader"));
  peer.initialize({warnings});
  warn(hub, token);
  const auto why = detail(wait_record(peer, warnings), "why");
  CHECK(why.find("<redacted>") != std::string::npos);
  CHECK(why.find(token) == std::string::npos);
}

TEST_CASE("a client that was away follows on, and is told nothing of what was logged meanwhile") {
  hub_process hub(guarded());
  {
    ahp_peer peer(hub.url(), named("reader"));
    peer.initialize({"ahp-root://", warnings});
    warn(hub, "first");
    wait_record(peer, warnings);
  }
  warn(hub, "missed");
  std::vector<std::string> answered;
  for (const std::int64_t seen : {std::int64_t{0}, std::int64_t{1} << 40}) {
    ahp_peer peer(hub.url(), named("reader"));
    // Both ways a reconnect is answered: all that was missed, or snapshots.
    const auto back = peer.reconnect(seen, {"ahp-root://", warnings, "ahp-otlp:/logs/none"});
    answered.emplace_back(back.at("type").as_string());
    if (answered.back() == "replay")
      CHECK(back.at("missing") == json::array{"ahp-otlp:/logs/none"});
    else
      CHECK(back.at("snapshots").as_array().size() == 1);
    warn(hub, "later");
    CHECK(detail(wait_record(peer, warnings), "why").find("later") != std::string::npos);
    for (const auto& frame : peer.frames())
      CHECK(json::serialize(frame).find("missed") == std::string::npos);
  }
  CHECK(answered == std::vector<std::string>{"replay", "snapshot"});
}

TEST_CASE("a telemetry channel that is none is refused by name, and a known one takes no actions") {
  hub_process hub(guarded());
  ahp_peer peer(hub.url(), named("reader"));
  peer.initialize();
  for (const char* uri : {"ahp-otlp:/logs/loud", "ahp-otlp:/logs/{level}", "ahp-otlp:/x"}) {
    const auto error = peer.request_error("subscribe", {{"channel", uri}});
    CHECK(error.at("code") == -32008);
    const std::string text(error.at("message").as_string());
    CHECK(text.find(uri) != std::string::npos);
    CHECK(text.find("trace, debug, info, warn, error or fatal") != std::string::npos);
  }
  peer.dispatch("ahp-otlp:/traces", {{"type", "chat/draftChanged"}});
  const auto echo = peer.wait_action("chat/draftChanged", "ahp-otlp:/traces");
  CHECK(echo.at("rejectionReason") == "ahp-otlp:/traces takes no actions");
}
