#include "actors/core/channel.hpp"
#include "actors/core/directory.hpp"
#include "actors/core/log.hpp"
#include "actors/core/supervisor.hpp"

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <doctest/doctest.h>

#include <thread>

using namespace ahpd;
using namespace std::chrono_literals;

namespace {

/// A socket that keeps what it was told to send.
struct recorded_socket : transport::websocket {
  std::mutex guard;
  std::vector<transport::frame> sent;

  void send(transport::frame text) override {
    std::lock_guard lock(guard);
    sent.push_back(std::move(text));
  }
  void grant(std::size_t) override {}
  void close(std::uint16_t, std::string_view) override {}
  std::size_t queued_bytes() const override { return 0; }

  std::vector<json::value> frames() {
    std::lock_guard lock(guard);
    std::vector<json::value> out;
    for (const auto& f : sent)
      out.push_back(json::parse(*f));
    return out;
  }
};

struct follower {
  std::shared_ptr<recorded_socket> socket = std::make_shared<recorded_socket>();
  std::shared_ptr<core::outbox> box = std::make_shared<core::outbox>(socket);
};

core::sequencer numbers(std::uint64_t reserved = core::sequencer::block) {
  return core::sequencer(0, reserved, {});
}

json::value title(std::string_view text) {
  return {{"type", "session/titleChanged"}, {"title", text}};
}

/// An actor system whose threads and clock the test drives by hand.
struct actors {
  struct config : caf::actor_system_config {
    config() {
      set("scheduler.policy", caf::atom("testing"));
      set("logger.file-verbosity", caf::atom("quiet"));
    }
  };
  config cfg;
  caf::actor_system system{cfg};
  caf::scheduler::test_coordinator& sched =
    dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
};

using crash_atom = caf::atom_constant<caf::atom("crash")>;

/// A child that ends with an error when told to, and says when it starts and ends.
caf::actor fragile(caf::actor_system& system, std::vector<std::string>& story, std::string name) {
  story.push_back("+" + name);
  auto actor = system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return {[self](crash_atom) { self->quit(caf::sec::runtime_error); }};
  });
  actor->attach_functor([&story, name] { story.push_back("-" + name); });
  return actor;
}

} // namespace

TEST_CASE("an action reaches every follower as one buffer, with one number") {
  auto order = numbers();
  core::channel session(ahp::channel_kind::session, "ahp-session:/a", json::object{{"title", ""}});
  follower a;
  follower b;
  CHECK(order.follow(session, a.box, "ahp-session:/a").from_seq == 0);
  order.follow(session, b.box, "ahp-session:/a");
  order.publish(session, title("x"), core::action_origin{"c", 7});
  REQUIRE(a.socket->sent.size() == 1);
  CHECK(a.socket->sent[0] == b.socket->sent[0]); // the same buffer, not an equal one
  const auto params = a.socket->frames()[0].at("params");
  CHECK(params.at("serverSeq") == 1);
  CHECK(params.at("origin") == json::value{{"clientId", "c"}, {"clientSeq", 7}});
  CHECK(session.state.at("title") == "x");
}

TEST_CASE("a follower with its own spelling is answered in it") {
  auto order = numbers();
  core::channel session(ahp::channel_kind::session, "ahp-session:/a", json::object{{"title", ""}});
  follower a;
  order.follow(session, a.box, "shell:/a");
  order.publish(session, title("x"));
  CHECK(a.socket->frames().at(0).at("params").at("channel") == "shell:/a");
}

TEST_CASE("a refusal repeats the current number and moves nothing") {
  auto order = numbers();
  core::channel session(ahp::channel_kind::session, "ahp-session:/a", json::object{{"title", ""}});
  follower a;
  order.follow(session, a.box, "ahp-session:/a");
  order.publish(session, title("x"));
  order.refuse(title("y"), {"c", 1, a.box, "ahp-session:/a"}, "no");
  const auto params = a.socket->frames().at(1).at("params");
  CHECK(params.at("serverSeq") == 1);
  CHECK(params.at("rejectionReason") == "no");
  CHECK(order.current() == 1);
}

TEST_CASE("two owners on two threads never send a follower a smaller number after a larger") {
  auto order = numbers();
  core::channel a(ahp::channel_kind::session, "ahp-session:/a", json::object{{"title", ""}});
  core::channel b(ahp::channel_kind::session, "ahp-session:/b", json::object{{"title", ""}});
  follower both;
  order.follow(a, both.box, "ahp-session:/a");
  order.follow(b, both.box, "ahp-session:/b");
  constexpr int rounds = 2'000;
  const auto write = [&](core::channel& where) {
    for (int i = 0; i < rounds; ++i)
      order.publish(where, title("t"));
  };
  std::thread one(write, std::ref(a));
  std::thread two(write, std::ref(b));
  one.join();
  two.join();
  const auto frames = both.socket->frames();
  REQUIRE(frames.size() == 2 * rounds);
  std::int64_t last = 0;
  for (const auto& f : frames) {
    const auto seq = f.at("params").at("serverSeq").to_number<std::int64_t>();
    REQUIRE(seq == last + 1);
    last = seq;
  }
}

TEST_CASE("numbers run out with an error, never past what is on disk") {
  std::uint64_t asked = 0;
  core::sequencer order(0, 2, [&](std::uint64_t upto) { asked = upto; });
  core::channel session(ahp::channel_kind::session, "ahp-session:/a", json::object{{"title", ""}});
  order.publish(session, title("1"));
  CHECK(asked == 2 + core::sequencer::block);
  order.publish(session, title("2"));
  CHECK_THROWS(order.publish(session, title("3")));
  order.reserved(asked);
  CHECK(order.publish(session, title("4")) == 3);
}

TEST_CASE("a held outbox lets the answer go before what came meanwhile") {
  follower a;
  const auto text = [](const char* t) { return std::make_shared<const std::string>(t); };
  a.box->hold();
  a.box->push(text("1"));
  a.box->hold();
  a.box->release(text("2"));
  CHECK(a.socket->sent.empty());
  a.box->release(text("3"));
  REQUIRE(a.socket->sent.size() == 3);
  CHECK(*a.socket->sent[0] == "2");
  CHECK(*a.socket->sent[1] == "3");
  CHECK(*a.socket->sent[2] == "1");
}

TEST_CASE("an outbox whose socket is gone swallows what it is given") {
  follower a;
  a.socket.reset();
  a.box->push(std::make_shared<const std::string>("x"));
  a.box->close(1000, "");
}

TEST_CASE("a channel outlives its owner") {
  core::directory where;
  const auto first =
    where.claim("ahp-session:/a", ahp::channel_kind::session, {}, json::object{{"title", "kept"}});
  const auto again =
    where.claim("ahp-session:/a", ahp::channel_kind::session, {}, json::object{{"title", "new"}});
  CHECK(first == again);
  CHECK(again->state.at("title") == "kept");
  where.remove("ahp-session:/a");
  CHECK_FALSE(where.find("ahp-session:/a"));
}

TEST_CASE("the delay before a restart doubles up to its bound") {
  const core::restart_policy policy;
  CHECK(core::back_off(policy, 1) == 50ms);
  CHECK(core::back_off(policy, 2) == 100ms);
  CHECK(core::back_off(policy, 4) == 400ms);
  CHECK(core::back_off(policy, 100) == 5'000ms);
}

TEST_CASE("a child that crashes comes back at its address after the delay") {
  actors run;
  std::vector<std::string> story;
  auto where = std::make_shared<core::address>();
  core::restart_policy policy;
  auto top = run.system.spawn(
    core::supervisor,
    std::vector<core::child_spec>{
      {"a", [&](caf::actor_system& s) { return fragile(s, story, "a"); }, where, false}},
    policy);
  run.sched.run();
  const auto first = where->get();
  caf::anon_send(first, crash_atom::value);
  run.sched.run();
  CHECK(where->get() == first); // not yet
  run.sched.advance_time(50ms);
  run.sched.run();
  CHECK(where->get() != first);
  CHECK(story == std::vector<std::string>{"+a", "-a", "+a"});
  caf::anon_send_exit(top, caf::exit_reason::user_shutdown);
  run.sched.run();
  where->set({});
}

TEST_CASE("too many crashes within the window end the supervisor and its other children") {
  actors run;
  std::vector<std::string> story;
  auto a = std::make_shared<core::address>();
  auto b = std::make_shared<core::address>();
  core::restart_policy policy;
  policy.most = 2;
  bool gone = false;
  auto top = run.system.spawn(
    core::supervisor,
    std::vector<core::child_spec>{
      {"a", [&](caf::actor_system& s) { return fragile(s, story, "a"); }, a, false},
      {"b", [&](caf::actor_system& s) { return fragile(s, story, "b"); }, b, false}},
    policy);
  top->attach_functor([&] { gone = true; });
  run.sched.run();
  for (int i = 0; i < 3; ++i) {
    CHECK_FALSE(gone);
    caf::anon_send(b->get(), crash_atom::value);
    run.sched.run();
    run.sched.advance_time(5s);
    run.sched.run();
  }
  CHECK(gone);
  CHECK(story.back() == "-a");
  a->set({});
  b->set({});
}

TEST_CASE("a vital child's crash is the end at once, and children end in the reverse order") {
  actors run;
  std::vector<std::string> story;
  auto a = std::make_shared<core::address>();
  auto b = std::make_shared<core::address>();
  auto c = std::make_shared<core::address>();
  auto top = run.system.spawn(
    core::supervisor,
    std::vector<core::child_spec>{
      {"a", [&](caf::actor_system& s) { return fragile(s, story, "a"); }, a, true},
      {"b", [&](caf::actor_system& s) { return fragile(s, story, "b"); }, b, false},
      {"c", [&](caf::actor_system& s) { return fragile(s, story, "c"); }, c, false}},
    core::restart_policy{});
  run.sched.run();
  caf::anon_send(a->get(), crash_atom::value);
  run.sched.run();
  CHECK(story == std::vector<std::string>{"+a", "+b", "+c", "-a", "-c", "-b"});
  for (auto& where : {a, b, c})
    where->set({});
}

TEST_CASE("a log line is JSON and holds no secret") {
  core::log::redact("s3cret-token");
  core::log::redact("abc"); // too short to be taken
  const auto line =
    core::log::line("info", "got", {{"url", "ws://h/?tkn=s3cret-token&x"}, {"raw", "abc\xFF\n"}});
  const auto parsed = json::parse("{" + line);
  CHECK(parsed.at("url") == "ws://h/?tkn=<redacted>&x");
  CHECK(parsed.at("raw") == "abc?\n");
}
