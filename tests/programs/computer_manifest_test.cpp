// What a manifest may ask the real hub for, and how each wrong field is refused.

#include "tests/programs/computer_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace ahpd;

namespace {

std::string refused_body(tests::ahp_peer& peer, const std::string& name, const std::string& body) {
  return tests::refused(peer, "resourceWrite", tests::write_params("computer://" + name, body));
}

} // namespace

TEST_CASE("each wrong field of a manifest is refused by its name, and nothing is made") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  auto peer = hub.peer();
  peer.initialize();
  const auto name = tests::unique_name("never");
  const std::string not_object = "A computer is made from a JSON object, and that body is not one";
  const std::pair<std::string, std::string> wrong[] = {
    {"[]", not_object},
    {"not json", not_object},
    {"\"text\"", not_object},
    {R"({"runtime": "podman"})", "This host runs docker, and that body asks for podman"},
    {R"({"runtime": 5})", "This host runs docker, and that body asks for 5"},
    {R"({"profile": "claude"})", "This host defines no profiles, and that body asks for claude"},
    {R"({"source": "vm"})", R"(source is "image" or "devcontainer", and that body says "vm")"},
    {R"({"source": "devcontainer"})",
     "source says a dev container, and that body names no folder to read a devcontainer.json from"},
    {R"({"image": "--privileged"})", "image is the name of an image, and --privileged is a flag"},
    {R"({"image": " "})", "image is the name of an image, and that body's is blank"},
    {R"({"image": 1})", "image is the name of an image, and 1 is not one"},
    {R"({"image": "a/../../images"})",
     "image is the name of an image, and a/../../images is not one"},
    {R"({"cpus": "two"})", "cpus is a number, and two is not one"},
    {R"({"cpus": -1})", "cpus is a number, and -1 is not one"},
    {R"({"memory": "lots"})", "memory is a size such as 512m or 2g, and lots is not one"},
    {R"({"memory": {}})", "memory is a size such as 512m or 2g, and {} is not one"},
    {R"({"mounts": ["/tmp:/x"]})",
     "This host takes its mounts from its configuration, and that body names its own"},
    {R"({"folder": "/tmp"})",
     "This host takes its folders from its configuration, and that body names its own"},
    {R"({"workdir": "here"})", "workdir is an absolute path in the machine, and here is not one"},
  };
  for (const auto& [body, words] : wrong) {
    CAPTURE(body);
    CHECK(refused_body(peer, name, body) == "-32602 " + words);
    std::string ignored;
    if (const auto manifest = json::parse_text(body, 8, ignored))
      CHECK(tests::refused(peer, "x-ahpd/computers/create",
                           {{"name", name}, {"manifest", *manifest}}) == "-32602 " + words);
  }
  CHECK(tests::refused(peer, "x-ahpd/computers/create", {{"name", name}}) ==
        "-32602 manifest must be an object");
  for (const char* bad : {"a", "-box", "box!", "b\u00f6x"})
    CHECK(refused_body(peer, bad, "{}") ==
          std::string("-32602 ") + bad +
            " is not a name for a machine: it takes 2 to 63 letters, digits, _ and -, and starts "
            "with a letter or a digit");
  CHECK(refused_body(peer, "other.box", "{}") ==
        "-32602 other.box is not a name for a machine on this host: a dot in it reads as another "
        "runtime's, and these machines are addressed by their name alone");
  CHECK(hub.machines() == 0);
  CHECK(hub.process().running());
}

TEST_CASE("without bodyMounts a folder is refused, with it folder and mounts are there inside") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub({{"bodyMounts", true}, {"cpus", "1"}, {"memory", "128m"}});
  auto peer = hub.peer();
  peer.initialize();
  const tests::scratch files;
  const auto folder = files.path() + "/app";
  const auto data = files.path() + "/data";
  for (const auto& path : {folder, data})
    std::filesystem::create_directories(path);
  std::ofstream(data + "/here") << "from the host\n";

  const auto name = tests::unique_name("wrong");
  const std::pair<std::string, std::string> wrong[] = {
    {R"({"folder": "app"})", "folder names app, which is not an absolute path on this host"},
    {R"({"folder": "/not/there"})", "folder names /not/there, and that path is not there"},
    {R"({"mounts": ["/tmp"]})",
     R"(mounts are "source:target" or "source:target:ro", and /tmp is neither)"},
    {R"({"mounts": ["tmp:/x"]})",
     "the body's mount tmp:/x names tmp, which is not an absolute path on this host"},
    {R"({"mounts": ["/not/there:/x"]})",
     "the body's mount /not/there:/x names /not/there, and that path is not there"},
    {R"({"mounts": ["/tmp:/x", "/usr:/x/"]})",
     "the body's mount /tmp:/x and the body's mount /usr:/x/ both land at /x"},
  };
  for (const auto& [body, words] : wrong) {
    CAPTURE(body);
    CHECK(refused_body(peer, name, body) == "-32602 " + words);
  }

  const auto made = tests::make_machine(
    peer, "mounts", {{"folder", folder}, {"mounts", json::array{data + ":/data:ro"}}});
  const auto record = tests::inspect(made);
  CHECK(record.at("Config").at("WorkingDir") == json::value(folder));
  CHECK(record.at("HostConfig").at("NanoCpus") == 1'000'000'000); // the operator's own
  CHECK(record.at("HostConfig").at("Memory") == 128 << 20);
  const auto in = tests::begin_session(peer, {{"computer", "computer://" + made}});
  const auto turn =
    tests::run_turn(peer, in, "cat /data/here; echo inside > made; touch /data/no; pwd");
  CHECK(turn.out == "from the host\n" + folder + "\n");
  CHECK(turn.err.find("Read-only file system") != std::string::npos);
  CHECK(tests::read_file(folder + "/made") == "inside\n");
  const auto schema = json::parse(tests::read_text(peer, "computer://" + made + "/capabilities"));
  CHECK(json::member(schema.at("manifest").at("properties"), "mounts"));
  CHECK(json::member(schema.at("manifest").at("properties"), "folder"));
}

TEST_CASE("an image outside the operator's list is refused, and the default is always taken") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub({{"images", json::array{"ghcr.io/acme"}}});
  auto peer = hub.peer();
  peer.initialize();
  CHECK(refused_body(peer, tests::unique_name("never"), R"({"image": "debian:trixie"})") ==
        "-32602 This host does not run debian:trixie; it runs debian:bookworm-slim, ghcr.io/acme");
  tests::make_machine(peer, "default", {{"image", "docker.io/library/debian:bookworm-slim"}});
  CHECK(hub.machines() == 1);
}

TEST_CASE("an image that cannot be pulled is refused in the engine's words, and nothing is left") {
  if (!tests::engine_answers())
    return tests::skip("a Docker Engine");
  tests::computer_hub hub;
  auto peer = hub.peer();
  peer.initialize();
  const auto name = tests::unique_name("absent");
  // Nobody listens on that port, so the engine's own words are about the connection.
  const auto said = refused_body(peer, name, R"({"image": "localhost:1/nobody/nothing:1"})");
  CHECK(said.rfind("-32603 The image localhost:1/nobody/nothing:1 could not be pulled: ", 0) == 0);
  CHECK(said.find("connection refused") != std::string::npos);
  CHECK(hub.machines() == 0);
  // The next make goes on, on the same name.
  auto again = tests::write_params("computer://" + name, "{}");
  CHECK(peer.request("resourceWrite", again) == json::object{});
}
