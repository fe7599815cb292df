#include "actors/core/channel.hpp"
#include "actors/core/directory.hpp"
#include "actors/core/later.hpp"
#include "actors/core/log.hpp"
#include "actors/core/parent.hpp"
#include "actors/core/scheduler.hpp"
#include "actors/core/supervisor.hpp"

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <doctest/doctest.h>

#include <thread>

#include <malloc.h>

using namespace ahpd;
using namespace std::chrono_literals;

namespace {

/// A socket that keeps what it was told to send.
struct recorded_socket : transport::websocket {
  std::mutex guard;
  std::vector<transport::frame> sent;

  void send(transport::frame text, transport::message_kind) override {
    std::lock_guard lock(guard);
    sent.push_back(std::move(text));
  }
  void when_taken(std::function<void()>) override {}
  void grant(std::size_t) override {}
  void close(std::uint16_t code, std::string_view) override { closed = code; }
  std::size_t queued_bytes() const override { return 0; }

  std::uint16_t closed = 0;

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
  CHECK(order.follow(session, {"ahp-session:/a", a.box, {}, 0}).from_seq == 0);
  order.follow(session, {"ahp-session:/a", b.box, {}, 0});
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
  order.follow(session, {"shell:/a", a.box, {}, 0});
  order.publish(session, title("x"));
  CHECK(a.socket->frames().at(0).at("params").at("channel") == "shell:/a");
}

TEST_CASE("a refusal repeats the current number and moves nothing") {
  auto order = numbers();
  core::channel session(ahp::channel_kind::session, "ahp-session:/a", json::object{{"title", ""}});
  follower a;
  order.follow(session, {"ahp-session:/a", a.box, {}, 0});
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
  order.follow(a, {"ahp-session:/a", both.box, {}, 0});
  order.follow(b, {"ahp-session:/b", both.box, {}, 0});
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

TEST_CASE("what is pushed behind a slot waits until the slot is filled") {
  follower a;
  const auto text = [](const char* t) { return std::make_shared<const std::string>(t); };
  const auto sent = [&] {
    std::string out;
    for (const auto& f : a.socket->sent)
      out += *f;
    return out;
  };
  a.box->push(text("1"));
  const auto one = a.box->reserve();
  a.box->push(text("2"));
  const auto two = a.box->reserve();
  a.box->push_action(text("3"));
  CHECK(sent() == "1");
  a.box->postpone(one); // its follower begins to hear here
  CHECK(sent() == "12");
  a.box->push_action(text("4"));
  a.box->fill(one, text("A"));
  CHECK(sent() == "12");
  a.box->fill(two, text("B"));
  CHECK(sent() == "12B3A4");
  const auto three = a.box->reserve();
  a.box->push_action(text("5"));
  a.box->push(text("6"));
  a.box->take_back_actions();
  a.box->fill(three, text("C"));
  CHECK(sent() == "12B3A4C6");
}

TEST_CASE("a slot that is never filled holds back a bounded number of bytes") {
  follower a;
  a.box->reserve();
  const auto big = std::make_shared<const std::string>(std::string(1u << 20, 'x'));
  for (int i = 0; i < 32; ++i)
    a.box->push(big);
  CHECK(a.socket->closed == 0);
  a.box->push(big);
  CHECK(a.socket->closed == 1013);
}

TEST_CASE("snapshots taken one after the other are brought to one number") {
  auto order = numbers();
  core::channel x(ahp::channel_kind::session, "ahp-session:/x", json::object{{"title", ""}});
  core::channel y(ahp::channel_kind::session, "ahp-session:/y", json::object{{"title", ""}});
  follower a;
  const auto slot = a.box->reserve();
  std::vector<core::followed> shots;
  shots.push_back(order.follow(x, {"ahp-session:/x", a.box, {}, 0}));
  order.publish(x, title("1"));
  order.publish(y, title("2"));
  shots.push_back(order.follow(y, {"ahp-session:/y", a.box, {}, 0}));
  order.publish(x, title("3"));
  CHECK(shots[0].from_seq == 0);
  CHECK(shots[1].from_seq == 2);
  CHECK(order.settle(*a.box, shots) == 3);
  order.publish(y, title("4"));
  a.box->fill(slot, std::make_shared<const std::string>("{}"));
  CHECK(shots[0].from_seq == 3);
  CHECK(shots[1].from_seq == 3);
  CHECK(shots[0].state->at("title") == "3");
  CHECK(shots[1].state->at("title") == "2");
  const auto frames = a.socket->frames();
  REQUIRE(frames.size() == 2); // the answer, and what came after it
  CHECK(frames[1].at("params").at("serverSeq") == 4);
}

TEST_CASE("what a client missed is given once, then it hears on") {
  core::sequencer order(10, core::sequencer::block, {}, 4'000);
  const auto x = std::make_shared<core::channel>(ahp::channel_kind::session, "ahp-session:/x",
                                                 json::object{{"title", ""}});
  const auto y = std::make_shared<core::channel>(ahp::channel_kind::session, "ahp-session:/y",
                                                 json::object{{"title", ""}});
  follower first;
  order.follow(*x, {"ahp-session:/x", first.box, {}, 0});
  order.publish(*x, title("1"), core::action_origin{"c", 5});
  order.publish(*y, title("2"));
  order.publish(*x, title("3"));

  follower back;
  auto missed = order.resume({{"shell:/x", x}}, back.box, 11, 1'000);
  REQUIRE(missed);
  REQUIRE(missed->size() == 1);
  CHECK((*missed)[0].seq == 13);
  CHECK((*missed)[0].spelling == "shell:/x");
  CHECK(json::parse(*(*missed)[0].action) == title("3"));
  order.publish(*x, title("4"));
  CHECK(back.socket->frames().at(0).at("params").at("channel") == "shell:/x");

  follower late;
  CHECK_FALSE(order.resume({{"", x}}, late.box, 9, 1'000));  // before this host's first number
  CHECK_FALSE(order.resume({{"", x}}, late.box, 99, 1'000)); // a number that is not there yet
  CHECK_FALSE(order.resume({{"", x}}, late.box, 10, 10));    // too much
  CHECK(order.followers(*x) == 2);
  for (int i = 0; i < 100; ++i)
    order.publish(*x, title("more"));
  CHECK_FALSE(order.resume({{"", x}}, late.box, 11, 1'000'000)); // evicted
  CHECK(order.resume({{"", x}}, late.box, order.current() - 1, 1'000'000));
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

namespace {

struct parcel {
  std::shared_ptr<int> content;
};

} // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(parcel)

TEST_CASE("what is sent for later comes then, and not at all when it is called off") {
  caf::actor_system_config cfg;
  core::use_asio_scheduler(cfg, 1);
  caf::actor_system system(cfg);
  const auto content = std::make_shared<int>(7);
  {
    caf::scoped_actor here(system);
    const auto to = caf::actor_cast<caf::actor>(here);
    core::later never(system, 1h, to, parcel{content});
    const core::later soon(system, 1ms, to, parcel{std::make_shared<int>(8)});
    CHECK(content.use_count() == 2);
    never = {};
    here->receive([](const parcel& what) { CHECK(*what.content == 8); });
  }
  // what waits keeps nobody alive, and nobody misses who has gone
  const auto owner = std::make_shared<int>(9);
  auto gone = system.spawn(
    [owner](caf::event_based_actor*) -> caf::behavior { return {[owner](const parcel&) {}}; });
  const core::later late(system, 1h, gone, parcel{content});
  CHECK(owner.use_count() > 1);
  caf::anon_send_exit(gone, caf::exit_reason::kill);
  system.await_all_actors_done();
  gone = nullptr;
  CHECK(owner.use_count() == 1);
}

TEST_CASE("a parent holds nothing of children that have ended, and its end is told to the others") {
  caf::actor_system_config cfg;
  core::use_asio_scheduler(cfg, 1);
  caf::actor_system system(cfg);
  const auto idle = [](caf::event_based_actor*) -> caf::behavior { return {[](int) {}}; };
  auto parent = system.spawn(idle);
  const auto child = [parent](caf::event_based_actor* self) -> caf::behavior {
    core::watch_parent(self, parent);
    self->set_down_handler([self](caf::down_msg& msg) { self->quit(std::move(msg.reason)); });
    return {[self](int) { self->quit(); }};
  };
  caf::scoped_actor here(system);
  const auto make_some = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const auto one = system.spawn(child);
      here->monitor(one);
      caf::anon_send(one, 1);
      here->receive([](const caf::down_msg&) {});
    }
  };
  make_some(100);
  const auto before = ::mallinfo2().uordblks;
  make_some(2'000);
  CHECK(::mallinfo2().uordblks < before + 2'000 * 50);
  const auto last = system.spawn(child);
  here->monitor(last);
  caf::anon_send_exit(parent, caf::exit_reason::user_shutdown);
  here->receive([&](const caf::down_msg& msg) { CHECK(msg.source == last.address()); });
}
