#include "tests/runtimes/docker_support.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace ahpd;
using namespace ahpd::runtimes;
using namespace ahpd::tests;

namespace {

template <class T> const refusal& no(const outcome<T>& answer) {
  const auto* out = std::get_if<refusal>(&answer);
  REQUIRE(out);
  return *out;
}

template <class T> void fine(const outcome<T>& answer) {
  if (const auto* out = std::get_if<refusal>(&answer))
    FAIL_CHECK(out->sentence);
}

using verb = void (runtime::*)(std::string, done<nothing>);

outcome<nothing> call(docker_fixture& on, verb what, const std::string& id) {
  return on.ask<nothing>([&](auto done) { (*on.sut.*what)(id, std::move(done)); });
}

outcome<machine_record> inspect(docker_fixture& on, const std::string& id) {
  return on.ask<machine_record>([&](auto done) { on.sut->inspect(id, std::move(done)); });
}

std::string state(docker_fixture& on, const std::string& id) {
  const auto found = inspect(on, id);
  return std::holds_alternative<refusal>(found) ? "gone" : std::get<machine_record>(found).state;
}

std::set<std::string> listed(docker_fixture& on) {
  const auto all =
    on.ask<std::vector<machine_record>>([&](auto done) { on.sut->list(std::move(done)); });
  fine(all);
  std::set<std::string> out;
  for (const auto& it : std::get<std::vector<machine_record>>(all))
    out.insert(it.id);
  return out;
}

} // namespace

TEST_CASE("a machine is made, stopped, started, restarted, listed and removed") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  const auto box = on.name("box");
  auto spec = on.spec(box);
  spec.labels["ahpd.owner"] = "user:alice";
  const auto made = on.create(spec);
  CHECK(made.id == box);
  CHECK(made.handle == docker_says("inspect --format '{{.Id}}' " + box));
  CHECK(made.state == "running");
  CHECK(made.image == "debian:bookworm-slim");
  CHECK(made.labels.at("ahpd.computer") == "1");
  CHECK(made.labels.at("ahpd.host") == on.host_id);
  CHECK(made.labels.at("ahpd.owner") == "user:alice");
  CHECK(made.created.size() > 20);
  CHECK(made.status->at("State").at("Status") == "running");
  CHECK(listed(on).count(box) == 1);

  fine(call(on, &runtime::stop, box));
  CHECK(state(on, box) == "stopped");
  fine(call(on, &runtime::stop, box)); // already so
  CHECK(listed(on).count(box) == 1);
  fine(call(on, &runtime::start, box));
  CHECK(state(on, box) == "running");
  fine(call(on, &runtime::start, box));
  fine(call(on, &runtime::stop, box));
  fine(call(on, &runtime::restart, box)); // also starts a stopped one
  CHECK(state(on, box) == "running");
  CHECK(no(call(on, &runtime::suspend, box)).what == fault::unsupported);

  fine(call(on, &runtime::remove, box));
  CHECK(docker_says("ps -aq --filter name=" + box).empty());
  CHECK(no(inspect(on, box)).what == fault::not_there);
  for (const verb what : {&runtime::start, &runtime::stop, &runtime::restart, &runtime::remove}) {
    const auto answer = call(on, what, box);
    CHECK(no(answer).what == fault::not_there);
    CHECK(no(answer).sentence == "There is no computer called " + box + " on this host");
  }
}

TEST_CASE("limits, mounts, directory and init are in the container's configuration") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  scratch folder;
  auto spec = on.spec(on.name("limits"));
  spec.cpus = 0.5;
  spec.memory = 64u << 20;
  spec.workdir = "/work";
  spec.mounts = {{folder.path(), "/work", false}, {folder.path(), "/fixed", true}};
  const auto made = on.create(spec);
  const auto& host = made.status->at("HostConfig");
  CHECK(host.at("NanoCpus") == 500'000'000);
  CHECK(host.at("Memory") == 67'108'864);
  CHECK(host.at("Init") == true);
  CHECK(made.status->at("Config").at("WorkingDir") == "/work");
  CHECK(made.status->at("Config").at("Cmd") == json::value{"sleep", "infinity"});

  auto it = on.sh(made.id, "pwd; echo kept > file; touch /fixed/x || echo fixed");
  CHECK(it->out() == "/work\nfixed\n");
  CHECK(read_file(folder.path() + "/file") == "kept\n");
}

TEST_CASE("a name that is in use is refused and what has it stays") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  const auto box = on.name("taken");
  const auto first = on.create(box);
  const auto create = [&](const machine_spec& spec) {
    return on.ask<machine_record>([&](auto done) { on.sut->create(spec, {}, std::move(done)); });
  };
  auto second = create(on.spec(box));
  CHECK(no(second).what == fault::taken);
  CHECK(no(second).sentence == box + " is already a computer; destroy it or choose another name");
  CHECK(docker_says("inspect --format '{{.Id}}' " + box) == first.handle);

  const auto other = on.name("strange");
  docker_says("run -d --name " + other + " debian:bookworm-slim sleep 300");
  second = create(on.spec(other));
  CHECK(no(second).what == fault::taken);
  CHECK(docker_says("inspect --format '{{.State.Running}}' " + other) == "true");
  second = create(on.spec("a.b"));
  CHECK(no(second).what == fault::refused);
}

TEST_CASE("containers this host did not make are not there") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  const auto plain = on.name("plain");
  const auto foreign = on.name("foreign");
  const auto by_hand = on.name("by-hand");
  docker_says("run -d --name " + plain + " debian:bookworm-slim sleep 300");
  docker_says("run -d --name " + foreign +
              " --label ahpd.computer=1 --label ahpd.host=another debian:bookworm-slim sleep 300");
  docker_says("run -d --init --name " + by_hand +
              " --label ahpd.computer=1 debian:bookworm-slim sleep 300");
  const auto short_id = docker_says("inspect --format '{{.Id}}' " + by_hand).substr(0, 12);
  for (const auto& id : {plain, foreign, short_id, std::string("../info"), std::string("a b"),
                         std::string(), std::string("nothing-of-that-name")}) {
    CAPTURE(id);
    CHECK(no(inspect(on, id)).what == fault::not_there);
    CHECK(no(call(on, &runtime::remove, id)).what == fault::not_there);
    CHECK(on.start(id, program({"true"}))->refused ==
          "There is no computer called " + id + " on this host");
  }
  CHECK(state(on, by_hand) == "running"); // carries the label and nobody's host
  CHECK(listed(on).count(by_hand) == 1);
  CHECK(listed(on).count(foreign) == 0);
  CHECK(docker_says("inspect --format '{{.State.Running}}' " + plain + " " + foreign) ==
        "true\ntrue");
}

TEST_CASE("statistics of a running machine have every group, of a stopped one nothing") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  auto spec = on.spec(on.name("stats"));
  spec.cpus = 1.5;
  spec.memory = 64u << 20;
  const auto box = on.create(spec).id;
  const auto stats = [&] {
    auto out = on.ask<json::value>([&](auto done) { on.sut->stats(box, std::move(done)); });
    fine(out);
    return std::get<json::value>(out);
  };
  const auto now = stats();
  CHECK(now.at("running") == true);
  CHECK(now.at("cpu").at("percent").is_number());
  CHECK(now.at("cpu").at("cores") == 1.5);
  CHECK(now.at("memory").at("limit") == 67'108'864);
  CHECK(now.at("memory").at("used").to_number<double>() > 0);
  CHECK(now.at("pids").to_number<int>() == 2); // init and sleep
  CHECK(now.at("network").at("rx").is_number());
  CHECK(now.at("block").at("write").is_number());
  fine(call(on, &runtime::stop, box));
  CHECK(stats() == json::value{{"running", false}});
}

TEST_CASE("what others do to a machine is seen as events") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  const auto box = on.name("watched");
  std::vector<std::string> seen;
  const auto saw = [&](const std::string& what) {
    return [&, what] { return std::count(seen.begin(), seen.end(), what) > 0; };
  };
  on.sut->watch(
    [&](machine_event event) {
      if (event.id == box)
        seen.push_back(event.what);
    },
    [] { FAIL("there was no gap"); }, [](const std::string& why) { FAIL(why); });
  on.create(box);
  on.until("start", saw("start"));
  docker_says("stop -t 5 " + box);
  on.until("die", saw("die"));
  on.until("stop", saw("stop"));
  docker_says("start " + box);
  seen.clear();
  on.until("start", saw("start"));
  docker_says("kill " + box);
  on.until("kill", saw("kill"));
  on.until("die", saw("die"));
  docker_says("rm " + box);
  on.until("destroy", saw("destroy"));
  CHECK_FALSE(saw("exec_die")());
}

TEST_CASE("an absent image fails with the engine's words and leaves nothing") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  auto spec = on.spec(on.name("absent"));
  spec.image = "localhost:1/nobody/nothing:none";
  const auto answer =
    on.ask<machine_record>([&](auto done) { on.sut->create(spec, {}, std::move(done)); });
  CHECK(no(answer).what == fault::failed);
  CHECK(no(answer).sentence.rfind("The image localhost:1/nobody/nothing:none could not be pulled: ",
                                  0) == 0);
  CHECK(no(answer).sentence.find("connection refused") != std::string::npos);
  CHECK(docker_says("ps -aq --filter name=" + spec.name).empty());
}

TEST_CASE("a machine that cannot be started leaves nothing") {
  if (!docker_is_there())
    return skip("a Docker Engine with debian:bookworm-slim");
  docker_fixture on;
  scratch folder;
  auto spec = on.spec(on.name("unstartable"));
  spec.mounts = {{folder.path(), "/proc/self/x", false}}; // made, and refused by the start
  const auto answer =
    on.ask<machine_record>([&](auto done) { on.sut->create(spec, {}, std::move(done)); });
  CHECK(no(answer).what == fault::failed);
  CHECK(no(answer).sentence.size() > 20);
  CHECK(docker_says("ps -aq --filter name=" + spec.name).empty());
}
