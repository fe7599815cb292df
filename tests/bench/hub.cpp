// What the hub costs, against a bare Node `ws` server that answers the same JSON, and against
// Docker's own program. Each comparison takes turns with its rival in one run; the middle of five
// rounds counts.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "tests/bench/load.hpp"
#include "tests/support/bench_report.hpp"
#include "tests/support/hub_process.hpp"

#include <cmath>
#include <csignal>
#include <filesystem>

#include <sys/resource.h>

using namespace ahpd;
using bench::crowd;

namespace {

constexpr int rounds = 5;
const std::string prefix = "ahpd-bench-"; // of every container's name

std::string source(const std::string& file) {
  return std::string(AHPD_SOURCE_DIR) + "/tests/bench/" + file;
}

std::string found(const std::string& program) {
  for (const char* folder : {"/usr/local/bin/", "/usr/bin/", "/bin/"})
    if (std::filesystem::exists(folder + program))
      return folder + program;
  bench::give_up(program + " is needed; tools/install-deps --tests installs it");
}

json::object agent_record(const std::string& id, const std::string& script) {
  return {{"id", id},
          {"engine", "acp"},
          {"owner", "host"},
          {"name", id},
          {"config", {{"command", "perl"}, {"args", {script}}}}};
}

/// A hub without token, people or waiting.
struct hub {
  std::unique_ptr<tests::hub_process> process;

  hub() {
    const json::value config{
      {"deltaWindowMs", 0},
      {"plugins",
       {"@ahpd/agent-acp", {{"name", "@ahpd/computer"}, {"options", {{"bodyMounts", true}}}}}}};
    tests::hub_options how;
    how.config = json::serialize(config);
    how.files = {
      {"agents/bench.json", json::serialize(agent_record("bench", source("agent.pl")))},
      {"agents/bench-inside.json", json::serialize(agent_record("bench-inside", "/srv/agent.pl"))}};
    process = std::make_unique<tests::hub_process>(std::move(how));
  }

  std::uint16_t port() const { return process->port(); }
  pid_t pid() const { return process->pid(); }
};

/// The rival.
struct rival {
  tests::program node{
    {{found("node"), source("rival.js")}, {{"NODE_PATH", "/usr/share/nodejs"}}, {}}};
  std::uint16_t port = 0;

  rival() {
    node.wait_for_output("\n");
    port = static_cast<std::uint16_t>(std::stoi(node.output()));
  }
};

void introduce(crowd& clients, std::size_t i, json::array subscriptions = {}) {
  clients.ask(i, "initialize",
              {{"protocolVersions", {"1.0.0"}},
               {"clientId", "bench-" + std::to_string(i)},
               {"initialSubscriptions", std::move(subscriptions)}});
}

/// Makes a session and gives its first chat.
std::string open_chat(crowd& clients, const std::string& uri, json::object params) {
  params["channel"] = uri;
  clients.ask(0, "createSession", params);
  return std::string(clients.ask(0, "subscribe", {{"channel", uri}})
                       .at("snapshot")
                       .at("state")
                       .at("defaultChat")
                       .as_string());
}

// ---- a request and its answer -------------------------------------------------------------------

/// CPU of a server for each of `count` pings that every client sends, one after the other.
double ping_cost(crowd& clients, pid_t server, int count) {
  int left = static_cast<int>(clients.size()) * count;
  const auto ping = jsonrpc::request_frame(7, "ping", {{"channel", "ahp-root://"}});
  for (std::size_t i = 0; i < clients.size(); ++i)
    clients.at(i).on_text = [&, i, mine = count](const std::string&) mutable {
      --left;
      if (--mine > 0)
        clients.send(i, ping);
    };
  const auto before = bench::cpu_of(server);
  const auto all = left;
  for (std::size_t i = 0; i < clients.size(); ++i)
    clients.send(i, ping);
  clients.run_until([&] { return left == 0; });
  for (std::size_t i = 0; i < clients.size(); ++i)
    clients.at(i).on_text = nullptr;
  return (bench::cpu_of(server) - before) / all;
}

void measure_pings(tests::bench_report& report) {
  constexpr std::size_t connections = 50;
  constexpr int each = 1'000;
  hub ours;
  rival theirs;
  crowd of_hub;
  crowd of_rival;
  of_hub.open(ours.port(), connections);
  of_rival.open(theirs.port, connections);
  for (std::size_t i = 0; i < connections; ++i)
    introduce(of_hub, i);
  ping_cost(of_hub, ours.pid(), 200); // both have warmed up
  ping_cost(of_rival, theirs.node.pid(), 200);
  std::vector<double> ratios;
  std::vector<double> costs;
  for (int i = 0; i < rounds; ++i) {
    costs.push_back(ping_cost(of_hub, ours.pid(), each));
    ratios.push_back(costs.back() / ping_cost(of_rival, theirs.node.pid(), each));
  }
  report.shows("ping, CPU", bench::median(costs) * 1e6, "us");
  report.at_most("ping, CPU against node ws", bench::median(ratios), "ratio", 0.8);
}

// ---- one action to many -------------------------------------------------------------------------

constexpr std::size_t followers = 200;
constexpr int deltas = 2'000;

std::uint64_t frames_of(crowd& clients, std::size_t first) {
  std::uint64_t out = 0;
  for (std::size_t i = first; i < clients.size(); ++i)
    out += clients.at(i).frames;
  return out;
}

/// CPU of a server for each frame that reaches a follower while `start` makes it send that many
/// actions. Client 0 does not follow.
double flood_cost(crowd& clients, pid_t server, const std::function<void()>& start) {
  const auto seen = frames_of(clients, 1);
  const auto before = bench::cpu_of(server);
  start();
  clients.run_until([&] { return frames_of(clients, 1) - seen >= followers * deltas; });
  return (bench::cpu_of(server) - before) / static_cast<double>(frames_of(clients, 1) - seen);
}

void measure_flood(tests::bench_report& report) {
  hub ours;
  rival theirs;
  crowd of_hub;
  crowd of_rival;
  of_hub.open(ours.port(), followers + 1);
  of_rival.open(theirs.port, followers + 1);
  introduce(of_hub, 0);
  const auto chat = open_chat(of_hub, "ahp-session:/bench", {{"provider", "bench"}});
  for (std::size_t i = 1; i <= followers; ++i) {
    introduce(of_hub, i, {chat});
    of_rival.ask(i, "join", {});
  }
  std::vector<double> ratios;
  std::vector<double> costs;
  int turn = 0;
  const auto run = [&](int count) {
    of_hub.send(
      0, jsonrpc::notification_frame(
           "dispatchAction",
           {{"channel", chat},
            {"clientSeq", ++turn},
            {"action",
             {{"type", "chat/turnStarted"},
              {"turnId", "t" + std::to_string(turn)},
              {"startedAt", "2026-01-01T00:00:00.000Z"},
              {"message", {{"text", std::to_string(count)}, {"origin", {{"kind", "user"}}}}}}}}));
  };
  const auto ended = [&] {
    // A turn's ending is told to all in the same order; the next is refused before it.
    of_hub.run_for(std::chrono::milliseconds(300));
  };
  run(10);
  ended();
  for (int i = 0; i < rounds; ++i) {
    costs.push_back(flood_cost(of_hub, ours.pid(), [&] { run(deltas); }));
    ended();
    ratios.push_back(costs.back() / flood_cost(of_rival, theirs.node.pid(), [&] {
                       of_rival.send(0, jsonrpc::request_frame(1, "flood", {{"count", deltas}}));
                     }));
  }
  report.shows("a delta to 200 followers, CPU for each frame", bench::median(costs) * 1e6, "us");
  report.at_most("a delta to 200 followers, CPU against node ws", bench::median(ratios), "ratio",
                 0.5);
}

// ---- memory -------------------------------------------------------------------------------------

void measure_memory(tests::bench_report& report) {
  constexpr std::size_t connections = 5'000;
  hub ours;
  rival theirs;
  const auto idle = bench::memory_of(ours.pid());
  report.shows("idle hub, resident", idle / 1e6, "MB");
  report.at_most("idle hub, resident, against node ws", idle / bench::memory_of(theirs.node.pid()),
                 "ratio", 0.25);
  crowd clients;
  clients.open(ours.port(), 1);
  introduce(clients, 0);
  const auto chat = open_chat(clients, "ahp-session:/bench", {{"provider", "shell"}});
  const auto before = bench::memory_of(ours.pid());
  clients.open(ours.port(), connections);
  for (std::size_t i = 1; i <= connections; ++i)
    introduce(clients, i, {"ahp-root://", "ahp-session:/bench", chat});
  report.at_most("an idle subscribed connection",
                 (bench::memory_of(ours.pid()) - before) / connections / 1024, "KiB", 24);
}

// ---- machines -----------------------------------------------------------------------------------

std::string docker(std::vector<std::string> words) {
  words.insert(words.begin(), found("docker"));
  auto result = tests::run_program({std::move(words), {}, {}}, std::chrono::minutes(2));
  if (result.exit_code != 0)
    bench::give_up("docker: " + result.errors);
  while (!result.output.empty() && result.output.back() == '\n')
    result.output.pop_back();
  return result.output;
}

/// Removes the containers of this benchmark, now and at the end.
struct containers {
  containers() { remove(); }
  ~containers() { remove(); }
  static void remove() {
    std::istringstream ids(docker({"ps", "-aq", "--filter", "name=^" + prefix}));
    for (std::string id; ids >> id;)
      docker({"rm", "-f", id});
  }
};

void make_machine(crowd& clients, const std::string& name) {
  const json::value manifest{{"image", "debian:bookworm-slim"},
                             {"workdir", "/srv"},
                             {"mounts", {source("agent.pl") + ":/srv/agent.pl:ro"}}};
  clients.ask(0, "resourceWrite",
              {{"uri", "computer://" + name},
               {"data", json::serialize(manifest)},
               {"encoding", "utf-8"},
               {"createOnly", true}});
}

double seconds_of(const std::function<void()>& work) {
  const auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

void measure_machines(tests::bench_report& report) {
  constexpr int machines = 10;
  containers guard;
  hub ours;
  crowd clients;
  clients.open(ours.port(), 100);
  for (std::size_t i = 0; i < clients.size(); ++i)
    introduce(clients, i, {"ahp-root://"});
  std::vector<double> ours_s;
  std::vector<double> theirs_s;
  for (int i = 0; i < machines; ++i) {
    const auto name = prefix + std::to_string(i);
    ours_s.push_back(seconds_of([&] { make_machine(clients, name); }));
    theirs_s.push_back(seconds_of([&] {
      docker({"run", "-d", "--init", "--name", prefix + "rival-" + std::to_string(i), "-w", "/srv",
              "--mount", "type=bind,src=" + source("agent.pl") + ",dst=/srv/agent.pl,readonly",
              "debian:bookworm-slim", "sleep", "infinity"});
    }));
  }
  report.shows("machine create to running, p50", bench::median(ours_s), "s");
  report.at_most("machine create against docker run -d",
                 bench::median(ours_s) / bench::median(theirs_s), "ratio", 1.1);

  clients.run_for(std::chrono::seconds(5)); // what the creates started has ended
  const auto busy = bench::cpu_of(ours.pid());
  clients.run_for(std::chrono::seconds(30));
  report.at_most("idle CPU of 100 connections and 10 machines",
                 (bench::cpu_of(ours.pid()) - busy) / 30 * 100, "% of a core", 0.2);

  constexpr int sessions = 20;
  const auto before = bench::memory_of(ours.pid());
  for (int i = 0; i < sessions; ++i) {
    const auto uri = "ahp-session:/inside-" + std::to_string(i);
    const auto chat = open_chat(
      clients, uri,
      {{"provider", "bench-inside"},
       {"config", {{"computer", "computer://" + prefix + std::to_string(i % machines)}}}});
    clients.ask(0, "subscribe", {{"channel", chat}});
    bool over = false;
    clients.at(0).on_text = [&](const std::string& text) {
      if (text.find("chat/error") != std::string::npos)
        bench::give_up(text);
      over = over || text.find("chat/turnComplete") != std::string::npos;
    };
    clients.send(0, jsonrpc::notification_frame(
                      "dispatchAction",
                      {{"channel", chat},
                       {"clientSeq", i + 1},
                       {"action",
                        {{"type", "chat/turnStarted"},
                         {"turnId", "t"},
                         {"startedAt", "2026-01-01T00:00:00.000Z"},
                         {"message", {{"text", "hello"}, {"origin", {{"kind", "user"}}}}}}}}));
    clients.run_until([&] { return over; });
    clients.at(0).on_text = nullptr;
  }
  const auto each = (bench::memory_of(ours.pid()) - before) / sessions;
  tests::program relay{
    {{found("docker"), "exec", "-i", prefix + "rival-0", "sh", "-c", "echo up; cat"}, {}, {}}};
  relay.wait_for_output("up");
  report.shows("a live agent session in Docker, memory in the hub", each / 1024, "KiB");
  report.at_most("the same against a docker exec -i", each / bench::memory_of(relay.pid()), "ratio",
                 0.1);
}

} // namespace

int main(int argc, char** argv) {
  doctest::Context checks;
  checks.setAsDefaultForAssertsOutOfTestCases();
  std::signal(SIGPIPE, SIG_IGN);
  rlimit files{20'000, 20'000};
  tests::bench_report report(argc, argv);
  const std::vector<std::pair<std::string, void (*)(tests::bench_report&)>> parts{
    {"pings", measure_pings},
    {"flood", measure_flood},
    {"memory", measure_memory},
    {"machines", measure_machines}};
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i)
    if (argv[i][0] != '-')
      wanted.emplace_back(argv[i]);
  try {
    if (setrlimit(RLIMIT_NOFILE, &files) != 0)
      bench::give_up("5,000 connections need a limit of 20,000 open files (ulimit -n)");
    for (const auto& [name, measure] : parts)
      if (wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end())
        measure(report);
  } catch (const std::exception& why) {
    std::fprintf(stderr, "bench: %s\n", why.what());
    return 1;
  }
  return report.finish();
}
