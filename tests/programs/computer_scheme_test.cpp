// The scheme computer: of the real hub, with machines on a real Docker Engine.

#include "protocol/ahp/uris.hpp"
#include "tests/programs/computer_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include <unistd.h>

using namespace ahpd;

namespace {

bool lists(tests::ahp_peer& peer, const std::string& name) {
  const auto result = peer.request("resourceList", {{"uri", "computer://"}});
  const auto& entries = result.at("entries").as_array();
  return std::any_of(entries.begin(), entries.end(), [&](const json::value& entry) {
    return entry == json::value{{"name", name}, {"type", "directory"}};
  });
}

std::string uri(const std::string& name, const std::string& leaf = {}) {
  return "computer://" + name + (leaf.empty() ? "" : "/" + leaf);
}

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

} // namespace

TEST_CASE("a machine is made, listed, resolved and destroyed by its name") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  auto peer = hub.peer();
  peer.initialize();
  CHECK(peer.request("resourceList", {{"uri", "computer://"}}).at("entries").as_array().empty());

  const auto name =
    tests::make_machine(peer, "box", {{"cpus", "0.5"}, {"memory", "96m"}, {"workdir", "/var/tmp"}});
  CHECK(lists(peer, name));
  CHECK(hub.machines() == 1);

  const auto record = tests::inspect(name);
  const auto& config = record.at("Config");
  CHECK(config.at("Image") == "debian:bookworm-slim");
  CHECK(config.at("WorkingDir") == "/var/tmp");
  CHECK(record.at("HostConfig").at("NanoCpus") == 500'000'000);
  CHECK(record.at("HostConfig").at("Memory") == 96 << 20);
  CHECK(config.at("Labels").as_object() == json::object{{"ahpd.computer", "1"},
                                                        {"ahpd.host", hub.host_id()},
                                                        {"ahpd.owner", "root:" + host_name()}});

  {
    INFO("a write that names a taken machine is refused with and without createOnly");
    auto again = tests::write_params(uri(name), "{}");
    const auto words =
      "-32010 " + name + " is already a computer; destroy it or choose another name";
    CHECK(tests::refused(peer, "resourceWrite", again) == words);
    again["createOnly"] = true;
    CHECK(tests::refused(peer, "resourceWrite", again) == words);
    CHECK(tests::refused(peer, "x-ahpd/computers/create",
                         {{"name", name}, {"manifest", json::object{}}}) == words);
  }
  {
    INFO("a machine's folder holds its four leaves");
    CHECK(peer.request("resourceList", {{"uri", uri(name)}}) ==
          json::parse(R"({"entries": [{"name": "status", "type": "file"},
                                      {"name": "capabilities", "type": "file"},
                                      {"name": "stats", "type": "file"},
                                      {"name": "state", "type": "file"}]})"));
  }
  {
    INFO("resolve tells kinds, times and sizes");
    const auto root = peer.request("resourceResolve", {{"uri", "computer://"}});
    CHECK(root.at("type") == "directory");
    CHECK(root.at("mtime") == "1970-01-01T00:00:00.000Z");
    const auto machine = peer.request("resourceResolve", {{"uri", uri(name)}});
    CHECK(machine.at("type") == "directory");
    CHECK(machine.at("ctime") == record.at("Created"));
    const auto leaf = peer.request("resourceResolve", {{"uri", uri(name, "status")}});
    CHECK(leaf.at("uri") == json::value(uri(name, "status")));
    CHECK(leaf.at("type") == "file");
    CHECK(leaf.at("mtime") == record.at("Created"));
    CHECK(leaf.at("size") == tests::read_text(peer, uri(name, "status")).size());
  }
  {
    INFO("leaves are read as text that ends with a newline");
    const auto state = peer.request("resourceRead", {{"uri", uri(name, "state")}});
    CHECK(state ==
          json::value{{"data", "running\n"}, {"encoding", "utf-8"}, {"contentType", "text/plain"}});
    for (const char* leaf : {"status", "capabilities", "stats"}) {
      const auto read = peer.request("resourceRead", {{"uri", uri(name, leaf)}});
      CHECK(read.at("contentType") == "application/json");
      const std::string text(read.at("data").as_string());
      CHECK(text.rfind("{\n  \"", 0) == 0);
      CHECK(text.substr(text.size() - 3) == "\n}\n");
    }
    CHECK(json::parse(tests::read_text(peer, uri(name, "status"))).at("Id") == record.at("Id"));
    const auto stats = json::parse(tests::read_text(peer, uri(name, "stats")));
    CHECK(stats.at("running") == true);
    CHECK(stats.at("cpu").at("cores") == 0.5);
    CHECK(stats.at("memory").at("limit") == 96 << 20);
    CHECK(stats.at("pids").as_int64() >= 1);
    const auto bytes =
      peer.request("resourceRead", {{"uri", uri(name, "state")}, {"encoding", "base64"}});
    CHECK(bytes.at("encoding") == "base64");
    CHECK(ahp::base64_decode(bytes.at("data").as_string()) == "running\n");
  }
  {
    INFO("capabilities name what Docker serves");
    const auto can = json::parse(tests::read_text(peer, uri(name, "capabilities")));
    CHECK(can.at("runtime") == "docker");
    CHECK(can.at("actions") == json::array{"create", "start", "stop", "restart", "exec", "delete"});
    CHECK(can.at("resources") == json::array{"state", "stats", "status", "capabilities"});
    CHECK(can.at("manifest").at("properties").at("image").at("default") == "debian:bookworm-slim");
  }

  CHECK(peer.request("resourceDelete", {{"uri", uri(name)}}) == json::object{});
  CHECK_FALSE(lists(peer, name));
  CHECK(hub.machines() == 0);
  const auto absent = "-32008 No computer resource at " + uri(name, "state");
  CHECK(tests::refused(peer, "resourceRead", {{"uri", uri(name, "state")}}) == absent);
}

TEST_CASE("a machine's state is written as a word, and a stopped one can be restarted") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  auto peer = hub.peer();
  peer.initialize();
  // The body is base64 of {"cpus": 1}: numbers are taken as well as texts.
  const auto name = tests::unique_name("state");
  auto make = tests::write_params(uri(name), ahp::base64_encode(R"({"cpus": 1})"));
  make["encoding"] = "base64";
  CHECK(peer.request("resourceWrite", make) == json::object{});
  CHECK(tests::inspect(name).at("HostConfig").at("NanoCpus") == 1'000'000'000);

  const auto write = [&](const std::string& word) {
    CHECK(peer.request("resourceWrite", tests::write_params(uri(name, "state"), word)) ==
          json::object{});
  };
  const auto running = [&] { return tests::inspect(name).at("State").at("Running").as_bool(); };
  const auto started = [&] { return tests::inspect(name).at("State").at("StartedAt"); };
  write(" Stopped\n");
  CHECK_FALSE(running());
  CHECK(tests::read_text(peer, uri(name, "state")) == "stopped\n");
  CHECK(json::parse(tests::read_text(peer, uri(name, "stats"))) == json::value{{"running", false}});
  CHECK(json::parse(tests::read_text(peer, uri(name, "status"))).at("State").at("Status") ==
        "exited");
  write("stopped"); // it is so already
  write("restarted");
  CHECK(running());
  const auto first = started();
  write("restarted");
  CHECK(started() != first);
  write("stopped");
  write("running");
  write("running");
  CHECK(tests::read_text(peer, uri(name, "state")) == "running\n");

  const auto refusal = [&](const std::string& body) {
    return tests::refused(peer, "resourceWrite", tests::write_params(uri(name, "state"), body));
  };
  const std::string words = "-32602 A computer's state is one of running, stopped, restarted, and "
                            "that body says ";
  CHECK(refusal("Paused") == words + "paused");
  CHECK(refusal(" \n") == words + "nothing");
  CHECK(refusal("suspended") ==
        "-32602 " + name +
          " is a Docker container, which is running or stopped and cannot be suspended");
  CHECK(running());
}

TEST_CASE("what is no machine of this host is refused in words, and nothing happens to it") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  auto peer = hub.peer();
  peer.initialize();
  const auto mark = "ahpd.test=" + tests::unique_name("foreign");
  const tests::label_guard guard(mark);
  const auto foreign = tests::unique_name("foreign");
  const auto plain = tests::unique_name("plain");
  for (const auto& [name, label] : {std::pair(foreign, std::string("ahpd.computer=1")),
                                    std::pair(plain, std::string("other=1"))})
    tests::docker({"run", "-d", "--init", "--name", name, "--label", mark, "--label", label,
                   "--label", "ahpd.host=another", "debian:bookworm-slim", "sleep", "infinity"});
  const auto absent = tests::unique_name("absent");

  for (const auto& name : {foreign, plain, absent}) {
    CAPTURE(name);
    CHECK_FALSE(lists(peer, name));
    for (const char* leaf : {"state", "status", "stats", "capabilities"})
      CHECK(tests::refused(peer, "resourceRead", {{"uri", uri(name, leaf)}}) ==
            "-32008 No computer resource at " + uri(name, leaf));
    CHECK(tests::refused(peer, "resourceList", {{"uri", uri(name)}}) ==
          "-32008 No computer resource at " + uri(name));
    CHECK(tests::refused(peer, "resourceResolve", {{"uri", uri(name)}}) ==
          "-32008 No computer resource at " + uri(name));
    const auto words = "-32008 There is no computer called " + name + " on this host";
    for (const char* word : {"running", "stopped", "restarted", "suspended"})
      CHECK(tests::refused(peer, "resourceWrite", tests::write_params(uri(name, "state"), word)) ==
            words);
    for (const char* verb : {"start", "stop", "restart", "remove"})
      CHECK(tests::refused(peer, std::string("x-ahpd/computers/") + verb, {{"name", name}}) ==
            words);
    CHECK(tests::refused(peer, "resourceDelete", {{"uri", uri(name)}}) == words);
  }
  for (const auto& name : {foreign, plain}) {
    CHECK(tests::inspect(name).at("State").at("Running") == true);
    CHECK(tests::refused(peer, "resourceWrite", tests::write_params(uri(name), "{}")) ==
          "-32010 " + name + " is the name of a container this host did not make; choose another");
  }
}

TEST_CASE("every wrong target is refused in words") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  auto peer = hub.peer();
  peer.initialize();
  const auto name = tests::make_machine(peer, "box");
  const auto write = [&](const std::string& to) {
    return tests::refused(peer, "resourceWrite", tests::write_params(to, "{}"));
  };
  const auto read = [&](const std::string& from) {
    return tests::refused(peer, "resourceRead", {{"uri", from}});
  };
  const auto remove = [&](const std::string& what) {
    return tests::refused(peer, "resourceDelete", {{"uri", what}});
  };
  CHECK(write("computer://") ==
        "-32602 computer:// is not a name for a new computer; write to computer://<name>");
  for (const char* leaf : {"status", "capabilities", "stats", "other", "state/x"})
    CHECK(write(uri(name, leaf)) ==
          "-32602 " + uri(name, leaf) +
            " is not something to write; write to computer://<name> or computer://<name>/state");
  CHECK(write("computer:box") == "-32009 computer:box is not a computer: URI");
  CHECK(read(uri(name)) ==
        "-32008 " + uri(name) + " is a directory; read " + uri(name) + "/status");
  CHECK(read(uri(name, "server")) == "-32008 No computer resource at " + uri(name, "server"));
  CHECK(read("computer:box") == "-32009 computer:box is not a computer: URI");
  CHECK(tests::refused(peer, "resourceList", {{"uri", uri(name, "state")}}) ==
        "-32008 No computer resource at " + uri(name, "state"));
  for (const std::string& target : {uri(name, "state"), std::string("computer://")})
    CHECK(remove(target) ==
          "-32602 " + target + " is not a computer to destroy; delete computer://<name>");
  CHECK(write("computer://other.box/state") == "-32602 A computer's state is one of running, "
                                               "stopped, restarted, and that body says {}");
  CHECK(tests::refused(peer, "resourceWrite",
                       tests::write_params("computer://other.box/state", "running")) ==
        "-32602 other.box names a machine on the other runtime, and this host serves docker");
  CHECK(remove("computer://other.box") ==
        "-32602 other.box names a machine on the other runtime, and this host serves docker");
  CHECK(read("computer://other.box/state") ==
        "-32008 No computer resource at computer://other.box/state");

  CHECK(read("bucket://x/y") == "-32601 nothing here serves bucket:");
  CHECK(write("bucket://x") == "-32601 nothing here serves bucket:");
  CHECK(read("no scheme") == "-32602 uri must be a URI with a scheme");
  auto not_base64 = tests::write_params(uri("never"), "!");
  not_base64["encoding"] = "base64";
  CHECK(tests::refused(peer, "resourceWrite", not_base64) ==
        "-32602 data must be base64, as encoding says");
  CHECK(
    tests::refused(peer, "resourceMove", {{"source", uri(name)}, {"destination", "file:///x"}}) ==
    "-32602 " + uri(name) + " and file:///x are served by different providers");
  CHECK(tests::read_text(peer, uri(name, "state")) == "running\n");
  CHECK(hub.machines() == 1);
}

TEST_CASE("with the plugin not loaded nothing serves computer:") {
  tests::hub_options how;
  how.config = R"({"plugins": []})";
  tests::hub_process hub(how);
  tests::ahp_peer peer(hub.url());
  const auto meta = peer.initialize().at("_meta");
  CHECK_FALSE(json::member(meta, "ahpd.resourceProviders"));
  CHECK_FALSE(json::member(meta.at("ahpd.grants"), "computer"));
  const std::string words = "-32601 nothing here serves computer:";
  for (const char* method : {"resourceRead", "resourceList", "resourceResolve", "resourceDelete"})
    CHECK(tests::refused(peer, method, {{"uri", "computer://box"}}) == words);
  CHECK(tests::refused(peer, "resourceWrite", tests::write_params("computer://box", "{}")) ==
        words);
  CHECK(tests::refused(peer, "x-ahpd/computers/create",
                       {{"name", "box"}, {"manifest", json::object{}}}) == words);
  CHECK(tests::refused(
          peer, "createSession",
          {{"channel", "ahp-session:/one"}, {"config", {{"computer", "computer://box"}}}}) ==
        "-32602 There is no computer called box");
  CHECK(tests::refused(
          peer, "createSession",
          {{"channel", "ahp-session:/two"}, {"config", {{"computer", "devcontainer:///srv"}}}}) ==
        "-32602 This session asked to run in devcontainer:///srv, and this host has no computer "
        "plugin that makes a machine from it");
}

TEST_CASE("the handshake says what a client needs to make a machine") {
  tests::computer_hub hub;
  auto peer = hub.peer();
  const auto meta = peer.initialize().at("_meta");
  const auto& computer = meta.at("ahpd.resourceProviders").at("computer");
  CHECK(computer.at("title") == "Computer");
  CHECK(computer.at("description") == "A machine a session can run in.");
  CHECK(computer.at("root") == "computer://");
  CHECK(computer.at("operations") == json::array{"get", "list", "resolve", "put", "delete"});
  CHECK(computer.at("manifest").at("type") == "object");
  CHECK(computer.at("manifest").at("properties").at("image") ==
        json::value{{"type", "string"}, {"title", "Image"}, {"default", "debian:bookworm-slim"}});
  CHECK_FALSE(json::member(computer.at("manifest").at("properties"), "mounts"));
  const auto& grants = meta.at("ahpd.grants").at("computer");
  CHECK(grants.at("read") == json::array{"get", "list", "resolve"});
  CHECK(grants.at("write") == json::array{"put", "delete"});
  const auto root = peer.subscribe("ahp-root://");
  CHECK(root.at("_meta").at("ahpd.resourceProviders") == meta.at("ahpd.resourceProviders"));
}
