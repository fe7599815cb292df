// Two hundred sessions that open, stream, are cut and close, over and over. In the end the hub must
// hold what it held after the first round: memory, descriptors, processes and containers.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "tests/bench/load.hpp"
#include "tests/support/hub_process.hpp"

#include <csignal>
#include <filesystem>
#include <random>

#include <sys/resource.h>

using namespace ahpd;

namespace {

constexpr std::size_t slots = 200;

const std::string agent = std::string(AHPD_SOURCE_DIR) + "/tests/bench/agent.pl";

std::string record(const std::string& id, const std::string& script) {
  return json::serialize(json::value{{"id", id},
                                     {"engine", "acp"},
                                     {"owner", "host"},
                                     {"name", id},
                                     {"config", {{"command", "perl"}, {"args", {script}}}}});
}

tests::hub_options how_to_start(const std::string& mark) {
  tests::hub_options how;
  how.config = json::serialize(json::value{
    {"deltaWindowMs", 5},
    {"plugins",
     {"@ahpd/agent-acp", {{"name", "@ahpd/computer"}, {"options", {{"bodyMounts", true}}}}}}});
  how.files = {{"agents/soak.json", record("soak", agent)},
               {"agents/soak-inside.json", record("soak-inside", "/srv/agent.pl")}};
  how.env = {{"AHPD_SOAK", mark}};
  return how;
}

/// What a hub holds of this machine.
struct holdings {
  double memory = 0; ///< bytes
  std::size_t descriptors = 0;
  std::size_t programs = 0; ///< started by it, at any remove
};

holdings holdings_of(pid_t hub, const std::string& mark) {
  namespace fs = std::filesystem;
  holdings out;
  out.memory = bench::memory_of(hub);
  for ([[maybe_unused]] const auto& entry :
       fs::directory_iterator("/proc/" + std::to_string(hub) + "/fd"))
    ++out.descriptors;
  for (const auto& process : fs::directory_iterator("/proc")) {
    std::ifstream file(process.path() / "environ");
    std::stringstream text;
    text << file.rdbuf();
    out.programs += text.str().find("AHPD_SOAK=" + mark) != std::string::npos;
  }
  --out.programs; // the hub itself
  return out;
}

/// One session after the other on a connection of its own, each treated in one of five ways.
class slot {
public:
  /// `machine` is where its agents run; empty: this host.
  slot(bench::crowd& clients, std::size_t number, std::string machine, std::mt19937& random)
      : clients_(clients), number_(number), machine_(std::move(machine)), random_(random) {}

  void start() {
    clients_.at(number_).on_text = [this](const std::string& text) { take(text); };
    ask("initialize",
        {{"channel", "ahp-root://"}, {"protocolVersions", {"1.0.0"}}, {"clientId", client_id()}});
  }

  void stop() { stopping_ = true; }
  bool idle() const { return idle_; }
  std::uint64_t sessions = 0;

  /// Where it stands, for who waits for it in vain.
  std::string tell() const {
    constexpr const char* names[]{"cut", "cancelled", "dropped", "whole", "shell"};
    return uri_ + (machine_.empty() ? "" : " in " + machine_) + ", to be " +
           names[static_cast<int>(way_)] + ", asked last: " + waits_ +
           (streaming_ ? ", streaming" : "") + ", heard last: " + last_.substr(0, 300);
  }

private:
  enum class way { cut, cancelled, dropped, whole, shell };

  std::string client_id() const { return "soak-" + std::to_string(number_); }

  void ask(const std::string& method, json::object params) {
    if (!params.contains("channel"))
      params["channel"] = uri_;
    waits_ = method;
    clients_.send(number_, jsonrpc::request_frame(++id_, method, params));
  }

  void dispatch(json::object action) {
    clients_.send(number_,
                  jsonrpc::notification_frame(
                    "dispatchAction",
                    {{"channel", chat_}, {"clientSeq", ++seq_}, {"action", std::move(action)}}));
  }

  static bool holds_ending(const std::string& text) {
    for (const char* type : {"\"chat/turnComplete\"", "\"chat/turnCancelled\"", "\"chat/error\""})
      if (text.find(type) != std::string::npos)
        return true;
    return false;
  }

  void take(const std::string& text) {
    last_ = text.substr(0, 300);
    if (text.find("\"result\"") < 60 || text.find("\"error\"") < 60)
      return on_answer(text);
    // Actions are not parsed: there are very many.
    if (streaming_ && text.find("\"chat/delta\"") != std::string::npos)
      on_delta();
    else if (holds_ending(text))
      on_end();
  }

  void on_answer(const std::string& text) {
    const auto answer = json::parse(text);
    if (const auto* error = json::member(answer, "error"))
      bench::give_up(waits_ + ": " + json::serialize(*error));
    if (waits_ == "initialize" || waits_ == "disposeSession")
      return open();
    if (waits_ == "createSession")
      return ask("subscribe", {});
    if (waits_ == "subscribe" && chat_.empty()) {
      chat_ = answer.at("result").at("snapshot").at("state").at("defaultChat").as_string();
      return ask("subscribe", {{"channel", chat_}});
    }
    if (waits_ == "subscribe")
      return begin();
    if (waits_ == "reconnect" &&
        (holds_ending(text) || text.find("\"activeTurn\"") == std::string::npos))
      on_end_if(answer);
  }

  /// The turn may have ended while the connection was away.
  void on_end_if(const json::value& answer) {
    const auto& result = answer.at("result");
    if (result.at("type") == "snapshot" || holds_ending(json::serialize(result)))
      on_end();
  }

  void open() {
    idle_ = stopping_;
    if (stopping_)
      return;
    ++sessions;
    chat_.clear();
    uri_ = "ahp-session:/" + client_id() + "-" + std::to_string(sessions);
    way_ = static_cast<way>(random_() % 5);
    json::object params{{"provider", "soak"}};
    if (way_ == way::shell)
      params["provider"] = "shell";
    else if (!machine_.empty())
      params = {{"provider", "soak-inside"}, {"config", {{"computer", machine_}}}};
    ask("createSession", std::move(params));
  }

  void begin() {
    streaming_ = true;
    left_ = 1 + static_cast<int>(random_() % 40);
    const auto text = way_ == way::shell ? std::string("(setsid sleep 60 &); seq 300")
                                         : std::to_string(100 + random_() % 200);
    dispatch({{"type", "chat/turnStarted"},
              {"turnId", "t"},
              {"startedAt", "2026-01-01T00:00:00.000Z"},
              {"message", {{"text", text}, {"origin", {{"kind", "user"}}}}}});
  }

  void on_delta() {
    if (--left_ > 0)
      return;
    streaming_ = false;
    if (way_ == way::cut) {
      ask("disposeSession", {});
    } else if (way_ == way::cancelled) {
      dispatch({{"type", "chat/turnCancelled"}, {"turnId", "t"}, {"duration", 1}});
    } else if (way_ == way::dropped) {
      waits_.clear();
      clients_.redial(number_, [this] {
        ask("reconnect", {{"channel", "ahp-root://"},
                          {"clientId", client_id()},
                          {"lastSeenServerSeq", 0}, // so long ago that it gets snapshots
                          {"subscriptions", {uri_, chat_}}});
      });
    }
  }

  void on_end() {
    streaming_ = false;
    if (waits_ == "disposeSession" || waits_.empty())
      return;
    ask("disposeSession", {});
  }

  bench::crowd& clients_;
  std::size_t number_;
  std::string machine_;
  std::mt19937& random_;
  std::string uri_ = "ahp-root://";
  std::string chat_;
  std::string waits_; ///< the method that was asked last
  std::string last_;  ///< frame, its beginning
  std::int64_t id_ = 0;
  std::int64_t seq_ = 0;
  way way_ = way::whole;
  int left_ = 0;
  bool streaming_ = false;
  bool stopping_ = false;
  bool idle_ = false;
};

/// Lets all slots work for `time`, then lets what runs end. Gives how many sessions there were.
std::uint64_t work(std::uint16_t port, const std::vector<std::string>& machines,
                   std::chrono::seconds time, std::mt19937& random) {
  bench::crowd clients;
  clients.open(port, slots);
  std::vector<std::unique_ptr<slot>> all;
  for (std::size_t i = 0; i < slots; ++i)
    // one of twenty in a machine: a container is dear
    all.push_back(std::make_unique<slot>(
      clients, i, !machines.empty() && i % 20 == 0 ? machines[i / 20 % machines.size()] : "",
      random));
  for (auto& one : all)
    one->start();
  clients.run_for(time);
  for (auto& one : all)
    one->stop();
  try {
    clients.run_until([&] {
      return std::all_of(all.begin(), all.end(), [](const auto& one) { return one->idle(); });
    });
  } catch (const std::runtime_error&) {
    for (const auto& one : all)
      if (!one->idle())
        std::fprintf(stderr, "stuck: %s\n", one->tell().c_str());
    throw;
  }
  std::uint64_t sessions = 0;
  for (auto& one : all)
    sessions += one->sessions;
  return sessions;
}

std::vector<std::string> make_machines(std::uint16_t port, const std::string& mark) {
  bench::crowd clients;
  clients.open(port, 1);
  clients.ask(0, "initialize", {{"protocolVersions", {"1.0.0"}}, {"clientId", "maker"}});
  std::vector<std::string> out;
  for (const char* word : {"a", "b"}) {
    out.push_back("computer://soak-" + mark + word);
    clients.ask(0, "resourceWrite",
                {{"uri", out.back()},
                 {"data", json::serialize(json::value{{"image", "debian:bookworm-slim"},
                                                      {"mounts", {agent + ":/srv/agent.pl:ro"}}})},
                 {"encoding", "utf-8"},
                 {"createOnly", true}});
  }
  return out;
}

void remove_machines(std::uint16_t port, const std::vector<std::string>& machines) {
  bench::crowd clients;
  clients.open(port, 1);
  clients.ask(0, "initialize", {{"protocolVersions", {"1.0.0"}}, {"clientId", "maker"}});
  for (const auto& uri : machines)
    clients.ask(0, "resourceDelete", {{"uri", uri}});
  if (!clients.ask(0, "resourceList", {{"uri", "computer://"}}).at("entries").as_array().empty())
    bench::give_up("a machine was left");
}

/// Longer than connections to Docker are kept for the next request.
constexpr int quiet_looks = 600;

/// What the hub holds once its programs are gone and it has closed what it closes: when it has held
/// the same for a minute, or after two.
holdings settled(pid_t hub, const std::string& mark) {
  auto now = holdings_of(hub, mark);
  for (int i = 0, same = 0; i < 2 * quiet_looks && same < quiet_looks; ++i) {
    usleep(100'000);
    const auto before = std::exchange(now, holdings_of(hub, mark));
    same = now.programs == 0 && now.descriptors == before.descriptors ? same + 1 : 0;
  }
  return now;
}

void print(const std::string& when, const holdings& what) {
  std::printf("%-24s %7.1f MB, %3zu descriptors, %zu programs\n", when.c_str(), what.memory / 1e6,
              what.descriptors, what.programs);
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  doctest::Context checks;
  checks.setAsDefaultForAssertsOutOfTestCases();
  std::signal(SIGPIPE, SIG_IGN);
  const auto seconds = argc > 1 ? std::atoi(argv[1]) : 0;
  if (seconds < 10)
    bench::give_up("usage: soak SECONDS [machines]");
  const bool machines_too = argc > 2 && std::string(argv[2]) == "machines";
  const auto mark = std::to_string(getpid());
  tests::hub_process hub(how_to_start(mark));
  std::mt19937 random(std::random_device{}());
  const auto machines = machines_too ? make_machines(hub.port(), mark) : std::vector<std::string>{};

  holdings before, after;
  try {
    // long enough that what is kept for clients that come back has reached its bound
    work(hub.port(), machines, std::chrono::seconds(std::max(20, seconds / 10)), random);
    before = settled(hub.pid(), mark);
    print("after a first round", before);
    const auto sessions = work(hub.port(), machines, std::chrono::seconds(seconds), random);
    after = settled(hub.pid(), mark);
    print("after " + std::to_string(sessions) + " sessions", after);
  } catch (const std::runtime_error& why) {
    std::fprintf(stderr, "%s\n", why.what());
    remove_machines(hub.port(), machines);
    return 1;
  }
  remove_machines(hub.port(), machines);
  const bool same = after.memory < before.memory * 1.2 + 8e6 &&
                    after.descriptors <= before.descriptors && after.programs == 0;
  std::puts(same ? "the hub holds what it held" : "THE HUB HOLDS MORE THAN IT DID");
  return same ? 0 : 1;
}
