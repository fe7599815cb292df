// The real hub with an engine that is scripted, too old, or not there; and what it keeps for
// itself.

#include "tests/programs/computer_support.hpp"
#include "tests/programs/fake_engine.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

using namespace ahpd;

namespace {

std::string make_refused(tests::ahp_peer& peer) {
  return tests::refused(peer, "resourceWrite", tests::write_params("computer://box", "{}"));
}

tests::hub_options with_engine(const std::string& address) {
  tests::hub_options how;
  how.flags = {"--plugin", "@ahpd/computer"};
  how.env["DOCKER_HOST"] = address;
  return how;
}

std::vector<json::value> progress_of(const tests::ahp_peer& peer) {
  std::vector<json::value> out;
  for (const auto& frame : peer.frames())
    if (json::string_member(frame, "method") == "root/progress")
      out.push_back(frame.at("params"));
  return out;
}

} // namespace

TEST_CASE("a pull's progress reaches whoever asked for it, only forwards") {
  tests::fake_engine engine;
  tests::hub_process hub(with_engine(engine.address()));
  tests::ahp_peer asker(hub.url());
  tests::peer_options another;
  another.client_id = "other";
  tests::ahp_peer other(hub.url(), another);
  asker.initialize();
  other.initialize({"ahp-root://"});
  auto params = tests::write_params("computer://pulled", R"({"image": "debian:e2e"})");
  params["progressToken"] = "mine";
  const auto made = asker.begin("resourceWrite", params);
  asker.request("ping"); // the peer sends while it waits for something

  const auto layer = [&](const char* id, const char* status, int current, int total) {
    json::object line{{"status", status}, {"id", id}};
    if (total > 0)
      line["progressDetail"] = json::object{{"current", current}, {"total", total}};
    engine.say(line);
  };
  const auto wait = [&](const std::string& message, int progress, int total) {
    asker.wait_notification("root/progress", [&](const json::value& p) {
      return p.at("message") == json::value(message) && p.at("progress") == progress &&
             json::member(p, "total") && p.at("total") == total;
    });
  };
  engine.say({{"status", "Pulling from library/debian"}, {"id", "e2e"}});
  layer("aa", "Downloading", 40, 100);
  wait("0 of 1 layers", 40, 100);
  layer("aa", "Downloading", 10, 100); // an engine that tries again starts from the beginning
  layer("bb", "Downloading", 100, 900);
  wait("0 of 2 layers", 140, 1000);
  layer("aa", "Pull complete", 0, 0);
  wait("1 of 2 layers", 200, 1000);
  layer("bb", "Pull complete", 0, 0);
  wait("2 of 2 layers", 1000, 1000);
  engine.end_pull(true);
  CHECK(asker.answer(made).at("result") == json::object{});

  std::uint64_t last = 0;
  for (const auto& p : progress_of(asker)) {
    CHECK(p.at("progressToken") == "mine");
    CHECK(p.at("channel") == "ahp-root://");
    const auto now = p.at("progress").to_number<std::uint64_t>();
    CHECK(now >= last);
    last = now;
  }
  CHECK(last == 1000);
  other.request("ping");
  CHECK(progress_of(other).empty());
}

TEST_CASE("a pull that fails gives the engine's words, and makes nothing") {
  tests::fake_engine engine;
  tests::hub_process hub(with_engine(engine.address()));
  tests::ahp_peer peer(hub.url());
  peer.initialize();
  const auto made = peer.begin("resourceWrite", tests::write_params("computer://pulled", "{}"));
  peer.request("ping"); // the peer sends while it waits for something
  engine.say({{"status", "Pulling from library/debian"}, {"id", "bookworm-slim"}});
  engine.say({{"errorDetail", {{"message", "toomanyrequests: later, please"}}},
              {"error", "toomanyrequests: later, please"}});
  engine.end_pull(false);
  const auto error = peer.answer(made).at("error");
  CHECK(error.at("code") == -32603);
  CHECK(error.at("message") == "The image debian:bookworm-slim could not be pulled: "
                               "toomanyrequests: later, please");
  CHECK(progress_of(peer).empty()); // nobody asked to hear
  const auto seen = engine.seen();
  CHECK(std::find(seen.begin(), seen.end(), "POST /containers/create") == seen.end());
}

TEST_CASE("an engine that is too old is refused with both versions") {
  tests::fake_engine engine("1.40");
  tests::hub_process hub(with_engine(engine.address()));
  tests::ahp_peer peer(hub.url());
  peer.initialize();
  const auto words = make_refused(peer);
  CHECK_MESSAGE(words.find(" speaks API 1.40, and this host needs 1.41 (Docker Engine 20.10) or "
                           "newer") != std::string::npos,
                words);
  CHECK(words.rfind("-32", 0) == 0);
  CHECK(peer.request("resourceList", {{"uri", "computer://"}}).at("entries").as_array().empty());
}

TEST_CASE("without an engine the hub starts, lists nothing, and a make says that none answers") {
  const tests::scratch nowhere;
  const auto address = "unix://" + nowhere.path() + "/no.sock";
  tests::hub_process hub(with_engine(address));
  tests::ahp_peer peer(hub.url());
  peer.initialize();
  CHECK(peer.request("resourceList", {{"uri", "computer://"}}).at("entries").as_array().empty());
  CHECK(peer.subscribe("x-ahpd-computers://").at("records").as_array().empty());
  const auto words = "-32603 Docker at " + address + " did not answer: ";
  CHECK(make_refused(peer).rfind(words, 0) == 0);
  CHECK(tests::refused(peer, "resourceRead", {{"uri", "computer://box/state"}}).rfind(words, 0) ==
        0);
  const auto in = tests::begin_session(peer, {});
  CHECK(tests::run_turn(peer, in, "echo here").out == "here\n");
  CHECK(hub.log().find("Could not list the docker machines, so the 0 it last listed are kept: "
                       "Docker at " +
                       address) != std::string::npos);
}

TEST_CASE("values of variables are in no log, no announcement and no refusal") {
  const std::string secret = "hush-e2e-" + std::to_string(::getpid());
  tests::hub_options how;
  how.config = json::serialize(json::object{
    {"plugins",
     json::array{json::object{
       {"name", "@ahpd/computer"},
       {"options",
        {{"env", {{"REGISTRY_WORD", secret}, {"DOCKER_HOST", "unix:///no/engine"}}}}}}}}});
  tests::hub_process hub(how);
  tests::ahp_peer peer(hub.url());
  peer.initialize();
  const auto refused = tests::refused(
    peer, "resourceWrite",
    tests::write_params("computer://box", R"({"env": {"WORD": ")" + secret + R"("}})"));
  CHECK(refused.rfind("-326", 0) == 0);
  const auto in = tests::begin_session(peer, {{"env", {{"WORD", secret}}}});
  const auto turn = tests::run_turn(peer, in, "echo ${REGISTRY_WORD:-none}");
  CHECK(turn.out == "none\n"); // the plugin's variables are Docker's, not the sessions'
  const auto cmdline = tests::read_file("/proc/" + std::to_string(hub.pid()) + "/cmdline");
  for (const auto& text : {refused, hub.log(), hub.announcement(), cmdline})
    CHECK(text.find(secret) == std::string::npos);

  CHECK(hub.stop() == 0);
  how.config = R"({"plugins": [{"name": "@ahpd/computer", "options": {"env": {"WORD": [")" +
               secret + R"("]}}}]})";
  tests::hub_process wrong(how);
  CHECK(wrong.announcement().find("option env.WORD of @ahpd/computer") != std::string::npos);
  CHECK((wrong.announcement() + wrong.log()).find(secret) == std::string::npos);
}

TEST_CASE("ten machines made, used and removed leave nothing open") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  auto peer = hub.peer();
  peer.initialize();
  const auto descriptors = [&] {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(
           "/proc/" + std::to_string(hub.process().pid()) + "/fd"))
      ++count;
    return count;
  };
  const auto round = [&] {
    const auto name = tests::make_machine(peer, "round");
    const auto in = tests::begin_session(peer, {{"computer", "computer://" + name}});
    CHECK(tests::run_turn(peer, in, "echo round").out == "round\n");
    peer.request("disposeSession", {{"channel", in.uri}});
    peer.request("resourceDelete", {{"uri", "computer://" + name}});
  };
  round(); // opens what stays open: connections to the engine, the store's files
  const auto before = descriptors();
  for (int i = 0; i < 10; ++i)
    round();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (descriptors() > before) { // connections that are not kept close a little later
    REQUIRE_MESSAGE(std::chrono::steady_clock::now() < deadline,
                    descriptors() << " descriptors, and " << before << " before");
    peer.request("ping");
  }
  CHECK(hub.machines() == 0);
  CHECK(tests::docker({"ps", "-aq", "--filter", "label=ahpd.host=" + hub.host_id()}).empty());
}
