#include "tests/runtimes/process_support.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <future>
#include <sstream>

using namespace ahpd;
using namespace std::chrono_literals;
using tests::host_fixture;
using tests::script;

namespace {

/// The number behind `name=` in a program's output.
pid_t pid_in(const std::string& text, const std::string& name) {
  const auto at = text.find(name + '=');
  REQUIRE(at != std::string::npos);
  return static_cast<pid_t>(std::stol(text.substr(at + name.size() + 1)));
}

/// A child in the group, one that left it, and one that left it as an orphan; none minds SIGTERM.
const std::string stubborn_tree = R"(
trap '' TERM
sleep 1000 & echo child=$!
setsid sleep 1000 & echo left=$!
setsid bash -c 'sleep 1000 & echo orphan=$!'
echo ready
wait
)";

} // namespace

TEST_CASE_FIXTURE(host_fixture, "a kill without grace ends the whole tree") {
  auto what = script(stubborn_tree);
  what.marker = marker();
  const auto run = start(what);
  const auto text = run->wait_output("ready");
  for (const char* name : {"child", "left", "orphan"})
    CHECK(tests::lives(pid_in(text, name)));
  run->program->kill(0ms);
  CHECK(run->wait_exit().signal == SIGKILL);
  for (const char* name : {"child", "left", "orphan"})
    CHECK(tests::gone(pid_in(text, name)));
}

TEST_CASE_FIXTURE(host_fixture, "a kill lets the tree end by itself, then ends it") {
  auto what = script(stubborn_tree);
  what.marker = marker();
  const auto run = start(what);
  const auto text = run->wait_output("ready");
  run->program->kill(30ms);
  CHECK(run->wait_exit().signal == SIGKILL);
  for (const char* name : {"child", "left", "orphan"})
    CHECK(tests::gone(pid_in(text, name)));
}

TEST_CASE_FIXTURE(host_fixture,
                  "a program that minds SIGTERM ends in its own way within the grace") {
  auto what =
    script("trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 1000 & wait; done");
  what.marker = marker();
  const auto run = start(what);
  run->wait_output("ready");
  run->program->kill(1h);
  CHECK(run->wait_exit().code == 5);
  CHECK(run->out() == "ready\nbye\n");
}

TEST_CASE_FIXTURE(host_fixture, "the grace is for what outlives the program, too") {
  // No marker: the group is all there is to go by.
  const auto run = sh("bash -c \"trap '' TERM; echo child=\\$\\$; while :; do sleep 1000; done\" & "
                      "trap 'exit 0' TERM; wait");
  const auto child = pid_in(run->wait_output("\n"), "child");
  run->program->kill(1h);
  CHECK(run->wait_exit().ok());
  CHECK(tests::lives(child));
  run->program->kill(1ms);
  CHECK(tests::gone(child));
}

TEST_CASE_FIXTURE(host_fixture, "a signal reaches the group and those that left it, once each") {
  auto what = script("bash -c \"$LISTENER\" in & setsid bash -c \"$LISTENER\" out & "
                     "eval \"${LISTENER//\\$0/top}\"");
  what.env["LISTENER"] =
    "trap 'echo got-$0' USR1; echo up-$0; while :; do sleep 1000 & wait $!; done";
  what.marker = marker();
  const auto run = start(what);
  for (const char* who : {"up-top", "up-in", "up-out"})
    run->wait_output(who);
  run->program->signal(SIGUSR1);
  for (const char* who : {"got-top", "got-in", "got-out"})
    run->wait_output(who);
  run->program->kill(0ms);
  CHECK(run->wait_exit().signal == SIGKILL);
  std::istringstream words(run->out());
  std::map<std::string, int> count;
  for (std::string word; words >> word;)
    ++count[word];
  CHECK(count["got-top"] == 1);
  CHECK(count["got-in"] == 1);
  CHECK(count["got-out"] == 1);
}

TEST_CASE_FIXTURE(host_fixture, "a stopped program is ended by a kill with grace") {
  const auto run = sh("trap 'exit 4' TERM; echo ready; kill -STOP $$; echo resumed; exit 6");
  run->wait_output("ready");
  run->program->kill(1h);
  const auto how = run->wait_exit();
  CHECK(how.code.has_value());
}

TEST_CASE_FIXTURE(host_fixture, "a dropped handle lets the program go on") {
  auto what = script("echo self=$$; read -r line; echo got $line");
  what.input = true;
  what.marker = marker();
  const auto run = start(what);
  const auto pid = pid_in(run->wait_output("\n"), "self");
  run->program->write("word\n");
  const std::weak_ptr<runtimes::running> dropped = run->program;
  run->program.reset();
  CHECK(dropped.expired());
  CHECK(run->wait_exit().ok());
  CHECK(tests::gone(pid));
}

TEST_CASE_FIXTURE(host_fixture, "a sweep kills the marked processes and no others") {
  const std::string spawn_three =
    "sleep 1000 & setsid sleep 1000 & (setsid sleep 1000 &) ; echo ready; wait";
  auto one = script(spawn_three);
  auto two = script(spawn_three);
  auto other = script("echo ready; read -r line; exit 9");
  one.marker = marker();
  two.marker = marker();
  other.marker = one.marker + "-longer";
  other.input = true;
  const auto first = start(one);
  const auto second = start(two);
  const auto spared = start(other);
  for (const auto& run : {first, second, spared})
    run->wait_output("ready");

  CHECK(sweep({one.marker, two.marker, "", "nobody has this"}) ==
        std::pair<std::size_t, std::string>{8, ""});
  CHECK(first->wait_exit().signal == SIGKILL);
  CHECK(second->wait_exit().signal == SIGKILL);
  CHECK(sweep({one.marker, two.marker}) == std::pair<std::size_t, std::string>{0, ""});
  CHECK_FALSE(spared->ended());
  spared->program->close_input();
  CHECK(spared->wait_exit().code == 9);
  CHECK(sweep({}) == std::pair<std::size_t, std::string>{0, ""});
}

TEST_CASE_FIXTURE(host_fixture, "a marker's first part sweeps all that begin with it and a dot") {
  const auto owner = marker();
  std::vector<std::shared_ptr<tests::watched>> all;
  for (const auto& mark : {owner + ".one", owner + ".two", owner + "x.one"}) {
    auto what = script("echo ready; read -r line");
    what.input = true;
    what.marker = mark;
    all.push_back(start(what));
    all.back()->wait_output("ready");
  }
  CHECK(sweep({owner + ".one"}) == std::pair<std::size_t, std::string>{1, ""});
  CHECK(all[0]->wait_exit().signal == SIGKILL);
  CHECK_FALSE(all[1]->ended());
  CHECK(sweep({owner}) == std::pair<std::size_t, std::string>{1, ""});
  CHECK(all[1]->wait_exit().signal == SIGKILL);
  CHECK_FALSE(all[2]->ended());
  all[2]->program->close_input();
  CHECK(all[2]->wait_exit().code == 1);
}

TEST_CASE_FIXTURE(host_fixture, "sweeps at the same time are all done, each with its own") {
  std::vector<std::shared_ptr<tests::watched>> all;
  std::vector<std::string> markers;
  for (int i = 0; i < 20; ++i) {
    auto what = script("echo ready; exec sleep 1000");
    what.marker = marker();
    markers.push_back(what.marker);
    all.push_back(start(what));
    all.back()->wait_output("ready");
  }
  std::vector<std::future<std::string>> done;
  for (const auto& mark : markers) {
    auto told = std::make_shared<std::promise<std::string>>();
    done.push_back(told->get_future());
    place->sweep({mark}, [told](std::size_t, const std::string& why) { told->set_value(why); });
  }
  for (auto& one : done) {
    REQUIRE(one.wait_for(60s) == std::future_status::ready);
    CHECK(one.get().empty());
  }
  for (const auto& run : all)
    CHECK(run->wait_exit().signal == SIGKILL);
}

TEST_CASE_FIXTURE(host_fixture, "a sweep catches processes that keep replacing themselves") {
  // Each makes its successor in a session of its own and ends; two at any time, always new ones.
  auto what =
    script("f() { setsid bash -c \"$(declare -f f); sleep 0.01; f\" & }; export -f f; f; f; "
           "echo ready");
  what.marker = marker();
  const auto run = start(what);
  CHECK(run->wait_exit().ok());
  const auto [killed, why] = sweep({what.marker});
  CHECK(killed >= 2);
  CHECK(why.empty());
  CHECK(sweep({what.marker}) == std::pair<std::size_t, std::string>{0, ""});
}

TEST_CASE_FIXTURE(host_fixture, "a sweep holds more processes than it waits for at a time") {
  auto what = script("for i in {1..300}; do sleep 1000 & done; echo ready; wait");
  what.marker = marker();
  const auto run = start(what);
  run->wait_output("ready");
  CHECK(sweep({what.marker}) == std::pair<std::size_t, std::string>{301, ""});
  CHECK(run->wait_exit().signal == SIGKILL);
}
