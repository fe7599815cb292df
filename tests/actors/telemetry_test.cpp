// Telemetry on its way to clients: what is told, to whom, and what it never costs.

#include "tests/actors/hub_fixture.hpp"

#include "protocol/ahp/uris.hpp"

using namespace ahpd;
using namespace ahpd::tests;

namespace {

/// A socket that says how much waits for its peer, and keeps what it is sent.
struct slow_socket : transport::websocket {
  void send(transport::frame text, transport::message_kind) override { sent.push_back(json::parse(*text)); }
  void when_taken(std::function<void()>) override {}
  void grant(std::size_t) override {}
  void close(std::uint16_t, std::string_view) override { closed = true; }
  std::size_t queued_bytes() const override { return queued; }

  std::vector<json::value> sent;
  std::size_t queued = 0;
  bool closed = false;
};

struct follower {
  std::shared_ptr<slow_socket> socket = std::make_shared<slow_socket>();
  std::shared_ptr<core::outbox> box = std::make_shared<core::outbox>(socket);

  /// What the log records that it got say.
  std::vector<std::string> bodies() const {
    std::vector<std::string> out;
    for (const auto& frame : socket->sent)
      out.emplace_back(record(frame).at("body").at("stringValue").as_string());
    return out;
  }
  static json::value record(const json::value& frame) {
    return frame.at("params")
      .at("payload")
      .at("resourceLogs")
      .at(0)
      .at("scopeLogs")
      .at(0)
      .at("logRecords")
      .at(0);
  }
};

struct telling {
  core::metrics numbers;
  core::telemetry telemetry{numbers};

  void follow(const follower& who, const std::string& uri) {
    telemetry.follow(*ahp::find_telemetry(uri), who.box, uri);
  }
};

using words = std::vector<std::string>;

} // namespace

TEST_CASE_FIXTURE(telling, "each level is a channel of its own: that severity and above") {
  follower all, some, none;
  core::log::error("before");
  follow(all, "ahp-otlp:/logs/trace");
  follow(some, "ahp-otlp:/logs/WARN");
  follow(none, "ahp-otlp:/logs/fatal");
  core::log::debug("a");
  core::log::info("b");
  core::log::warning("c");
  core::log::error("d");
  CHECK(all.bodies() == words{"a", "b", "c", "d"});
  CHECK(some.bodies() == words{"c", "d"});
  CHECK(none.bodies().empty());
  const auto& frame = some.socket->sent.at(1);
  CHECK(frame.at("method") == "otlp/exportLogs");
  CHECK(frame.at("params").at("channel") == "ahp-otlp:/logs/WARN");
  CHECK(follower::record(frame).at("severityNumber") == 17);

  telemetry.unfollow(*all.box, "ahp-otlp:/logs/trace");
  core::log::error("e");
  CHECK(all.bodies().size() == 4);
  CHECK(some.bodies() == words{"c", "d", "e"});
}

TEST_CASE_FIXTURE(telling,
                  "one client on two levels is told twice, and following again is nothing") {
  follower one;
  follow(one, "ahp-otlp:/logs/info");
  follow(one, "ahp-otlp:/logs/warn");
  follow(one, "ahp-otlp:/logs/warn");
  core::log::warning("w");
  CHECK(one.bodies() == words{"w", "w"});
  CHECK(one.socket->sent[0].at("params").at("channel") !=
        one.socket->sent[1].at("params").at("channel"));
}

TEST_CASE_FIXTURE(telling, "a secret is in no record, and a long detail is cut") {
  core::log::redact("hunter2-hunter2");
  follower one;
  follow(one, "ahp-otlp:/logs/info");
  core::log::info("said hunter2-hunter2",
                  {{"why", "a hunter2-hunter2!"}, {"long", std::string(5'000, 'x')}});
  const auto record = follower::record(one.socket->sent.at(0));
  CHECK(record.at("body").at("stringValue") == "said <redacted>");
  CHECK(record.at("attributes").at(0).at("value").at("stringValue") == "a <redacted>!");
  CHECK(record.at("attributes").at(1).at("value").at("stringValue").as_string().size() < 2'100);
  follow(one, "ahp-otlp:/traces");
  telemetry.export_span({"hunter2-hunter2", 0, 1, {{"key", "hunter2-hunter2"}}});
  CHECK(json::serialize(one.socket->sent.at(1)).find("hunter2") == std::string::npos);
}

TEST_CASE_FIXTURE(telling, "what a client is too slow for is left out and counted, for it alone") {
  follower slow, quick;
  follow(slow, "ahp-otlp:/logs/info");
  follow(quick, "ahp-otlp:/logs/info");
  slow.socket->queued = core::outbox::most_offered + 1;
  core::log::info("lost");
  CHECK(slow.bodies().empty());
  CHECK_FALSE(slow.socket->closed);
  CHECK(quick.bodies() == words{"lost"});
  CHECK(numbers.otlp_dropped_total == 1);
  slow.socket->queued = 0;
  core::log::info("found");
  CHECK(slow.bodies() == words{"found"});

  // What waits behind an answer that is being made counts as well.
  const auto slot = slow.box->reserve();
  const std::string event(1'000, 'x');
  for (int i = 0; i < 2'000; ++i)
    core::log::info(event);
  CHECK(slow.bodies().size() == 1);
  CHECK(numbers.otlp_dropped_total > 500);
  slow.box->fill(slot, std::make_shared<const std::string>("{}"));
  CHECK_FALSE(slow.socket->closed);
  CHECK(slow.socket->sent.size() < 1'500);
}

TEST_CASE("what a listener of the log logs itself is not heard") {
  int heard = 0;
  core::log::tap tap([&](core::log::level, std::string_view, const core::log::tap::details&) {
    ++heard;
    core::log::error("a log line about a log line");
  });
  core::log::error("deaf");
  CHECK(heard == 0);
  tap.hear(core::log::level::info);
  core::log::info("one");
  core::log::debug("too low");
  CHECK(heard == 1);
  core::log::info("two");
  CHECK(heard == 2);
  tap.hear(std::nullopt);
  core::log::error("deaf again");
  CHECK(heard == 2);
}

TEST_CASE("metrics are exported at once and again while followed, and then not any more") {
  live_hub hub([](hub::services& host) { host.metrics_interval = std::chrono::milliseconds(1); });
  auto c = hub.connect();
  CHECK(c.result("subscribe", {{"channel", "ahp-otlp:/metrics"}}) == json::object{});
  const auto exported = [](const json::value& f) {
    const auto* method = f.as_object().if_contains("method");
    return method && *method == "otlp/exportMetrics";
  };
  json::value last;
  for (int i = 0; i < 3; ++i)
    last = c.socket->wait("metrics", exported);
  CHECK(last.at("params").at("channel") == "ahp-otlp:/metrics");
  const auto& list = last.at("params").at("payload").at("resourceMetrics").at(0).at("scopeMetrics");
  bool found = false;
  for (const auto& m : list.at(0).at("metrics").as_array())
    if (m.at("name") == "ahpd_connections") {
      found = true;
      CHECK(m.at("gauge").at("dataPoints").at(0).at("asInt") == "1");
    }
  CHECK(found);

  SUBCASE("a successor of the exporter goes on") {
    const auto before = hub.host->exporter->get();
    caf::anon_send_exit(before, caf::exit_reason::kill);
    while (hub.host->exporter->get() == before)
      c.socket->wait("metrics or an answer", [](const json::value&) { return true; });
    c.socket->wait("metrics", exported);
    c.socket->wait("metrics", exported);
  }
  c.events.on_text(jsonrpc::notification_frame("unsubscribe", {{"channel", "ahp-otlp:/metrics"}}));
  c.request("ping", {});
  const auto count = [&] {
    const auto frames = c.socket->frames();
    return std::count_if(frames.begin(), frames.end(), exported);
  };
  const auto so_far = count();
  for (int i = 0; i < 20; ++i)
    c.result("listSessions", {});
  CHECK(count() == so_far);
  CHECK_FALSE(hub.host->telemetry.followed(ahp::signal::metrics));
}

TEST_CASE("requests and turns are spans for who follows the traces") {
  live_hub hub;
  auto watcher = hub.connect("watcher");
  auto worker = hub.connect("worker");
  watcher.result("subscribe", {{"channel", "ahp-otlp:/traces"}});
  const std::string session = "ahp-session:/traced";
  const auto chat = ahp::default_chat_uri(session);
  worker.result("createSession", {{"channel", session}});
  worker.request("fetchTurns", {{"channel", "ahp-chat:/none"}});
  worker.result("subscribe", {{"channel", chat}});
  worker.dispatch(chat, {{"type", "chat/turnStarted"},
                         {"turnId", "t1"},
                         {"startedAt", "2026-01-01T00:00:00.000Z"},
                         {"message", {{"text", "true"}, {"origin", {{"kind", "user"}}}}}});
  const auto next = [&](const std::string& name) {
    const auto frame = watcher.socket->wait("span " + name, [&](const json::value& f) {
      const auto* method = f.as_object().if_contains("method");
      return method && *method == "otlp/exportTraces" &&
             json::serialize(f).find("\"name\":\"" + name + "\"") != std::string::npos;
    });
    return frame.at("params")
      .at("payload")
      .at("resourceSpans")
      .at(0)
      .at("scopeSpans")
      .at(0)
      .at("spans")
      .at(0)
      .as_object();
  };
  const auto attribute = [](const json::object& span, const std::string& key) {
    for (const auto& a : span.at("attributes").as_array())
      if (a.at("key") == json::value(key))
        return std::string(a.at("value").at("stringValue").as_string());
    return std::string("none");
  };
  const auto created = next("createSession");
  CHECK(attribute(created, "ahp.session.id") == "traced");
  CHECK(attribute(created, "ahp.client.id") == "worker");
  CHECK_FALSE(created.contains("status"));
  const auto failed = next("fetchTurns");
  CHECK(failed.at("status").at("code") == 2);
  CHECK(attribute(failed, "rpc.jsonrpc.error_code") != "none");
  const auto turn = next("turn");
  CHECK(attribute(turn, "ahp.turn.id") == "t1");
  CHECK(attribute(turn, "ahp.session.id") == "traced");
  CHECK(attribute(turn, "ahp.turn.ending") == "chat/turnComplete");
  CHECK(turn.at("traceId").as_string().size() == 32);
  CHECK(turn.at("spanId").as_string().size() == 16);
  CHECK(turn.at("traceId") != created.at("traceId"));
  CHECK(std::stoll(std::string(turn.at("startTimeUnixNano").as_string())) <=
        std::stoll(std::string(turn.at("endTimeUnixNano").as_string())));
}

TEST_CASE("a connection that ends is told nothing any more, and nobody else is") {
  live_hub hub;
  {
    auto c = hub.connect();
    for (const char* uri : {"ahp-otlp:/traces", "ahp-otlp:/metrics", "ahp-otlp:/logs/info"})
      c.result("subscribe", {{"channel", uri}});
    c.events.on_closed({});
    REQUIRE(c.socket->wait_closed());
  }
  for (const auto what : {ahp::signal::traces, ahp::signal::metrics, ahp::signal::logs})
    CHECK_FALSE(hub.host->telemetry.followed(what));
}
